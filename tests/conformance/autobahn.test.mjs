// SPDX-License-Identifier: Apache-2.0
// Runs the cases of autobahn.mjs over TCP against an echo server:
//
//   MOOT_WS_ECHO=build/tests/conformance/ws_echo node --test tests/conformance/autobahn.test.mjs
//
// MOOT_WS_ECHO is a program that takes `--port 0` and prints `listening on HOST:PORT`, or
// the HOST:PORT of one that runs already. Floods of large messages are cut to FLOOD_BYTES
// per case; MOOT_WS_FULL=1 sends all 1000 messages of each, as the suite does.
// MOOT_WS_CASES=6.4 runs the cases whose number begins so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { sections } from './autobahn.mjs';
import { Client, OP, closePayload, deflate, encode, fragments, inflate } from './wire.mjs';

const PATIENCE_MS = 60000;
const QUIET_MS = 150;
const FLOOD_BYTES = process.env.MOOT_WS_FULL ? Infinity : 1 << 20;
const AHEAD = { messages: 32, bytes: 256 << 10 };
const TOTAL = 517;

const target = process.env.MOOT_WS_ECHO;
const only = process.env.MOOT_WS_CASES ?? '';

async function startServer() {
  const running = /^([^/]+):(\d+)$/.exec(target);
  if (running) return { host: running[1], port: Number(running[2]), stop: () => {} };
  const child = spawn(target, ['--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const match = /listening on (\S+):(\d+)/.exec(line);
  assert.ok(match, `the echo server said: ${line}`);
  return { host: match[1], port: Number(match[2]), stop: () => child.kill() };
}

const show = ({ type, payload }) =>
  payload.length > 40 ? `${type}(${payload.length} octets)` : `${type}(${JSON.stringify(payload.toString('latin1'))})`;
const isSame = (a, b) => a.type === b.type && a.payload.equals(b.payload);

// Every event so far is the expected one.
function checkEvents(got, want) {
  for (const [i, event] of got.entries()) {
    assert.ok(want[i], `unexpected ${show(event)} after ${i} events`);
    assert.ok(isSame(event, want[i]), `event ${i + 1} is ${show(event)}, expected ${show(want[i])}`);
  }
}

async function checkStep(client, step) {
  if (step.events) assert.ok(await client.until(() => client.events.length >= step.events, PATIENCE_MS), `no event ${step.events} in time`);
  if (step.stays) assert.ok(!(await client.until(() => client.closed !== undefined, QUIET_MS)), 'the connection ended too early');
  if (step.fails) assert.ok(await client.until(() => client.closed !== undefined, PATIENCE_MS), 'the connection was not failed fast');
}

async function checkClose(client, { by, codes }) {
  if (by === 'client') await client.write([encode({ op: OP.CLOSE, payload: closePayload(codes[0]) })]);
  assert.ok(await client.until(() => client.closed !== undefined, PATIENCE_MS), 'no close from the server');
  if (client.error) throw client.error;
  assert.ok(client.closed, 'the server went away without a close frame');
  assert.ok(codes.includes(client.closed.code), `closed with ${client.closed.code}, expected ${codes.join(' or ')}`);
  if (by === 'server') await client.write([encode({ op: OP.CLOSE, payload: closePayload(client.closed.code) })]);
  assert.ok(await client.until(() => client.isOver, PATIENCE_MS), 'the server did not end the connection');
}

async function runScript(client, { steps, expect, close }) {
  for (const step of steps) {
    await client.write(step.chunks());
    await checkStep(client, step);
  }
  await client.until(() => client.events.length >= expect.length || client.closed !== undefined, PATIENCE_MS);
  if (client.error) throw client.error;
  checkEvents(client.events, expect);
  assert.equal(client.events.length, expect.length, `only ${client.events.length} of ${expect.length} events came`);
  await checkClose(client, close);
  checkEvents(client.events, expect);
}

function checkAgreement(offers, extension) {
  assert.ok(extension, 'the server did not agree to permessage-deflate');
  assert.ok('server_no_context_takeover' in extension, 'the server keeps its context');
  assert.ok('client_no_context_takeover' in extension, 'the server wants the context of the client');
  const asked = /^[^,]*server_max_window_bits=(\d+)/.exec(offers);
  if (asked) assert.ok(Number(extension.server_max_window_bits) <= Number(asked[1]), 'the server ignores the window asked for');
}

// The messages of a flood with the octets that carry them.
function prepare({ op, payloads, fragment }, extension) {
  const windowBits = Number(extension?.client_max_window_bits ?? 15);
  return payloads().map((payload) => {
    const body = extension ? deflate(payload, windowBits) : payload;
    return { payload, echo: null, octets: Buffer.concat(fragments(op, body, fragment, extension ? 4 : 0).map(encode)) };
  });
}

// Without context takeover the same message comes back in the same octets, so that each
// form is inflated only once.
function checkEcho(event, message, type, windowBits) {
  assert.equal(event.type, type);
  if (event.deflated && message.echo?.equals(event.payload)) return;
  const payload = event.deflated ? inflate(event.payload, windowBits) : event.payload;
  assert.ok(payload.equals(message.payload), `an echo of ${payload.length} octets differs from the ${message.payload.length} sent`);
  if (event.deflated) message.echo = Buffer.from(event.payload);
}

async function runFlood(client, { flood, offers, close }) {
  if (offers) checkAgreement(offers, client.extension);
  const messages = prepare(flood, client.extension);
  const windowBits = Number(client.extension?.server_max_window_bits ?? 15);
  const type = flood.op === OP.TEXT ? 'text' : 'binary';
  const size = Math.max(messages[0].payload.length, 1);
  const count = Math.min(flood.count, Math.max(messages.length, Math.floor(FLOOD_BYTES / size)));
  const ahead = Math.max(2, Math.min(AHEAD.messages, Math.floor(AHEAD.bytes / size)));
  let echoed = 0;
  let failure = null;

  client.onEvent = (event) => {
    try {
      checkEcho(event, messages[echoed % messages.length], type, windowBits);
    } catch (error) {
      failure ??= error;
    }
    echoed++;
  };
  for (let sent = 0; sent < count && !failure; sent++) {
    const isFree = await client.until(() => sent - echoed < ahead || client.closed !== undefined, PATIENCE_MS);
    if (!isFree || client.closed !== undefined) break;
    client.socket.write(messages[sent % messages.length].octets);
  }
  await client.until(() => echoed >= count || failure || client.closed !== undefined, PATIENCE_MS);
  if (failure ?? client.error) throw failure ?? client.error;
  assert.equal(echoed, count, `${echoed} of ${count} echoes came`);
  await checkClose(client, close);
}

async function runCase(server, one) {
  const client = await Client.open(server, { offers: one.offers });
  try {
    await (one.flood ? runFlood(client, one) : runScript(client, one));
  } finally {
    client.destroy();
  }
}

test('the suite has all its cases', () => {
  const ids = sections.flatMap(({ cases }) => cases.map(({ id }) => id));
  assert.equal(ids.length, TOTAL);
  assert.equal(new Set(ids).size, TOTAL);
});

test('Autobahn', { skip: target ? false : 'MOOT_WS_ECHO is not set' }, async (t) => {
  const server = await startServer();
  let passed = 0;
  try {
    for (const { name, cases } of sections) {
      const chosen = cases.filter(({ id }) => `${id}.`.startsWith(only && `${only.replace(/\.$/, '')}.`));
      await t.test(`${name}: ${chosen.length} cases`, async () => {
        const failures = [];
        for (const one of chosen) {
          try {
            await runCase(server, one);
            passed++;
          } catch (error) {
            failures.push(`case ${one.id}: ${error.message}`);
          }
        }
        assert.equal(failures.length, 0, `\n${failures.join('\n')}`);
      });
    }
    t.diagnostic(`${passed} of ${TOTAL} cases passed`);
  } finally {
    server.stop();
  }
});
