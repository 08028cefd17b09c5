// Sentences about tournaments, in the same words as the command line's.

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
];

const thousands = (number) => number.toLocaleString("en");

/** Say how many, such as `1 game` and `2,000 games`. */
export function counted(number, what) {
  return `${thousands(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** Say how long, in one unit or two, such as `2 hours 5 minutes`. */
export function duration(seconds) {
  for (let at = 0; at < UNITS.length - 1; at++) {
    const [[size, unit], [smaller, part]] = [UNITS[at], UNITS[at + 1]];
    if (seconds < size) continue;
    const parts = Math.round(seconds / smaller);
    const rest = parts % (size / smaller);
    return counted(Math.floor(parts / (size / smaller)), unit) + (rest ? ` ${counted(rest, part)}` : "");
  }
  return counted(seconds, "second");
}

/** Say how far a tournament is: open with its entries, or so many games of so many. */
export function progress({ state, entries, progress: at }) {
  if (state === "open") return `open: ${entries === 1 ? "1 entry" : `${thousands(entries)} entries`}`;
  const games =
    at.planned === null ? counted(at.finished, "game") : `${thousands(at.finished)} of ${thousands(at.planned)} games`;
  const parts = [`${state}: ${games}`];
  if (at.running) parts.push(`${at.running} running`);
  if (at.seconds_left) parts.push(`about ${duration(at.seconds_left)} left`);
  return parts.join(", ");
}

/** Say what a tournament would come to, or why it can't start. */
export function plan(shown) {
  if (!shown.can_start) return `it can't start: ${shown.why_not}`;
  const each = (Math.round(shown.games_per_entry * 10) / 10).toLocaleString("en");
  return (
    `it would be ${counted(shown.games, "game")} on ${counted(shown.boards, "board")} in ${counted(shown.rounds, "round")}, ` +
    `about ${each} for each entry: about ${counted(shown.decisions, "decision")}, about ${duration(shown.seconds)}`
  );
}
