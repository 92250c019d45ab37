// SPDX-License-Identifier: Apache-2.0
// The record goes to syslog and to an OpenTelemetry collector: all of it, in order, at least
// once, whoever is restarted meanwhile; and nobody waits for it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, test } from 'node:test';

import { makeCertificate } from './certificates.mjs';
import { expect, people, person, startGateway } from './gateway.mjs';
import { until } from './processes.mjs';
import { otlpCollector, syslogOver } from './receivers.mjs';

// What was heard is on disk, and so must arrive.
const base = {
    tokens: [...people('alice', 'bob'), person('boss', { profile: 'admin' })],
    limits: { rate_messages: 0 },
    topics: { defaults: { audit: 'required' } },
};
const open = [];

process.setMaxListeners(50);
afterEach(async () => {
    for (const thing of open.splice(0).reverse())
        await thing.stop();
});

const keep = (thing) => { open.push(thing); return thing; };
const start = async (audit, options) => keep(await startGateway({ ...base, audit }, options));

// Sends so many chats and waits until the room has heard the last of them.
async function talk(gateway, count, text = 'hello') {
    const alice = await gateway.join('alice');
    const bob = await gateway.join('bob');
    let last;

    for (let i = 0; i < count; i++)
        last = alice.chat(`${text} ${i}`);
    await expect(bob, (json) => json.id === last.id);
    await alice.close();
    await bob.close();
    return last.id;
}

async function metric(gateway, name) {
    const { text } = await gateway.request('GET /metrics', { token: 'boss-token' });

    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)[1]);
}

const has = (id) => (records) => records.some((record) => record.id === id && record.event === 'envelope');

// Everything between the first and the last, none missing; with repetitions only if they may be.
function assertWhole(records, { mayRepeat = false } = {}) {
    const seqs = records.map((record) => record.seq);
    const known = new Set();

    for (const [index, seq] of seqs.entries()) {
        assert.ok(index === 0 || known.has(seq - 1) || known.has(seq), `${seq} came before ${seq - 1}`);
        assert.ok(mayRepeat || !known.has(seq), `${seq} came twice`);
        known.add(seq);
    }
}

for (const transport of ['tcp', 'udp', 'unix'])
    test(`export: syslog over ${transport}: every record, in order, with what it says`, async () => {
        const daemon = keep(await syslogOver(transport));
        const gateway = await start({ syslog: daemon.option });
        // UDP may lose what does not fit into the receiver's buffer; so few always fit.
        const count = transport === 'udp' ? 50 : 1000;
        const id = await talk(gateway, count);

        await daemon.until(has(id));
        assertWhole(daemon.records);
        const { pri, event, topic, participant, kind, verdict, by, body, hash, time } =
            daemon.records.find((record) => record.id === id);
        assert.deepEqual({ pri, event, topic, participant, kind, verdict, by },
            { pri: 110, event: 'envelope', topic: 'room', participant: 'alice', kind: 'chat', verdict: 'allowed', by: 'chat' });
        assert.equal(JSON.parse(body).payload.text, `hello ${count - 1}`);
        assert.match(hash, /^[0-9a-f]{64}$/);
        assert.ok(Math.abs(Date.parse(time) - Date.now()) < 3600_000);
        await daemon.until(() => daemon.heads.length > 0);
        assert.match(daemon.heads[0].hash, /^[0-9a-f]{64}$/);
    });

test('export: OTLP: every record, in order, with what it says', async () => {
    const collector = keep(await otlpCollector());
    const gateway = await start({ otlp: collector.option });
    const id = await talk(gateway, 2000);

    await collector.until(has(id));
    assertWhole(collector.records);
    const { severityText, event, topic, participant, kind, verdict, by, body } =
        collector.records.find((record) => record.id === id);
    assert.deepEqual({ severityText, event, topic, participant, kind, verdict, by },
        { severityText: 'INFO', event: 'envelope', topic: 'room', participant: 'alice', kind: 'chat', verdict: 'allowed', by: 'chat' });
    assert.equal(JSON.parse(body).payload.text, 'hello 1999');
    for (const { method, url, headers, resource, records } of collector.requests) {
        assert.deepEqual([method, url, headers['content-type']], ['POST', '/v1/logs', 'application/json']);
        assert.equal(resource['service.name'], 'moot');
        assert.ok(records.length <= 512);
    }
});

