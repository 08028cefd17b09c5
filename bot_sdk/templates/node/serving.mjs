// The bot contract of Slagveld over HTTP, with Node's standard library only: signatures, batches, the challenge, the
// card, connections that are kept. What the bot chooses isn't its business.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const MAX_BYTES = 4 * 1024 * 1024; // more than 64 decisions ever take
const WINDOW_S = 300; // a message that was signed longer ago may be one that somebody sends again
const SPENT = 0.9; // the share of a batch's budget after which what there is is sent: a late reply loses all of it
const MAX_NOTE = 166; // characters, which are 500 bytes at most

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Make the server of a bot: its card, its functions by ruleset and phase, its secret ('' to answer everybody). */
export function botServer(card, choose, secret) {
  const key = secret ? keyOf(secret) : null;
  const bot = { card, choose, key };
  // Answers leave in one piece and at once; connections are kept for longer than the arena pauses between decisions.
  const options = { noDelay: true, keepAliveTimeout: 75_000 };
  const server = createServer(options, (request, response) => handle(bot, request, response, server));
  return server;
}

function keyOf(secret) {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.alloc(0);
  if (key.length < 24 || key.length > 64) {
    throw new Error('expected a secret of whsec_ and the base64 of 24 to 64 bytes, got another');
  }
  return key;
}

async function handle(bot, request, response, server) {
  let status = 200;
  let reply;
  try {
    reply = await answer(bot, request);
  } catch (error) {
    if (request.destroyed && !request.complete) return; // the caller has gone
    if (!(error instanceof Refused)) console.error(error);
    status = error instanceof Refused ? error.status : 500;
    reply = { error: status === 500 ? 'the bot failed to answer, see its log' : error.message };
  }
  const body = Buffer.from(JSON.stringify(reply));
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  if (status === 405) headers.Allow = 'GET, POST';
  if (!request.complete || !server.listening) headers.Connection = 'close'; // a body that nobody reads, or the end
  response.writeHead(status, headers).end(body);
}

async function answer(bot, request) {
  if (request.method === 'GET') return bot.card;
  if (request.method !== 'POST') throw new Refused(405, `expected GET or POST, got ${request.method}`);
  const body = await read(request);
  if (bot.key) verify(bot.key, request.headers, body, Date.now() / 1000);
  return replyTo(bot, parse(body));
}

async function read(request) {
  const length = request.headers['content-length'];
  if (length === undefined) throw new Refused(411, 'expected a Content-Length');
  if (Number(length) > MAX_BYTES) throw new Refused(413, `expected at most ${MAX_BYTES} bytes`);
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

/** Refuse what isn't signed with the key (Standard Webhooks), and what was signed too long ago. */
function verify(key, headers, body, now) {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    if (!headers[name]) throw new Refused(401, `expected a header ${name}`);
  }
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!/^\d{1,11}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > WINDOW_S) {
    throw new Refused(401, `expected a webhook-timestamp within ${WINDOW_S} s of now, check the clock`);
  }
  const made = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const fits = signatures
    .split(' ')
    .filter((sent) => sent.startsWith('v1,'))
    .map((sent) => Buffer.from(sent.slice('v1,'.length), 'base64'))
    .filter((sent) => sent.length === made.length && timingSafeEqual(sent, made));
  if (fits.length === 0) throw new Refused(401, "no signature fits: expected one made with this bot's secret");
}

function parse(body) {
  let message;
  try {
    message = JSON.parse(body);
  } catch (error) {
    throw new Refused(400, `expected a message of the bot contract: ${error.message}`);
  }
  if (typeof message?.type !== 'string') throw new Refused(400, 'expected a message of the bot contract: it has no type');
  return message;
}

function replyTo(bot, message) {
  switch (message.type) {
    case 'decision':
      return decide(bot, message);
    case 'decisions':
      return decideAll(bot, message);
    case 'challenge':
      return prove(bot.key, message);
    default:
      return {}; // game_started, game_ended, and what later versions may tell
  }
}

async function decide({ choose }, decision) {
  const { game, phase, legal_actions, decision_id } = decision;
  const chooseAction = choose[game.ruleset]?.[phase];
  if (!chooseAction) throw new TypeError(`expected a function for ${game.ruleset} ${phase}, got none`);
  const chosen = await chooseAction(decision);
  const [action, note] = Array.isArray(chosen) ? chosen : [chosen];
  if (typeof action !== 'string') throw new TypeError(`expected an action such as ${legal_actions[0]}, got ${action}`);
  if (!legal_actions.includes(action)) console.error(`${decision_id}: expected one of ${legal_actions}, got ${action}`);
  return { decision_id, action, note: note?.slice(0, MAX_NOTE).toWellFormed() };
}

/** Answer a batch: a decision whose function fails is left out, and so are those that there is no time for. */
async function decideAll(bot, { budget_ms, decisions }) {
  const until = performance.now() + SPENT * budget_ms;
  const actions = [];
  for (const decision of decisions) {
    if (performance.now() > until) break;
    try {
      actions.push(await decide(bot, decision));
    } catch (error) {
      console.error(error);
    }
  }
  return { actions };
}

function prove(key, { challenge, bot_id }) {
  if (!key) throw new Refused(503, 'the bot holds no secret, set SLAGVELD_BOT_SECRET');
  return { challenge, proof: createHmac('sha256', key).update(`${bot_id}.${challenge}`).digest('hex') };
}
