// What its host can do with a tournament, by its state.

const CANCEL = {
  key: "cancel",
  label: "Cancel",
  to: "cancelled",
  ask: ["Call the tournament off for good? Results so far stay.", "Call it off", "Keep it"],
};
const FINISH = {
  key: "finish",
  label: "Finish",
  to: "finished",
  ask: ["Draw no more games? The ladder finishes with those it has.", "Finish it", "Let it go on"],
};
const START = { key: "start", label: "Start", to: "running", first: true };
const PAUSE = { key: "pause", label: "Pause", to: "paused" };
const RESUME = { key: "resume", label: "Resume", to: "running", first: true };

/** Give what can be done now, in order: `{key, label, to, first, ask, isOff}`. */
export function steps(tournament, plan) {
  const finish = tournament.format === "ladder" ? [FINISH] : [];
  switch (tournament.state) {
    case "open":
      return [{ ...START, isOff: !plan?.can_start }, CANCEL];
    case "running":
      return [PAUSE, ...finish, CANCEL];
    case "paused":
      return [RESUME, ...finish, CANCEL];
    default:
      return [];
  }
}
