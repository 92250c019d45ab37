// SPDX-License-Identifier: Apache-2.0
// The 517 cases of the Autobahn TestSuite (fuzzingclient against a server) as data, under
// the suite's own numbers. A case is
//
//   { id, offers, steps: [step…], expect: [event…], close }      a script, or
//   { id, offers, flood: {count, op, payloads, fragment}, close } many echoes.
//
// A step sends chunks of octets and may then wait: `events: n` until that many events have
// come, `stays: true` to see that the connection stays open, `fails: true` to see that it
// is failed before anything more is sent. `close.by` says who begins: the client once all
// expected events are there, the script itself, or the server by failing the connection.
import { OP, closePayload, encode, fragments } from './wire.mjs';

const { CONT, TEXT, BINARY, CLOSE, PING, PONG } = OP;
const bytes = (...values) => Buffer.from(values);
const hex = (text) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const text = (payload) => ({ type: 'text', payload: Buffer.from(payload) });
const binary = (payload) => ({ type: 'binary', payload: Buffer.from(payload) });
const pong = (payload) => ({ type: 'pong', payload: Buffer.from(payload) });

const CLEAN = { by: 'client', codes: [1000] };
const failed = (...codes) => ({ by: 'server', codes });
const scripted = (...codes) => ({ by: 'script', codes });

// How the octets of a list of frames are cut: all at once, per frame, or every n octets.
function cut(frames, chop) {
  const encoded = frames.map(encode);
  if (!chop) return [Buffer.concat(encoded)];
  if (chop === 'frame') return encoded;
  return encoded.flatMap((octets) => {
    const chops = [];
    for (let at = 0; at < octets.length; at += chop) chops.push(octets.subarray(at, at + chop));
    return chops;
  });
}

const send = (frames, chop, then = {}) => ({ chunks: () => cut(frames, chop), ...then });
const script = (id, frames, expect, close, chop) => ({ id, steps: [send(frames, chop)], expect, close });
const numbered = (prefix, rows) => rows.map((row, i) => row(`${prefix}.${i + 1}`));
const repeat = (pattern, length) => Buffer.alloc(length, pattern);

function framing() {
  const sizes = [0, 125, 126, 127, 128, 65535, 65536, 65536];
  const rows = (prefix, op, event, fill) =>
    sizes.map((size, i) => {
      const payload = repeat(fill, size);
      return script(`${prefix}.${i + 1}`, [{ op, payload }], [event(payload)], CLEAN, i === 7 ? 997 : 0);
    });
  return [...rows('1.1', TEXT, text, '*'), ...rows('1.2', BINARY, binary, bytes(0xfe))];
}

function pings() {
  const octets = bytes(0, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0, 0xff);
  const long = repeat(bytes(0xfe), 125);
  const ten = Array.from({ length: 10 }, (_, i) => `payload-${i}`);
  const stray = { op: PONG, payload: 'unsolicited pong payload' };
  const close = { op: CLOSE, payload: closePayload(1000) };
  const ping = (payload) => ({ op: PING, payload });
  return numbered('2', [
    (id) => script(id, [ping('')], [pong('')], CLEAN),
    (id) => script(id, [ping('Hello, world!')], [pong('Hello, world!')], CLEAN),
    (id) => script(id, [ping(octets)], [pong(octets)], CLEAN),
    (id) => script(id, [ping(long)], [pong(long)], CLEAN),
    (id) => script(id, [ping(repeat(bytes(0xfe), 126))], [], failed(1002)),
    (id) => script(id, [ping(long)], [pong(long)], CLEAN, 1),
    (id) => script(id, [{ op: PONG }, close], [], scripted(1000)),
    (id) => script(id, [stray, close], [], scripted(1000)),
    (id) => script(id, [stray, ping('ping payload')], [pong('ping payload')], CLEAN),
    (id) => script(id, ten.map(ping), ten.map(pong), CLEAN),
    (id) => script(id, ten.map(ping), ten.map(pong), CLEAN, 1),
  ]);
}

const HELLO = 'Hello, world!';

