// Serves the bot: `node main.mjs`. PORT and HOST say where, SLAGVELD_BOT_SECRET (or the file .secret) whose calls count.

import { existsSync, readFileSync } from 'node:fs';

import { card, choose } from './bot.mjs';
import { botServer } from './serving.mjs';

const file = new URL('.secret', import.meta.url);
const secret = process.env.SLAGVELD_BOT_SECRET || (existsSync(file) ? readFileSync(file, 'utf8') : '');
const { HOST = '127.0.0.1', PORT = '8100' } = process.env;

function fail(error) {
  console.error(error.code === 'EADDRINUSE' ? `expected a free port, got ${PORT}: set another in PORT` : error.message);
  process.exit(2);
}

try {
  const server = botServer(card, choose, secret.trim());
  server.on('error', fail);
  server.listen(Number(PORT), HOST, () => {
    const verified = secret ? 'signed calls only' : "calls aren't verified: it has no secret";
    console.log(`${card.name} ${card.version} listens on http://${HOST}:${server.address().port} (${verified})`);
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close()); // what is asked is answered
} catch (error) {
  fail(error);
}
