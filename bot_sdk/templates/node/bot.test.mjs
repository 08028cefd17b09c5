// `node --test`: the bot answers every phase legally, and its server keeps the contract.

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { card, choose } from './bot.mjs';
import { botServer } from './serving.mjs';

const observed = {
  river: { hand: ['8D', '6H', 'TH'], trump: 'H', bids: [1, 2, 1, 0], tricks_won: [0, 0, 0, 0], trick: null, tricks: [] },
  seven_up: { hand: ['QC', '9D', 'KD', '3S'], upcards: ['8S'], trump: 'S', totals: [0, 0], trick: null, tricks: [] },
};
const legal = {
  river: { bid: ['bid:0', 'bid:2', 'bid:3'], play: ['play:6H', 'play:TH'] },
  seven_up: { beg: ['stand', 'beg'], gift: ['run', 'give'], discard: ['discard:QC', 'discard:9D'], play: ['play:3S'] },
};

function decisionOf(ruleset, phase, number = 0) {
  const game = { id: 'gam_1', ruleset, options: {}, seats: ['ann', card.name, 'carl', 'dora'] };
  const owed = { seat: 1, phase, observation: observed[ruleset], legal_actions: legal[ruleset][phase] };
  return { type: 'decision', api: 1, decision_id: `gam_1.1.${number}`, budget_ms: 1000, last: null, game, ...owed };
}

const key = randomBytes(32);
const server = botServer(card, choose, `whsec_${key.toString('base64')}`);
let url;

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

async function ask(message, { by = key, at = Date.now() / 1000 } = {}) {
  const [body, id, timestamp] = [JSON.stringify(message), 'msg_1', Math.floor(at)];
  const signature = createHmac('sha256', by ?? key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  const answered = await fetch(url, { method: 'POST', body, headers: by ? signed : {} });
  return { status: answered.status, body: await answered.json() };
}

for (const ruleset of card.rulesets) {
  for (const phase of Object.keys(legal[ruleset])) {
    test(`${ruleset} ${phase} is answered with a legal action`, async () => {
      const { status, body } = await ask(decisionOf(ruleset, phase));
      assert.equal(status, 200);
      assert.equal(body.decision_id, 'gam_1.1.0');
      assert.ok(legal[ruleset][phase].includes(body.action), body.action);
    });
  }
}

test('the card can be read by everybody', async () => {
  assert.deepEqual(await (await fetch(url)).json(), card);
});

test('a batch is answered without those that fail', async () => {
  const unknown = { ...decisionOf('river', 'bid', 1), phase: 'nap' };
  const decisions = [decisionOf('river', 'bid', 0), unknown, decisionOf('river', 'play', 2)];
  const { body } = await ask({ type: 'decisions', api: 1, budget_ms: 1000, decisions });
  const answered = body.actions.map((item) => item.decision_id);
  assert.deepEqual(answered, ['gam_1.1.0', 'gam_1.1.2']);
});

test('a challenge is answered with its proof', async () => {
  const { body } = await ask({ type: 'challenge', api: 1, bot_id: 'bot_1', challenge: 'c1' });
  assert.deepEqual(body, { challenge: 'c1', proof: createHmac('sha256', key).update('bot_1.c1').digest('hex') });
});

test('what is unsigned, forged, old or from the future is refused', async () => {
  const now = Date.now() / 1000;
  for (const how of [{ by: null }, { by: randomBytes(32) }, { at: now - 400 }, { at: now + 400 }]) {
    assert.equal((await ask(decisionOf('river', 'bid'), how)).status, 401);
  }
});

test('news is taken', async () => {
  assert.equal((await ask({ type: 'game_started', api: 1, seat: 1 })).status, 200);
});