function reservedBits() {
  const after = (rsv, chop) => (id) =>
    script(id, [{ op: TEXT, payload: HELLO }, { op: TEXT, payload: HELLO, rsv }, { op: PING }], [text(HELLO)], failed(1002), chop);
  return numbered('3', [
    (id) => script(id, [{ op: TEXT, payload: HELLO, rsv: 1 }], [], failed(1002)),
    after(2),
    after(3, 'frame'),
    after(4, 1),
    (id) => script(id, [{ op: BINARY, payload: bytes(0, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0, 0xff), rsv: 5 }], [], failed(1002)),
    (id) => script(id, [{ op: BINARY, payload: HELLO, rsv: 6 }], [], failed(1002)),
    (id) => script(id, [{ op: CLOSE, rsv: 7 }], [], failed(1002)),
  ]);
}

function opcodes() {
  const group = (prefix, first) => {
    const after = (op, payload, chop) => (id) =>
      script(id, [{ op: TEXT, payload: HELLO }, { op, payload }, { op: PING }], [text(HELLO)], failed(1002), chop);
    return numbered(prefix, [
      (id) => script(id, [{ op: first }], [], failed(1002)),
      (id) => script(id, [{ op: first + 1, payload: 'reserved opcode payload' }], [], failed(1002)),
      after(first + 2),
      after(first + 3, HELLO),
      after(first + 4, HELLO, 1),
    ]);
  };
  return [...group('4.1', 3), ...group('4.2', 11)];
}

function fragmentation() {
  const part = (n, op = CONT, fin = false) => ({ op, fin, payload: `fragment${n}` });
  const two = [part(1, TEXT), part(2, CONT, true)];
  const around = [part(1, TEXT), { op: PING, payload: 'ping payload' }, part(2, CONT, true)];
  const joined = text('fragment1fragment2');
  const stray = (fin) => [{ op: CONT, fin, payload: 'non-continuation payload' }, { op: TEXT, payload: HELLO }];
  const broken = (fin) => [0, 1].flatMap(() => [part(1, CONT, fin), part(2, TEXT), part(3, CONT, true)]);
  const long = (chop) => (id) => ({
    id,
    steps: [
      send([part(1, TEXT), part(2), { op: PING, payload: 'pongme 1!' }], chop, { events: 1 }),
      send([part(3), part(4), { op: PING, payload: 'pongme 2!' }, part(5, CONT, true)], chop),
    ],
    expect: [pong('pongme 1!'), pong('pongme 2!'), text('fragment1fragment2fragment3fragment4fragment5')],
    close: CLEAN,
  });
  const chops = [0, 'frame', 1];
  return numbered('5', [
    (id) => script(id, [part(1, PING), part(2, CONT, true)], [], failed(1002)),
    (id) => script(id, [part(1, PONG), part(2, CONT, true)], [], failed(1002)),
    ...chops.map((chop) => (id) => script(id, two, [joined], CLEAN, chop)),
    ...chops.map((chop) => (id) => script(id, around, [pong('ping payload'), joined], CLEAN, chop)),
    ...chops.map((chop) => (id) => script(id, stray(true), [], failed(1002), chop)),
    ...chops.map((chop) => (id) => script(id, stray(false), [], failed(1002), chop)),
    (id) => script(id, [...two, part(3), part(4, TEXT, true)], [joined], failed(1002)),
    (id) => script(id, broken(false), [], failed(1002)),
    (id) => script(id, broken(true), [], failed(1002)),
    (id) => script(id, [part(1, TEXT), part(2, TEXT, true)], [], failed(1002)),
    long(0),
    long('frame'),
  ]);
}

const GREEK = hex('cebae1bdb9cf83cebcceb5');

