// Writes for each record on standard input, one a line, what its replay shows: the state at each frame, in short.

import { text } from "node:stream/consumers";

import { Story } from "../../../service/web/static/js/table/story.js";
import { read } from "../../../service/web/static/js/verifier/record.js";

for (const line of (await text(process.stdin)).split("\n").filter(Boolean)) {
  const story = new Story(read(new TextEncoder().encode(line)));
  const frames = story.frames.map(({ deal, at, state }) => ({ deal, at, state }));
  console.log(JSON.stringify({ fault: story.fault, frames, troubles: story.troubles }));
}