test('export: refusals weigh more, and hostile texts stay in their place', async () => {
    const daemon = keep(await syslogOver('tcp'));
    const collector = keep(await otlpCollector());
    const gateway = await start({ syslog: daemon.option, otlp: collector.option });
    const alice = await gateway.join('alice');
    const hostile = 'a"]\\ <34>1 - forged \u{1F600}';
    const payload = { text: `${hostile}\n\u0000\u009b` };

    alice.send({ protocol: 'mcpx/v0.1', id: hostile, from: 'alice', kind: 'secret/x', payload });
    await expect(alice, (json) => json.kind === 'system/error');
    const isIt = (record) => record.event === 'refusal' && record.kind === 'secret/x';
    await daemon.until((records) => records.some(isIt));
    await collector.until((records) => records.some(isIt));
    const [fromSyslog] = daemon.records.filter(isIt);
    assert.deepEqual([fromSyslog.pri, fromSyslog.verdict], [108, 'capability_violation']);
    assert.equal(fromSyslog.id, hostile);
    assert.deepEqual(JSON.parse(fromSyslog.body).payload, payload);
    const [fromOtlp] = collector.records.filter(isIt);
    assert.deepEqual([fromOtlp.severityText, fromOtlp.id], ['WARN', hostile]);
    assert.deepEqual(JSON.parse(fromOtlp.body).payload, payload);
});

test('export: the first time begins at the head of that moment, later where it stopped', async () => {
    const collector = keep(await otlpCollector());
    let gateway = await startGateway(base);
    const before = await talk(gateway, 5);

    await gateway.kill();
    fs.writeFileSync(gateway.config, JSON.stringify({ ...base, audit: { otlp: collector.option } }));
    gateway = await gateway.restart();
    const after = await talk(gateway, 5);
    await collector.until(has(after));
    assert.ok(!has(before)(collector.records));
    const first = collector.records[0].seq;
    // Without a collector for a while: what is said meanwhile is sent later.
    await gateway.kill();
    fs.writeFileSync(gateway.config, JSON.stringify(base));
    gateway = await gateway.restart();
    const meanwhile = await talk(gateway, 5);
    await gateway.kill();
    fs.writeFileSync(gateway.config, JSON.stringify({ ...base, audit: { otlp: collector.option } }));
    gateway = keep(await gateway.restart());
    await collector.until(has(meanwhile));
    assertWhole(collector.records, { mayRepeat: true });
    assert.equal(collector.records[0].seq, first);
});

for (const kind of ['tcp', 'unix', 'otlp'])
    test(`export: ${kind}: nothing is missing when gateway and receiver are killed and come back`, async () => {
        const receiver = keep(kind === 'otlp' ? await otlpCollector() : await syslogOver(kind));
        const audit = kind === 'otlp' ? { otlp: receiver.option } : { syslog: receiver.option };
        let gateway = await startGateway({ ...base, audit });
        let id;

        try {
            for (let round = 0; round < 3; round++) {
                id = await talk(gateway, 300, `round ${round}`);
                if (round === 1)
                    await receiver.stop();
                id = await talk(gateway, 300, `more ${round}`);
                await gateway.kill();
                gateway = await gateway.restart();
                if (round === 1)
                    await receiver.start();
            }
        } finally {
            open.push(gateway);
        }
        await receiver.until(has(id));
        assertWhole(receiver.records, { mayRepeat: true });
        assert.equal(new Set(receiver.records.map((record) => record.seq)).size,
            receiver.records.at(-1).seq - receiver.records[0].seq + 1);
    });

test('export: syslog: what a daemon had not read when its connection broke is sent again', async () => {
    const daemon = keep(await syslogOver('tcp', { pauses: true }));
    const gateway = await start({ syslog: daemon.option });
    const id = await talk(gateway, 20);
    await until(async () => await metric(gateway, 'moot_export_syslog_records_total') >= 20, 'the records leave');
    await daemon.stop(); // with all of it unread: a reset
    daemon.pauses = false;
    await daemon.start();
    await daemon.until(has(id));
    assertWhole(daemon.records, { mayRepeat: true });
});