// Sections 6.5 to 6.23, after Markus Kuhn's decoder stress test.
function texts() {
  const upTo = (from, to, make) => Array.from({ length: to - from }, (_, i) => make(from + i));
  const lonely = [[0xc0, 0xdf], [0xe0, 0xef], [0xf0, 0xf7], [0xf8, 0xfb], [0xfc, 0xfd]];
  const cutShort = ['c0', 'e080', 'f08080', 'f8808080', 'fc80808080', 'df', 'efbf', 'f7bfbf', 'fbbfbfbf', 'fdbfbfbfbf'];
  const surrogates = ['eda080', 'edadbf', 'edae80', 'edafbf'];
  const planes = ['f0', 'f1', 'f2', 'f3', 'f4'].flatMap((lead) => ['8f', '9f', 'af', 'bf'].map((second) => lead + second));
  const ends = planes.filter((plane) => plane !== 'f08f' && (plane < 'f4' || plane === 'f48f'));
  const all = (...list) => list.map(hex);
  return [
    ['$', '¢', '€', '\u{24b62}'].map((c) => Buffer.from(`hello${c}world`)).concat([GREEK]),
    upTo(1, GREEK.length + 1, (n) => GREEK.subarray(0, n)),
    all('00', 'c280', 'e0a080', 'f0908080'),
    all('f888808080', 'fc8480808080'),
    all('7f', 'dfbf', 'efbfbf', 'f48fbfbf'),
    all('f7bfbfbf', 'fbbfbfbfbf', 'fdbfbfbfbfbf'),
    all('ed9fbf', 'ee8080', 'efbfbd', 'f48fbfbf', 'f4908080'),
    [...all('80', 'bf', '80bf', '80bf80', '80bf80bf', '80bf80bf80', '80bf80bf80bf'), Buffer.from(upTo(0x80, 0xbf, (c) => c))],
    lonely.map(([from, to]) => Buffer.from(upTo(from, to, (c) => [c, 0x20]).flat())),
    all(...cutShort),
    all(cutShort.join('')),
    all('fe', 'ff', 'fefeffff'),
    all('c0af', 'e080af', 'f08080af', 'f8808080af', 'fc80808080af'),
    all('c1bf', 'e09fbf', 'f08fbfbf', 'f887bfbfbf', 'fc83bfbfbfbf'),
    all('c080', 'e08080', 'f0808080', 'f880808080', 'fc8080808080'),
    all(...surrogates, 'edb080', 'edbe80', 'edbfbf'),
    all(...surrogates.flatMap((high) => [`${high}edb080`, `${high}edbfbf`])),
    all('efbfbe', 'efbfbf', ...ends.flatMap((plane) => [`${plane}bfbe`, `${plane}bfbf`])),
    all('efbfb9', 'efbfba', 'efbfbb', 'efbfbc', 'efbfbd', 'efbfbe', 'efbfbf'),
  ];
}

function isUtf8(payload) {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(payload);
    return true;
  } catch {
    return false;
  }
}

function utf8() {
  const mixed = Buffer.from('Hello-µ@ßöäüàá-UTF-8!!');
  const surrogate = Buffer.concat([GREEK, hex('eda080'), Buffer.from('edited')]);
  const whole = (id, payload) =>
    isUtf8(payload) ? script(id, [{ op: TEXT, payload }], [text(payload)], CLEAN) : script(id, [{ op: TEXT, payload }], [], failed(1007));
  const parts = (...payloads) => payloads.map((payload, i) => ({ op: i ? CONT : TEXT, fin: i === payloads.length - 1, payload }));
  const half = Buffer.from('Hello-µ@ßöä').length;
  return [
    script('6.1.1', [{ op: TEXT }], [text('')], CLEAN),
    script('6.1.2', parts('', '', ''), [text('')], CLEAN),
    script('6.1.3', parts('', 'middle frame payload', ''), [text('middle frame payload')], CLEAN),
    script('6.2.1', [{ op: TEXT, payload: mixed }], [text(mixed)], CLEAN),
    script('6.2.2', parts(mixed.subarray(0, half), mixed.subarray(half)), [text(mixed)], CLEAN),
    script('6.2.3', fragments(TEXT, mixed, 1), [text(mixed)], CLEAN),
    script('6.2.4', fragments(TEXT, GREEK, 1), [text(GREEK)], CLEAN),
    script('6.3.1', [{ op: TEXT, payload: surrogate }], [], failed(1007)),
    script('6.3.2', fragments(TEXT, surrogate, 1), [], failed(1007)),
    ...failFast(parts),
    ...texts().flatMap((payloads, i) => payloads.map((payload, j) => whole(`6.${i + 5}.${j + 1}`, payload))),
  ];
}

