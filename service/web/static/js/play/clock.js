// The arena's clock as seen from here: deadlines are told by it, and the clocks of people's machines are often wrong.

const SECONDS = 5; // whoever plays waits for it

/** How many ms this machine's clock is ahead of the arena's, to a second or so; 0 if that can't be found out. */
export async function clockAhead() {
  try {
    const asked = Date.now();
    const answer = await fetch("/health/live", {
      method: "HEAD",
      cache: "no-store",
      signal: AbortSignal.timeout(SECONDS * 1000),
    });
    const told = Date.parse(answer.headers.get("Date"));
    return Number.isNaN(told) ? 0 : (asked + Date.now()) / 2 - (told + 500);
  } catch {
    return 0;
  }
}
