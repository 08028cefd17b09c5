// What is chosen in the form at /play, as the API takes it.

/** Who sits there, by what was chosen: "house greedy", "bot bot_…" or "open". */
export function seatOf(chosen) {
  const [kind, which] = chosen.split(" ");
  if (kind === "house") return { kind, name: which };
  return kind === "bot" ? { kind, bot_id: which } : { kind };
}

/**
 * The body of POST /v1/games; whoever orders sits in the first seat.
 * @param {{ruleset: string, name: string, budgetMs: number, opponents: string[], options: [string, string][]}} chosen
 *   the options as [name, value in JSON]
 */
export function orderOf({ ruleset, name, budgetMs, opponents, options }) {
  return {
    ruleset,
    options: Object.fromEntries(options.map(([key, value]) => [key, parsed(value)])),
    seats: [{ kind: "human", name }, ...opponents.map(seatOf)],
    human_budget_ms: budgetMs,
  };
}

/** The id of the field that an error of the API is about, by the error's dotted path; null if there is none. */
export function fieldOf(path, ruleset) {
  const [what, which] = path.split(".");
  if (what === "seats" && which === "0") return "player";
  if (what === "seats") return which ? `${ruleset}-seat-${which}` : `${ruleset}-seats`;
  if (what === "options" && which) return `${ruleset}-${which}`;
  return { human_budget_ms: "budget" }[what] ?? null;
}

/** A value as it stands in a field; what is no JSON, such as an empty number, stays for the arena to refuse. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
