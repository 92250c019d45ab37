// SPDX-License-Identifier: Apache-2.0
// The client's side of a WebSocket, down to the octets: it sends what it is told to, right
// or wrong, in the pieces it is told to, and reads strictly. No library could do that.
import { createHash, randomBytes } from 'node:crypto';
import net from 'node:net';
import zlib from 'node:zlib';

export const OP = { CONT: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 };
const TAIL = Buffer.from([0x00, 0x00, 0xff, 0xff]);
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export function headOf(length, { op, fin = true, rsv = 0 }) {
  const first = (fin ? 0x80 : 0) | (rsv << 4) | op;
  if (length < 126) return Buffer.from([first, 0x80 | length]);
  if (length < 65536) return Buffer.from([first, 0x80 | 126, length >> 8, length & 0xff]);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

// A frame {op, fin, rsv, payload} as a client sends it.
export function encode(frame) {
  const payload = Buffer.from(frame.payload ?? '');
  const head = headOf(payload.length, frame);
  const mask = randomBytes(4);
  const out = Buffer.allocUnsafe(head.length + 4 + payload.length);
  head.copy(out);
  mask.copy(out, head.length);
  for (let i = 0, at = head.length + 4; i < payload.length; i++, at++) out[at] = payload[i] ^ mask[i & 3];
  return out;
}

// A message as frames of at most `size` octets; 0: one frame.
export function fragments(op, payload, size, rsv = 0) {
  const step = size || Math.max(payload.length, 1);
  const frames = [];
  for (let at = 0; at === 0 || at < payload.length; at += step)
    frames.push({
      op: at ? OP.CONT : op,
      rsv: at ? 0 : rsv,
      fin: at + step >= payload.length,
      payload: payload.subarray(at, at + step),
    });
  return frames;
}

export function closePayload(code, reason = '') {
  const head = Buffer.from([code >> 8, code & 0xff]);
  return Buffer.concat([head, Buffer.from(reason)]);
}

export function deflate(payload, windowBits) {
  const all = zlib.deflateRawSync(payload, { windowBits, level: 6, finishFlush: zlib.constants.Z_SYNC_FLUSH });
  return all.subarray(0, all.length - 4);
}

export function inflate(payload, windowBits) {
  return zlib.inflateRawSync(Buffer.concat([payload, TAIL]), { windowBits, finishFlush: zlib.constants.Z_SYNC_FLUSH });
}

// Octets in, frames out. Chunks are joined only when a whole frame is there.
class FrameReader {
  #chunks = [];
  #size = 0;
  #need = 2;

  push(chunk) {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  next() {
    if (this.#size < this.#need) return null;
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const frame = readFrame(all);
    this.#chunks = [frame.size ? all.subarray(frame.size) : all];
    this.#size -= frame.size ?? 0;
    this.#need = frame.need ?? 2;
    return frame.size ? frame : null;
  }
}

function readFrame(all) {
  if (all[1] & 0x80) throw new Error('the server masked a frame');
  let size = 2;
  let length = all[1];
  if (length === 126) {
    if (all.length < 4) return { need: 4 };
    length = all.readUInt16BE(2);
    size = 4;
    if (length < 126) throw new Error('the server sent a length that is not minimal');
  } else if (length === 127) {
    if (all.length < 10) return { need: 10 };
    length = Number(all.readBigUInt64BE(2));
    size = 10;
    if (length < 65536) throw new Error('the server sent a length that is not minimal');
  }
  if (all.length < size + length) return { need: size + length };
  return {
    size: size + length,
    op: all[0] & 0x0f,
    fin: (all[0] & 0x80) !== 0,
    rsv: (all[0] >> 4) & 7,
    payload: all.subarray(size, size + length),
  };
}

const CONTROL = { [OP.PING]: 'ping', [OP.PONG]: 'pong', [OP.CLOSE]: 'close' };

// What was agreed on: the parameters of permessage-deflate, or null.
function readExtension(value) {
  if (value === undefined) return null;
  const [name, ...params] = value.split(';').map((part) => part.trim());
  if (name !== 'permessage-deflate') throw new Error(`the server chose ${name}`);
  return Object.fromEntries(params.map((param) => param.split('=').map((part) => part.replaceAll('"', ''))));
}

// One connection. Events: {type: 'text'|'binary'|'ping'|'pong', payload, deflated} in
// `events`, then `closed` = {code, reason} or null when the peer just went away.
export class Client {
  events = [];
  closed = undefined;
  isOver = false;
  error = null;
  extension = null;
  onEvent = null;
  #message = null;
  #reader = new FrameReader();
  #waiters = new Set();

  static async open({ host, port }, { offers, path = '/' } = {}) {
    const client = new Client();
    const socket = net.connect({ host, port, noDelay: true });
    client.socket = socket;
    const key = randomBytes(16).toString('base64');
    const lines = [
      `GET ${path} HTTP/1.1`, `Host: ${host}:${port}`, 'Upgrade: websocket', 'Connection: Upgrade',
      `Sec-WebSocket-Key: ${key}`, 'Sec-WebSocket-Version: 13',
    ];
    if (offers) lines.push(`Sec-WebSocket-Extensions: ${offers}`);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.write(lines.join('\r\n') + '\r\n\r\n');
    await client.#handshake(key);
    return client;
  }

  #handshake(key) {
    return new Promise((resolve, reject) => {
      let head = Buffer.alloc(0);
      const timer = setTimeout(() => reject(new Error('no answer to the handshake')), 60_000);
      const onData = (chunk) => {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        clearTimeout(timer);
        this.socket.off('data', onData);
        try {
          this.#readHead(head.subarray(0, end).toString('latin1'), key);
        } catch (error) {
          this.socket.destroy();
          return reject(error);
        }
        this.#listen();
        if (head.length > end + 4) this.#receive(head.subarray(end + 4));
        resolve();
      };
      this.socket.on('data', onData);
      this.socket.once('close', () => reject(new Error('closed during the handshake')));
    });
  }

  #readHead(text, key) {
    const [status, ...lines] = text.split('\r\n');
    const pair = (line, colon = line.indexOf(':')) => [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    const headers = Object.fromEntries(lines.map((line) => pair(line)));
    const accept = createHash('sha1').update(key + GUID).digest('base64');
    if (!status.startsWith('HTTP/1.1 101')) throw new Error(`handshake refused: ${status}`);
    if (headers['sec-websocket-accept'] !== accept) throw new Error('wrong Sec-WebSocket-Accept');
    this.extension = readExtension(headers['sec-websocket-extensions']);
  }

  #listen() {
    this.socket.on('data', (chunk) => this.#receive(chunk));
    this.socket.on('error', () => {}); /* the peer may reset once it has closed */
    this.socket.on('end', () => this.#finish());
    this.socket.on('close', () => this.#finish());
  }

  #finish() {
    if (this.isOver) return;
    this.isOver = true;
    this.closed ??= null;
    this.socket.end();
    this.#wake();
  }

  #receive(chunk) {
    try {
      this.#reader.push(chunk);
      for (let frame = this.#reader.next(); frame; frame = this.#reader.next()) this.#take(frame);
    } catch (error) {
      this.error ??= error;
      this.socket.destroy();
    }
    this.#wake();
  }

  #take(frame) {
    if (this.closed) throw new Error('the server sent a frame after its close');
    if (frame.rsv & 3) throw new Error('the server set RSV2 or RSV3');
    if (frame.op >= 8) return this.#takeControl(frame);
    const isFirst = this.#message === null;
    if (isFirst !== (frame.op !== OP.CONT)) throw new Error('the server broke the order of fragments');
    if (frame.rsv && !(isFirst && this.extension)) throw new Error('the server set RSV1 where it must not');
    if (isFirst) this.#message = { op: frame.op, deflated: frame.rsv === 4, parts: [] };
    this.#message.parts.push(frame.payload);
    if (!frame.fin) return;
    const { op, deflated, parts } = this.#message;
    this.#message = null;
    this.#emit({ type: op === OP.TEXT ? 'text' : 'binary', deflated, payload: parts.length === 1 ? parts[0] : Buffer.concat(parts) });
  }

  #takeControl(frame) {
    if (!CONTROL[frame.op] || !frame.fin || frame.rsv || frame.payload.length > 125) throw new Error('the server sent a bad control frame');
    if (frame.op !== OP.CLOSE) return this.#emit({ type: CONTROL[frame.op], payload: frame.payload });
    this.closed = {
      code: frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005,
      reason: frame.payload.subarray(2).toString(),
    };
  }

  #emit(event) {
    if (this.onEvent) this.onEvent(event);
    else this.events.push(event);
  }

  #wake() {
    for (const check of this.#waiters) check();
  }

  // Resolves with true as soon as the predicate holds, with false after `ms`.
  until(predicate, ms) {
    if (predicate()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (value) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve(value);
      };
      const check = () => (predicate() || this.error) && done(!this.error);
      const timer = setTimeout(() => done(false), ms);
      this.#waiters.add(check);
    });
  }

  // Writes the chunks one by one, each by itself on its way.
  async write(chunks) {
    for (const [i, chunk] of chunks.entries()) {
      if (this.isOver || this.socket.destroyed) return;
      if (i) await new Promise(setImmediate);
      if (!this.socket.write(chunk)) await this.until(() => this.isOver || !this.socket.writableNeedDrain, 50);
    }
  }

  destroy() {
    this.socket.destroy();
  }
}
