// SPDX-License-Identifier: Apache-2.0
// The worked table of docs/PROTOCOL.md: every case of tests/policy/cases.json is put to a gateway
// and to `moot explain`, and the table is written from the same cases. UPDATE_DOCS=1 writes it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { envelope, person, program, startGateway } from './gateway.mjs';

const at = (name) => new URL(`../../${name}`, import.meta.url);
const groups = JSON.parse(fs.readFileSync(at('tests/policy/cases.json'), 'utf8'));
const cases = groups.flatMap(({ title, cases: rows }) => rows.map((row) => ({ title, ...row })));
const POLICY = ['capability_violation', 'reserved_namespace', 'malformed_kind', 'kind_payload_mismatch'];

let gateway;

before(async () => {
    gateway = await startGateway({
        topics: { named: { strict: { validation: 'strict' } } },
        tokens: cases.map(({ capabilities }, i) => person(`p${i}`, { capabilities })),
    });
});
after(async () => { await gateway.stop(); });

// The payload of a case is its own, or one that says what the kind says.
function payloadOf({ kind, payload, raw }) {
    const [, operation, method] = /^mcp.(request|proposal|response)[:.]([^:]+)/.exec(kind) ?? [];

    if (raw)
        return raw;
    if (payload)
        return JSON.stringify(payload);
    if (operation === 'response')
        return '{"result":{}}';
    return JSON.stringify(method ? { method, params: contextOf(kind, method) } : {});
}

function contextOf(kind, method) {
    const context = kind.slice(kind.indexOf(method) + method.length + 1);
    return { [method.startsWith('resources/') ? 'uri' : 'name']: context };
}

function textOf(row, id) {
    const needsCause = /^mcpx?.(response|approve|withdraw|reject)/.test(row.kind);
    const whole = envelope(id, row.kind, {
        ...(row.dialect === 'dotted' && { protocol: 'mcpx/draft' }),
        ...(needsCause && { correlation_id: 'none' }),
        payload: 'PAYLOAD',
    });

    return [whole.id, JSON.stringify(whole).replace('"PAYLOAD"', () => payloadOf(row))];
}

const wanted = ({ verdict, error }) => ({ allowed: 'none', denied: 'capability_violation', refused: error })[verdict];

for (const [i, row] of cases.entries())
    test(`${row.title}: ${row.kind} under ${JSON.stringify(row.capabilities)} is ${row.verdict}: ${row.why}`, async () => {
        const topic = row.validation === 'strict' ? 'strict' : `lazy-${i}`;
        const client = await gateway.join(`p${i}`, { topic, ...(row.dialect && { dialect: row.dialect }) });
        const [id, text] = textOf(row, `p${i}`);

        client.send(text);
        // A command to oneself has no answer: what follows it is then the first.
        if (row.kind === 'participant/routing')
            client.send(envelope(`p${i}`, 'chat', { id }));
        const got = await client.next();
        assert.ok(got.id === id || got.correlation_id === id, JSON.stringify(got));
        const { error } = got.payload;
        assert.equal(POLICY.includes(error) ? error : 'none', wanted(row), JSON.stringify(got));
        await client.close();
    });

test('moot explain gives the same verdicts', () => {
    for (const [i, row] of cases.entries()) {
        const [, text] = textOf(row, `p${i}`);
        const args = ['explain', '--envelope', '-', '--json', '--capabilities', JSON.stringify(row.capabilities),
            ...(row.validation === 'strict' ? ['--strict'] : [])];
        let said;

        try {
            said = execFileSync(program, args, { input: text, encoding: 'utf8' });
        } catch (error) {
            said = error.stdout;
        }
        const { allowed, error = 'none' } = JSON.parse(said);
        assert.equal(allowed, row.verdict === 'allowed', `${row.kind}: ${said}`);
        assert.equal(error, wanted(row), `${row.kind}: ${said}`);
    }
});

// --- the table ---

const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;

function cells(row) {
    const shown = row.raw ?? (row.payload ? JSON.stringify(row.payload) : '');
    const held = row.capabilities.map((held) => code(typeof held === 'string' ? held : JSON.stringify(held)));
    const where = row.validation === 'strict' ? 'strict: ' : '';

    return [where + code(row.kind), ...(row.hasPayload ? [shown && code(shown)] : []), held.join(', ') || 'nothing',
        row.verdict + (row.error ? ` (${code(row.error)})` : ''), row.why];
}

function tableOf({ title, cases: rows }) {
    const hasPayload = rows.some(({ payload, raw }) => payload?.method || payload?.result || raw);
    const head = ['kind', ...(hasPayload ? ['payload'] : []), 'held', 'verdict', 'why'];
    const lines = [head, head.map(() => '---'), ...rows.map((row) => cells({ ...row, hasPayload }))];

    return `**${title}**\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
}

test('docs/PROTOCOL.md holds the table of these cases', () => {
    const file = at('docs/PROTOCOL.md');
    const block = /(?<=^<!-- tests\/policy\/cases.json -->\n\n)[^]*?(?=^<!-- end -->$)/m;
    const table = `${groups.map(tableOf).join('\n')}\n`;

    if (process.env.UPDATE_DOCS)
        fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(block, () => table));
    assert.equal(block.exec(fs.readFileSync(file, 'utf8'))?.[0], table);
});
