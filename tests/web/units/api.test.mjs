import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { ApiError, api } from "../../../service/web/static/js/api.js";

const asked = [];
let answers = [];
let server;
let base;

before(async () => {
  server = createServer((request, response) => {
    asked.push({ method: request.method, headers: request.headers });
    const { status, headers = {}, body, breaksOff = false } = answers.shift();
    response.writeHead(status, headers);
    if (breaksOff) response.write(body, () => response.destroy());
    else response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${server.address().port}`;
});

after(() => server.close());

test("a POST that finds the arena away is sent again under the same key", async () => {
  asked.length = 0;
  answers = [
    { status: 503, headers: { "Retry-After": "0.01" }, body: "{}" },
    { status: 201, headers: { "Content-Type": "application/json" }, body: '{"id":"gam_1"}' },
  ];
  assert.deepEqual(await api.post(`${base}/v1/games`, {}, { token: "t" }), { id: "gam_1" });
  assert.equal(asked.length, 2);
  assert.equal(asked[0].headers["idempotency-key"], asked[1].headers["idempotency-key"]);
  assert.equal(asked[0].headers.authorization, "Bearer t");
});

test("a refusal says status, code and fields", async () => {
  answers = [{ status: 422, body: '{"code":"invalid","detail":"name: too long","errors":{"name":["too long"]}}' }];
  await assert.rejects(api.get(`${base}/x`), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.code, error.message], [422, "invalid", "name: too long"]);
    assert.deepEqual(error.errors, { name: ["too long"] });
    return true;
  });
});

test("an answer without JSON is an error all the same", async () => {
  answers = [{ status: 404, body: "<html>" }];
  await assert.rejects(api.get(`${base}/x`), { status: 404, code: "unknown" });
});

test("an answer that breaks off amid its body is asked for again", async () => {
  asked.length = 0;
  answers = [
    { status: 201, headers: { "Content-Length": "14" }, body: '{"id":"ga', breaksOff: true },
    { status: 201, body: '{"id":"gam_1"}' },
  ];
  assert.deepEqual(await api.post(`${base}/v1/games`, {}), { id: "gam_1" });
  assert.equal(asked[0].headers["idempotency-key"], asked[1].headers["idempotency-key"]);
});

test("a success that can't be read is an error", async () => {
  answers = [{ status: 200, body: "<html>a proxy's own page</html>" }];
  await assert.rejects(api.get(`${base}/x`), { status: 200, code: "unreadable" });
});

test("what can't be a token is refused as one, and not sent", async () => {
  asked.length = 0;
  await assert.rejects(api.get(`${base}/x`, { token: "slt_abc\u2026" }), { status: 401, code: "unauthorized" });
  assert.equal(asked.length, 0);
});

test("what may go well later is told from what won't", () => {
  const isPassing = (status, code) => new ApiError(status, { code }).isPassing;
  for (const status of [0, 429, 500, 503]) assert.equal(isPassing(status), true, `${status}`);
  assert.equal(isPassing(409, "in_flight"), true); // the request before is still being answered
  for (const status of [400, 401, 403, 404, 409, 422]) assert.equal(isPassing(status), false, `${status}`);
});