test('export: a collector that is dead, silent or does not read slows nobody', async () => {
    const daemon = keep(await syslogOver('tcp', { pauses: true }));
    const collector = keep(await otlpCollector());

    collector.answer = () => undefined;
    const gateway = await start({ syslog: daemon.option, otlp: collector.option });
    await talk(gateway, 5000, 'x'.repeat(200));
    // The talk is over when it is on disk; the store looks at what is to be sent a little later.
    await until(async () => await metric(gateway, 'moot_export_otlp_lag_records') > 0, 'something waits for the collector');
    assert.equal(await metric(gateway, 'moot_export_otlp_records_total'), 0);
});

test('export: OTLP: what is refused for ever is counted and passed over, all else is tried again', async () => {
    const collector = keep(await otlpCollector());
    const statuses = [503, 429, 401, 302];

    collector.answer = ({ records }) => {
        if (records.some(({ body }) => body?.includes('poison')))
            return { status: 400 };
        return { status: statuses.shift() ?? 200, headers: { Location: '/elsewhere' } };
    };
    const gateway = await start({ otlp: collector.option });
    const first = await talk(gateway, 1);
    await collector.until(has(first));
    assert.ok(collector.requests.every(({ url }) => url === '/v1/logs'));
    const poison = await talk(gateway, 1, 'poison');
    await gateway.logged(/event=export\.reject to=otlp .*reason="?status 400/);
    const last = await talk(gateway, 1);
    await collector.until(has(last));
    assert.ok(!has(poison)(collector.records));
    const { text } = await gateway.request('GET /metrics', { token: 'boss-token' });
    assert.match(text, /^moot_export_otlp_failures_total 4$/m);
    assert.match(text, /^moot_export_otlp_rejected_total [1-9]/m);
    await gateway.logged(/event=export\.fail to=otlp reason="status 503"/);
});

test('export: OTLP: partial success and requests that are too large', async () => {
    const collector = keep(await otlpCollector());

    collector.answer = ({ records }) => (records.length > 20 ? { status: 413 }
        : { status: 200, body: { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'no' } } });
    const gateway = await start({ otlp: collector.option });
    const id = await talk(gateway, 100);
    await collector.until(has(id));
    assertWhole(collector.records);
    const { text } = await gateway.request('GET /metrics', { token: 'boss-token' });
    assert.match(text, /^moot_export_otlp_rejected_total [1-9]/m);
    assert.match(text, /^moot_export_otlp_failures_total 0$/m);
});

test('export: OTLP: headers come from their file, a reload brings others, and none is logged', async () => {
    const collector = keep(await otlpCollector());
    const gateway = keep(await startGateway(base));
    const headers = path.join(path.dirname(gateway.config), 'headers');
    const reload = () => gateway.request('POST /admin/reload', { token: 'boss-token' });

    fs.writeFileSync(headers, 'Authorization: Bearer one\n', { mode: 0o600 });
    fs.writeFileSync(gateway.config, JSON.stringify({ ...base, audit: { otlp: collector.option, otlp_headers_file: 'headers' } }));
    assert.deepEqual((await reload()).json, { reloaded: true });
    await collector.until(has(await talk(gateway, 1)));
    assert.equal(collector.requests.at(-1).headers.authorization, 'Bearer one');
    fs.writeFileSync(headers, 'Authorization: Bearer two\n');
    await reload();
    await collector.until(has(await talk(gateway, 1)));
    assert.equal(collector.requests.at(-1).headers.authorization, 'Bearer two');
    fs.writeFileSync(headers, 'sesame\n');
    const { status, text } = await reload();
    assert.equal(status, 409);
    assert.match(text, /otlp_headers_file: line 1/);
    assert.doesNotMatch(text + gateway.stderr(), /sesame|Bearer/);
    assertWhole(collector.records);
});

test('export: https: only to who has a certificate that is trusted', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-tls-'));

    try {
        const { certificate, key } = makeCertificate(folder);
        const tls = { key: fs.readFileSync(key), cert: fs.readFileSync(certificate) };
        const collector = keep(await otlpCollector(tls));
        const wary = await start({ otlp: collector.option });

        await talk(wary, 1);
        await wary.logged(/event=export\.fail to=otlp reason="SSL/);
        assert.equal(collector.requests.length, 0);
        const trusting = await start({ otlp: collector.option }, { env: { SSL_CERT_FILE: certificate } });
        await collector.until(has(await talk(trusting, 1)));
    } finally {
        fs.rmSync(folder, { recursive: true, force: true });
    }
});
