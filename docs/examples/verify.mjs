// Verifies records of games: `node verify.mjs FILE …`, or `-` for standard input; Node 20 or later, nothing else.
//
// The verifier was written from docs/record.md, docs/deals.md and docs/rules.md alone, and shares no line with what
// deals and keeps the games; the page of a game verifies by it too. A file holds one record, or one a line. Says for
// each "ok" or the first thing that doesn't hold, and exits with 0 if all hold, 1 if one doesn't or there is none, 2
// if a file can't be read.

import { createReadStream } from 'node:fs';

import { read, Refused, verify } from '../../service/web/static/js/verifier/record.js';

const NEWLINE = 0x0a;

/** Split bytes at line breaks, and at nothing else that may stand in JSON: the number of each line, and its bytes. */
async function* linesOf(stream) {
  let number = 0;
  let parts = [];
  for await (let chunk of stream) {
    for (let end; (end = chunk.indexOf(NEWLINE)) >= 0; chunk = chunk.subarray(end + 1)) {
      yield [++number, Buffer.concat([...parts, chunk.subarray(0, end)])];
      parts = [];
    }
    parts.push(chunk);
  }
  yield [++number, Buffer.concat(parts)];
}

/** Put lines together to records: each is one, unless the first is only "{", which begins one over many lines. */
async function* recordsOf(stream) {
  const lines = linesOf(stream);
  for await (const [number, line] of lines) {
    const text = line.toString('latin1').trim();
    if (text === '{') {
      const rest = [line];
      for await (const [, more] of lines) rest.push(Buffer.from('\n'), more);
      yield [number, Buffer.concat(rest)];
    } else if (text !== '') {
      yield [number, line];
    }
  }
}

async function faultOf(bytes) {
  try {
    await verify(read(bytes));
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

async function verifyFile(name) {
  let verified = 0;
  let refused = 0;
  for await (const [number, bytes] of recordsOf(name === '-' ? process.stdin : createReadStream(name))) {
    const fault = await faultOf(bytes);
    console.log(`${name} line ${number}: ${fault ?? 'ok'}`);
    if (fault === null) verified += 1;
    else refused += 1;
  }
  return verified > 0 && refused === 0;
}

async function main(names) {
  if (names.length === 0) {
    console.error('expected a file of records, or - for standard input');
    return 2;
  }
  let allHold = true;
  for (const name of names) {
    try {
      allHold = (await verifyFile(name)) && allHold;
    } catch (error) {
      if (error.syscall === undefined) throw error;
      console.error(`${name} can't be read: ${error.message}`);
      return 2;
    }
  }
  return allHold ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
