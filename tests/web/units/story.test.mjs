import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { addressed, addressOf, Story } from "../../../service/web/static/js/table/story.js";

const golden = new URL("../../bot_sdk/golden/seven_up-target-3.json", import.meta.url);
const { record } = JSON.parse(await readFile(golden, "utf8"));
const story = new Story(record);

test("each frame is found by its address", () => {
  assert.ok(story.frames.length > 10);
  for (const [number, frame] of story.frames.entries()) assert.equal(addressed(story, addressOf(frame)), number);
});

test("an address without a deal names no frame, one of nothing there none that can be shown", () => {
  assert.equal(addressed(story, ""), null);
  assert.equal(addressed(story, "?event=3"), null);
  for (const wrong of ["?deal=99", "?deal=0&event=99", "?deal=-1", "?deal=0&event=", "?deal=x", "?deal=0&event=1e0"]) {
    assert.equal(addressed(story, wrong), -1, wrong);
  }
});

test("the frames of a deal begin with its dealing", () => {
  for (const dealing of story.dealings) {
    const { deal } = story.frames[dealing];
    assert.equal(story.of(deal)[0], dealing);
    assert.equal(story.of(deal).length, record.deals[deal].events.length + 1);
  }
});