// The first piece is good, the second has the octet that cannot be right; the connection
// must fail before the third is sent. Once in frames, once in chops of a single frame.
function failFast(parts) {
  const payload = Buffer.concat([GREEK, hex('f4908080'), Buffer.from('edited')]);
  const cuts = [[GREEK.length, GREEK.length + 4], [GREEK.length + 1, GREEK.length + 2]];
  const pieces = ([a, b]) => [payload.subarray(0, a), payload.subarray(a, b), payload.subarray(b)];
  const steps = (chunks) => [
    { chunks: () => [chunks[0]], stays: true },
    { chunks: () => [chunks[1]], fails: true },
  ];
  const inFrames = (at) => parts(...pieces(at)).map(encode);
  const inChops = ([a, b]) => {
    const octets = encode({ op: TEXT, payload });
    const head = octets.length - payload.length;
    return [octets.subarray(0, head + a), octets.subarray(head + a, head + b), octets.subarray(head + b)];
  };
  return [inFrames(cuts[0]), inFrames(cuts[1]), inChops(cuts[0]), inChops(cuts[1])].map((chunks, i) => ({
    id: `6.4.${i + 1}`,
    steps: steps(chunks),
    expect: [],
    close: failed(1007),
  }));
}

function closing() {
  const close = (payload = closePayload(1000)) => ({ op: CLOSE, payload });
  const hello = { op: TEXT, payload: 'Hello World!' };
  const big = repeat('BAsd7&jh23', 256 << 10);
  const bad = Buffer.concat([GREEK, hex('eda080'), Buffer.from('edited')]);
  const valid = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
  const invalid = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999];
  return [
    script('7.1.1', [hello], [text('Hello World!')], CLEAN),
    script('7.1.2', [close(), { op: CLOSE }], [], scripted(1000)),
    script('7.1.3', [close(), { op: PING }], [], scripted(1000)),
    script('7.1.4', [close(), hello], [], scripted(1000)),
    script('7.1.5', [{ op: TEXT, fin: false, payload: 'fragment1' }, close(), { op: CONT, payload: 'fragment2' }], [], scripted(1000)),
    // The suite calls this one informational; a server that works in order echoes both.
    script('7.1.6', [{ op: TEXT, payload: big }, hello, close(), { op: PING }], [text(big), text('Hello World!')], scripted(1000)),
    script('7.3.1', [{ op: CLOSE }], [], scripted(1000, 1005)),
    script('7.3.2', [close('a')], [], scripted(1002)),
    script('7.3.3', [close()], [], scripted(1000)),
    script('7.3.4', [close(closePayload(1000, 'Hello World!'))], [], scripted(1000)),
    script('7.3.5', [close(closePayload(1000, '*'.repeat(123)))], [], scripted(1000)),
    script('7.3.6', [close(closePayload(1000, '*'.repeat(124)))], [], scripted(1002)),
    script('7.5.1', [close(Buffer.concat([closePayload(1000), bad]))], [], scripted(1002, 1007)),
    ...valid.map((code, i) => script(`7.7.${i + 1}`, [close(closePayload(code))], [], scripted(1000, code))),
    ...invalid.map((code, i) => script(`7.9.${i + 1}`, [close(closePayload(code))], [], scripted(1002))),
    // The specification leaves these open.
    ...[5000, 65535].map((code, i) => script(`7.13.${i + 1}`, [close(closePayload(code))], [], scripted(1000, 1002, code))),
  ];
}

// Payloads are made when the case runs; all of them together would be large.
function limits() {
  const KIB = 1 << 10;
  const MIB = 1 << 20;
  const kinds = [
    { op: TEXT, type: 'text', pattern: 'BAsd7&jh23', fill: '*' },
    { op: BINARY, type: 'binary', pattern: bytes(0, 0xfe, 0x23, 0xfa, 0xf0), fill: bytes(0xfe) },
  ];
  const one = (id, kind, pattern, length, { fragment = 0, chop = 0 } = {}) => ({
    id,
    get steps() {
      return [send(fragments(kind.op, repeat(pattern, length), fragment), chop)];
    },
    get expect() {
      return [{ type: kind.type, payload: repeat(pattern, length) }];
    },
    close: CLEAN,
  });
  const sizes = [64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB];
  const parts = [64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB];
  const chops = [64, 128, 256, 512, 1024, 2048];
  const each = (from, list, make) => kinds.flatMap((kind, k) => list.map((item, i) => make(`9.${from + k}.${i + 1}`, kind, item)));
  return [
    ...each(1, sizes, (id, kind, size) => one(id, kind, kind.pattern, size)),
    ...each(3, parts, (id, kind, fragment) => one(id, kind, kind.fill, 4 * MIB, { fragment })),
    ...each(5, chops, (id, kind, chop) => one(id, kind, kind.pattern, MIB, { chop })),
    ...each(7, [0, 16, 64, 256, 1024, 4096], (id, kind, size) => ({
      id,
      flood: { count: 1000, op: kind.op, payloads: () => [repeat(kind.fill, size)], fragment: 0 },
      close: CLEAN,
    })),
  ];
}

