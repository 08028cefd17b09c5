// Folds games given as JSON Lines, {begin, steps: [[event, …], …]}, and answers with the states after each step.

import { createInterface } from "node:readline";

import { apply, begin } from "../../../service/web/static/js/table/state.js";

for await (const line of createInterface({ input: process.stdin })) {
  const game = JSON.parse(line);
  let state = begin(game.begin);
  const states = game.steps.map((events) => {
    for (const event of events) {
      state = apply(state, event);
      if (event.id !== undefined && apply(state, event) !== state) throw new Error(`${event.id} counted twice`);
    }
    return state;
  });
  console.log(JSON.stringify(states));
}
