import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";

import { Sender } from "../../../service/web/static/js/sender.js";

const keys = [];
let statuses = [];
let server;
let path;

before(async () => {
  server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    response.writeHead(statuses.shift() ?? 201).end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  path = `http://127.0.0.1:${server.address().port}/v1/tournaments`;
});

beforeEach(() => {
  keys.length = 0;
});

after(() => server.close());

test("what may have been made already is sent again under its key", async () => {
  const sender = new Sender();
  statuses = [500];
  await assert.rejects(sender.post(path, { name: "a" }), { status: 500 });
  await sender.post(path, { name: "a" });
  assert.equal(keys[0], keys[1]);
});

test("another body, and the same once more after a success, are things of their own", async () => {
  const sender = new Sender();
  for (const name of ["a", "b", "b"]) await sender.post(path, { name });
  assert.equal(new Set(keys).size, 3);
});

test("a sender that is at something does nothing else", async () => {
  const sender = new Sender();
  let end;
  const first = sender.once(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  assert.equal(await sender.once(() => assert.fail("done twice")), undefined);
  end("first");
  assert.equal(await first, "first");
  assert.equal(await sender.once(async () => "second"), "second");
});