const WORDS = ['Habe', 'nun', 'ach', 'Philosophie', 'Juristerei', 'und', 'Medizin', 'studiert'];

// Text, pictures and noise of the character of the suite's own files.
const SAMPLES = {
  json: { op: TEXT, make: (random) => `{"id": ${random() >>> 16}, "name": "n${random() >>> 28}", "is": true}, ` },
  bitmap: { op: BINARY, make: (random, at) => String.fromCharCode(((at % 512) >> 3) + (random() >>> 31)) },
  prose: { op: BINARY, make: (random) => `${WORDS[random() >>> 29]} ` },
  html: { op: TEXT, make: (random) => `<td class="c${random() >>> 28}">\u00e9 &amp; ${random() >>> 24}</td>\n` },
  pdf: { op: BINARY, make: (random) => String.fromCharCode(random() >>> 24, random() >>> 24, random() >>> 24) },
};
const SAMPLE_BYTES = 400000;
const made = new Map();

function sample(name) {
  if (made.has(name)) return made.get(name);
  let seed = 2463534242;
  const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
  const parts = [];
  const encoding = SAMPLES[name].op === TEXT ? 'utf8' : 'latin1';
  for (let at = 0; at < SAMPLE_BYTES; at += parts.at(-1).length) parts.push(Buffer.from(SAMPLES[name].make(random, at), encoding));
  const all = Buffer.concat(parts);
  made.set(name, all);
  return all;
}

// Some messages of that length from different places; text is cut between characters.
function samples(name, length) {
  const all = sample(name);
  return Array.from({ length: 8 }, (_, i) => {
    let from = (i * 37171) % (all.length - length - 4);
    let to = from + length;
    if (SAMPLES[name].op === TEXT) {
      while ((all[from] & 0xc0) === 0x80) from++;
      while ((all[to] & 0xc0) === 0x80) to++;
    }
    return all.subarray(from, to);
  });
}

const DEFLATE_SIZES = [
  ...[16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072].map((length) => [length, 0]),
  ...[8192, 16384, 32768, 65536, 131072].map((length) => [length, 256]),
  ...[1024, 4096, 32768].map((fragment) => [131072, fragment]),
];

function offer({ reset = false, bits = 0 } = {}) {
  const params = ['permessage-deflate', 'client_no_context_takeover', 'client_max_window_bits'];
  if (reset) params.push('server_no_context_takeover');
  if (bits) params.push(`server_max_window_bits=${bits}`);
  return params.join('; ');
}

const OFFERS = [
  [{}],
  [{ reset: true }],
  [{ bits: 9 }],
  [{ bits: 15 }],
  [{ reset: true, bits: 9 }],
  [{ reset: true, bits: 15 }],
  [{ reset: true, bits: 9 }, { reset: true }, {}],
];

function compression(prefix, name, list) {
  return DEFLATE_SIZES.map(([length, fragment], i) => ({
    id: `${prefix}.${i + 1}`,
    offers: list.map(offer).join(', '),
    flood: { count: 1000, op: SAMPLES[name].op, payloads: () => samples(name, length), fragment },
    close: CLEAN,
  }));
}

const autoFragment = repeat('*', 65536);

export const sections = [
  { name: '1 framing', cases: framing() },
  { name: '2 pings and pongs', cases: pings() },
  { name: '3 reserved bits', cases: reservedBits() },
  { name: '4 opcodes', cases: opcodes() },
  { name: '5 fragmentation', cases: fragmentation() },
  { name: '6 UTF-8', cases: utf8() },
  { name: '7 closing', cases: closing() },
  { name: '9 limits', cases: limits() },
  { name: '10 auto-fragmentation', cases: [script('10.1.1', fragments(TEXT, autoFragment, 1300), [text(autoFragment)], CLEAN)] },
  { name: '12 compression, payloads', cases: Object.keys(SAMPLES).flatMap((name, i) => compression(`12.${i + 1}`, name, [{}])) },
  { name: '13 compression, parameters', cases: OFFERS.flatMap((list, i) => compression(`13.${i + 1}`, 'json', list)) },
];
