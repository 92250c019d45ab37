// SPDX-License-Identifier: Apache-2.0
// A record made without the program: the format of docs/RECORD-FORMAT.md in a few lines.
//
//   const record = new Recorder()                      a key and a name of its own
//       record.add({ event, topic, participant, kind, id, correlation_id, verdict, by, body }, { later: ms })
//       record.say('ann', 'chat', { text: 'hi' }, { id, correlation_id, to, later })    an envelope, admitted
//       record.checkpoint()
//       record.text()            the export;  record.lines  the same, line by line
//       record.head()            SEQ:HASH
//       record.origin            the first line, which is what audit.pub holds
import crypto from 'node:crypto';

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), crypto.createHash('sha256')).digest();
const events = ['envelope', 'refusal', 'presence', 'connect', 'disconnect', 'grant', 'admin', 'config', 'server', 'drop', 'retention'];
const texts = ['topic', 'participant', 'kind', 'id', 'correlation_id', 'verdict', 'by'];

function number(value, bytes) {
    const out = Buffer.alloc(bytes);

    if (bytes === 8)
        out.writeBigUInt64BE(BigInt(value));
    else
        out.writeUIntBE(value, 0, bytes);
    return out;
}

export class Recorder {
    constructor({ installation = crypto.randomBytes(16).toString('hex'), at = Date.parse('2026-11-15T18:00:00.000Z') } = {}) {
        const { privateKey, publicKey } = crypto.generateKeyPairSync('ed25519');

        Object.assign(this, { installation, at, seq: 0, privateKey });
        this.hash = sha256(`moot audit 1\n${installation}`);
        this.origin = JSON.stringify({ moot_audit: 1, installation,
            public_key: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64') });
        this.lines = [this.origin];
    }

    add({ event, body, removed = false, ...fields }, { later = 1000 } = {}) {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const bytes = text === undefined ? 0 : Buffer.byteLength(text);
        const bodyHash = bytes ? sha256(text) : Buffer.alloc(32);
        const given = texts.filter((name) => fields[name]);

        this.seq++;
        this.at += later;
        this.hash = sha256(this.hash, number(this.seq, 8), number(this.at, 8), number(events.indexOf(event), 1),
            ...texts.flatMap((name) => [number(Buffer.byteLength(fields[name] ?? ''), 4), fields[name] ?? '']),
            number(bytes, 4), bodyHash);
        this.lines.push(JSON.stringify({
            seq: this.seq, at: new Date(this.at).toISOString(), event,
            ...Object.fromEntries(given.map((name) => [name, fields[name]])),
            ...(bytes && !removed ? { body } : {}), ...(bytes ? { body_bytes: bytes, body_hash: bodyHash.toString('hex') } : {}),
            hash: this.hash.toString('hex'),
        }));
        return this.seq;
    }

    say(participant, kind, payload, { id = `e${this.seq + 1}`, correlation_id, to, topic = 'room', removed, later } = {}) {
        this.add({
            event: 'envelope', topic, participant, kind, id, correlation_id, verdict: 'allowed', by: kind.replace(/:.*/, ':*'), removed,
            body: { protocol: 'mcpx/v0.1', id, ts: new Date(this.at + (later ?? 1000)).toISOString(), from: participant,
                ...(to ? { to } : {}), kind, ...(correlation_id ? { correlation_id } : {}), payload },
        }, { later });
        return id;
    }

    checkpoint() {
        const signature = crypto.sign(null, Buffer.concat([Buffer.from(`moot checkpoint 1\n${this.installation}\n`),
            number(this.seq, 8), number(this.at, 8), this.hash]), this.privateKey);

        this.lines.push(JSON.stringify({ checkpoint: { seq: this.seq, at: new Date(this.at).toISOString(),
            hash: this.hash.toString('hex'), signature: signature.toString('base64') } }));
    }

    head() { return `${this.seq}:${this.hash.toString('hex')}`; }
    text() { return this.lines.map((line) => `${line}\n`).join(''); }
}
