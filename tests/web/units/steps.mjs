// Writes for each record on standard input, one a line, the steps of its replay.

import { text } from "node:stream/consumers";

import { read } from "../../../service/web/static/js/verifier/record.js";
import { stepsOf } from "../../../service/web/static/js/verifier/steps.js";

for (const line of (await text(process.stdin)).split("\n").filter(Boolean)) {
  console.log(JSON.stringify(stepsOf(read(new TextEncoder().encode(line)))));
}
