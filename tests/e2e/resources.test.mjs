// SPDX-License-Identifier: Apache-2.0
// /admin/resources: the directory as administrators keep it, on both engines. One resource,
// pages of what is found, all of it as rows, and imports that are all or nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { expect, people, person, startGateway, within } from './gateway.mjs';
import { missing, startPostgres } from './postgres.mjs';

const ann = {
    id: 'ann', kind: 'human', name: 'Ann Meier', role: 'Backend developer', skills: ['Python', 'FastAPI'],
    availability: 'full-time', location: 'Zürich', rate: { amount: 120.5, currency: 'CHF', per: 'hour' },
    languages: ['de', 'en'], time_zone: 'Europe/Zurich', profile: 'Payments.\n"Tests", too.', participant: 'ann', invite: 'ask',
};
const bare = (json) => { const { updated_at: _, ...rest } = json; return rest; };
const lines = (rows) => rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');

function suite(name, start, options = {}) {
    describe(name, options, () => {
        let gateway, token;
        let finish = async () => {};
        const ask = (line, more = {}) => gateway.request(line, { token, ...more });
        const one = (id) => `/admin/resources/${encodeURIComponent(id)}`;
        const send = (type, body, query = '') =>
            ask(`POST /admin/resources/import${query}`, { body, headers: { 'Content-Type': type } });
        const importLines = (rows, query) => send('application/x-ndjson', lines(rows), query);
        const exported = (type) => ask('GET /admin/resources', { headers: { Accept: type } });
        const all = async () => (await exported('application/x-ndjson')).text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
        const clear = async () => {
            for (const { id } of await all())
                assert.equal((await ask(`DELETE ${one(id)}`)).status, 200);
        };
        const settled = async () => { // no import is under way any more
            while ((await ask(`DELETE ${one('nobody')}`)).status === 409)
                await pause(20);
        };
        const busy = async () => { // one is
            while ((await ask(`DELETE ${one('nobody')}`)).status !== 409)
                await pause(10);
        };
        // An upload whose body comes as the test says.
        const upload = (headers = {}) => {
            const req = http.request({ host: gateway.host, port: gateway.port, method: 'POST', path: '/admin/resources/import',
                headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson', ...headers } });
            req.on('error', () => {});
            req.write('\n');
            return req;
        };
        const person_ = (i) => JSON.stringify({ id: `p${i}`, kind: 'human', name: `Person ${i}`, profile: 'x'.repeat(300) });
        const write = async (req, from, to) => {
            for (let i = from; i < to; i += 500) {
                const rows = Array.from({ length: Math.min(500, to - i) }, (_, k) => person_(i + k));
                if (!req.write(`${rows.join('\n')}\n`))
                    await within(once(req, 'drain'), 'the server to read');
            }
        };

        before(async () => {
            const { settings, remove } = await start();
            gateway = await startGateway(settings);
            finish = async () => { finish = async () => {}; await gateway.stop(); await remove?.(); };
            token = gateway.adminToken();
        });
        after(() => finish());

        test('one is put, shown, changed in part, and removed', async () => {
            const put = await ask(`PUT ${one('ann')}`, { json: bare(ann) });
            assert.equal(put.status, 201, put.text);
            assert.deepEqual(bare(put.json), ann);
            assert.match(put.text, /"amount":120\.5,/);
            assert.ok(Math.abs(Date.parse(put.json.updated_at) - Date.now()) < 60_000);
            assert.equal((await ask(`PUT ${one('ann')}`, { json: { kind: 'human', name: 'Ann' } })).status, 200);
            assert.deepEqual(bare((await ask(`GET ${one('ann')}`)).json), { id: 'ann', kind: 'human', name: 'Ann', invite: 'auto' });

            const changed = await ask(`PATCH ${one('ann')}`, { json: { role: 'tester', skills: ['C'], rate: 10 } });
            assert.equal(changed.status, 200, changed.text);
            assert.deepEqual(bare(changed.json), { id: 'ann', kind: 'human', name: 'Ann', role: 'tester', skills: ['C'],
                rate: { amount: 10, per: 'hour' }, invite: 'auto' });
            const less = await ask(`PATCH ${one('ann')}`, { json: { role: null, rate: null, skills: [] } });
            assert.deepEqual(bare(less.json), { id: 'ann', kind: 'human', name: 'Ann', invite: 'auto' });

            assert.deepEqual((await ask(`DELETE ${one('ann')}`)).json, { removed: 'ann' });
            for (const line of ['GET', 'DELETE'])
                assert.equal((await ask(`${line} ${one('ann')}`)).status, 404);
            assert.equal((await ask(`PATCH ${one('ann')}`, { json: {} })).status, 404);
        });

        test('one is added, with an id of its own or a new one', async () => {
            const added = await ask('POST /admin/resources', { json: { kind: 'agent', name: 'Bot' } });
            assert.equal(added.status, 201, added.text);
            assert.match(added.json.id, /^r-[0-9a-f]{16}$/);
            assert.equal((await ask(`GET ${one(added.json.id)}`)).json.name, 'Bot');
            assert.equal((await ask('POST /admin/resources', { json: ann })).status, 201);
            assert.equal((await ask('POST /admin/resources', { json: ann })).status, 409);
            await clear();
        });

        test('what is wrong is named with its field, and changes nothing', async () => {
            await ask(`PUT ${one('ann')}`, { json: ann });
            for (const [line, json, field, detail] of [
                [`PUT ${one('ann')}`, { name: 'x' }, 'kind', 'kind is missing.'],
                [`PUT ${one('ann')}`, { kind: 'human', name: 'x', salary: 1 }, 'salary', 'salary is unknown.'],
                [`PUT ${one('ann')}`, { kind: 'human', name: 'x', skills: ['a', 'A'] }, 'skills', 'skills[2] stands there twice.'],
                [`PUT ${one('ann')}`, { id: 'bob', kind: 'human', name: 'x' }, undefined, 'The body has another id than the path.'],
                [`PUT ${one('system:x')}`, { kind: 'human', name: 'x' }, 'id', 'id is a name of the gateway itself.'],
                ['POST /admin/resources', { id: 'a/b', kind: 'human', name: 'x' }, 'id', 'id contains a slash.'],
                [`PATCH ${one('ann')}`, { name: null }, 'name', 'name is missing.'],
                [`PATCH ${one('ann')}`, { id: 'bob' }, 'id', 'id stays.'],
                [`PATCH ${one('ann')}`, { rate: { amount: -1 } }, 'rate', 'rate must not be below 0.'],
                [`PATCH ${one('ann')}`, [], undefined, 'The body is a JSON object of what changes.'],
                ['GET /admin/resources?max_rate=x', undefined, 'max_rate'],
                ['GET /admin/resources?cursor=x', undefined, 'cursor'],
                ['GET /admin/resources?kind=robot', undefined, 'kind'],
                ['GET /admin/resources?limit=0', undefined, undefined],
                ['GET /admin/resources?limit=101', undefined, undefined],
                ['GET /admin/resources?limit=1&limit=1', undefined, undefined],
                ['GET /admin/resources?query=a&query=b', undefined, undefined],
                ['GET /admin/resources?skils=a', undefined, undefined],
                [`GET /admin/resources?skills=${'a,'.repeat(17)}`, undefined, 'skills'],
            ]) {
                const answer = await ask(line, { json });
                assert.equal(answer.status, 400, `${line}: ${answer.text}`);
                assert.equal(answer.json.field, field, `${line}: ${answer.text}`);
                if (detail)
                    assert.equal(answer.json.detail, detail);
            }
            assert.equal((await ask(`PUT ${one('ann')}`, { body: '{', headers: { 'Content-Type': 'application/json' } })).status, 400);
            assert.deepEqual((await all()).map(bare), [ann]);
            await clear();
        });

        test('only administrators come near it', async () => {
            const rights = [[undefined, 401], ['nobody-token', 401], ['full-token', 403], ['alice-token', 403]];
            for (const [who, status] of rights)
                for (const line of ['GET /admin/resources', 'POST /admin/resources', 'POST /admin/resources/import',
                    `GET ${one('ann')}`, `PUT ${one('ann')}`, `PATCH ${one('ann')}`, `DELETE ${one('ann')}`]) {
                    const answer = await gateway.request(line, { token: who, json: ann });
                    assert.equal(answer.status, status, `${line} as ${who}: ${answer.text}`);
                }
            assert.deepEqual(await all(), []);
            const { status, headers } = await ask('DELETE /admin/resources');
            assert.deepEqual([status, headers.allow], [405, 'GET, HEAD, POST, OPTIONS']);
        });

        test('who fits is found, with a reason, page by page', async () => {
            const rows = [ann, { id: 'bob', kind: 'human', name: 'Bob', role: 'Tester', skills: ['Python'], availability: 'part-time', rate: 20 },
                { id: 'bot', kind: 'agent', name: 'Build bot', skills: ['Docker'], availability: 'full-time' }];
            assert.equal((await importLines(rows)).status, 200);
            const found = async (query) => (await ask(`GET /admin/resources?${new URLSearchParams(query)}`)).json;
            const ids = async (query) => (await found(query)).resources.map(({ resource }) => resource.id);

            const { resources } = await found({ query: 'python developers with experience' });
            assert.deepEqual(resources.map(({ resource }) => resource.id), ['ann', 'bob']);
            assert.deepEqual(bare(resources[0].resource), ann);
            assert.deepEqual(resources[0].reason, { words: ['python', 'developers'], skills: ['Python'] });
            assert.ok(resources[0].score > resources[1].score);
            assert.deepEqual(await ids({ skills: 'python,fastapi' }), ['ann']);
            assert.deepEqual(await ids({ kind: 'agent' }), ['bot']);
            assert.deepEqual(await ids({ availability: 'part-time' }), ['bob']);
            assert.deepEqual(await ids({ location: 'zur' }), ['ann']);
            assert.deepEqual(await ids({ max_rate: '50' }), ['bob']);
            assert.deepEqual((await ids({ })).sort(), ['ann', 'bob', 'bot']);
            const seen = [];
            for (let cursor = ''; cursor !== undefined;) {
                const page = await found({ limit: 1, ...(cursor ? { cursor } : {}) });
                seen.push(...page.resources.map(({ resource }) => resource.id));
                cursor = page.next;
            }
            assert.deepEqual(seen.sort(), ['ann', 'bob', 'bot']);
            await clear();
        });

        test('rows of either sort are taken and given, and come back as they were', async () => {
            const rows = [ann, { id: '=1+1', kind: 'agent', name: '<script>\u202e"x",\u0301', skills: ['a;b', ' c', '[d'], profile: '\r\n\t' }];
            const taken = await importLines(rows);
            assert.deepEqual([taken.status, taken.json], [200, { rows: 2, added: 2, replaced: 0, dry_run: false }], taken.text);
            const csv = await exported('text/csv');
            assert.match(csv.headers['content-type'], /^text\/csv/);
            assert.match(csv.text, /^id,kind,name,role,skills,availability,location,rate,currency,per,languages,time_zone,profile,participant,invite,updated_at\r\n/);
            const before = (await all()).map(bare);
            assert.deepEqual(before, [{ invite: 'auto', ...rows[1] }, ann]);
            await clear();
            const again = await send('text/csv; charset=utf-8', csv.text);
            assert.deepEqual(again.json, { rows: 2, added: 2, replaced: 0, dry_run: false }, again.text);
            assert.deepEqual((await all()).map(bare), before);
            assert.deepEqual((await importLines([ann, { id: 'new', kind: 'agent', name: 'N' }, { kind: 'agent', name: 'no id' }])).json,
                { rows: 3, added: 2, replaced: 1, dry_run: false });
            assert.equal((await importLines([])).json.rows, 0);
            await clear();
        });

        test('a dry run tells what would be, and does nothing', async () => {
            assert.deepEqual((await importLines([ann], '?dry_run=true')).json, { rows: 1, dry_run: true });
            assert.equal((await importLines([ann, ann], '?dry_run=true')).json.bad_rows, 1);
            assert.deepEqual(await all(), []);
            for (const query of ['?dry_run=maybe', '?dry_run', '?dry=true', '?dry_run=true&dry_run=true'])
                assert.equal((await importLines([ann], query)).status, 400);
            for (const type of ['application/json', 'text/plain', ''])
                assert.equal((await send(type, '')).status, 415);
        });

        test('one bad row: nothing is taken, and every bad one has its place', async () => {
            const { status, json } = await importLines([ann, { kind: 'human' }, '', '{"kind":}', { ...ann, name: 'twice' }, '[]',
                { kind: 'human', name: 'x', skills: ['ä', 'b', 'B'] }, { kind: 'human', name: 'a\u0000b' }]);
            assert.equal(status, 400);
            assert.deepEqual([json.rows, json.bad_rows, json.detail], [7, 6, '6 of 7 rows cannot be taken; nothing was changed.']);
            assert.deepEqual(json.problems, [
                { row: 2, line: 2, column: 1, field: 'name', message: 'name is missing' },
                { row: 3, line: 4, column: 9, message: 'the row is not JSON: expected a value' },
                { row: 4, line: 5, column: 1, field: 'id', message: 'id stands in a row above as well' },
                { row: 5, line: 6, column: 1, message: 'the row must be an object' },
                { row: 6, line: 7, column: 46, field: 'skills', message: 'skills[3] stands there twice' },
                { row: 7, line: 8, column: 24, field: 'name', message: 'name contains a control character' },
            ]);
            const csv = await send('text/csv', 'id,kind,name,rate\r\na,human,Ann,\r\nb,robot,Bob,\r\nc,human,"C\r\nD",1x\r\nd,human\r\n');
            assert.deepEqual(csv.json.problems.map(({ line, column, message }) => `${line}:${column} ${message}`), [
                '3:3 kind must be human or agent',
                '5:4 rate must be a number, such as 120.50',
                '6:1 the row has 2 cells, the header has 4',
            ]);
            const header = await send('text/csv', 'id,kind,nmae\r\na,human,x\r\n');
            assert.deepEqual([header.json.rows, header.json.problems], [0,
                [{ row: 0, line: 1, column: 9, field: 'nmae', message: 'nmae is not a field of a resource' }]]);
            const many = await importLines(Array.from({ length: 250 }, () => '{}'));
            assert.deepEqual([many.json.bad_rows, many.json.problems.length], [250, 100]);
            assert.deepEqual(await all(), []);
        });

        test('a bad row at the end of many takes back all of them', async () => {
            const rows = Array.from({ length: 5000 }, (_, i) => person_(i));
            const { json } = await importLines([...rows, '{"kind":"human"}', ...rows.slice(0, 3)]);
            assert.deepEqual(json.problems.map(({ row, message }) => `${row} ${message}`),
                ['5001 name is missing', ...[2, 3, 4].map((i) => `500${i} id stands in a row above as well`)]);
            assert.deepEqual(await all(), []);
        });

        test('an import that is broken off leaves nothing; meanwhile the old is read and nobody writes', async () => {
            await ask(`PUT ${one('ann')}`, { json: ann });
            const talker = await gateway.join('alice');
            const req = upload();

            await write(req, 0, 20_000);
            await within(busy(), 'the import to begin');
            assert.equal((await ask(`PATCH ${one('ann')}`, { json: {} })).status, 409);
            assert.equal((await ask(`PUT ${one('new')}`, { json: { kind: 'human', name: 'x' } })).status, 409);
            assert.equal((await ask(`DELETE ${one('ann')}`)).status, 409);
            assert.equal((await importLines([ann])).status, 409);
            assert.deepEqual((await all()).map(bare), [ann]);
            const { id } = talker.chat('while it runs');
            await expect(talker, (json) => json.id === id);
            await talker.close();
            // What else is kept durably is written meanwhile.
            const team = await within(ask('POST /admin/teams', { json: { name: 'Falcon', resources: ['ann'] } }), 'a team');
            assert.equal(team.status, 201);
            assert.equal((await within(ask(`DELETE /admin/teams/${team.json.team_id}`), 'its end')).status, 200);
            req.destroy();
            await within(settled(), 'the import to be given up');
            assert.deepEqual((await all()).map(bare), [ann]);
            await clear();
        });

        test('a body that comes slowly, in chunks cut anywhere, is one import', async () => {
            const req = upload();
            const answered = once(req, 'response');
            const text = `${person_(1)}\r\n${person_(2)}\n${person_(3)}`;

            for (let at = 0; at < text.length; at += 97) {
                req.write(text.slice(at, at + 97));
                await pause(2);
            }
            req.end();
            const [res] = await within(answered, 'the answer');
            let body = '';
            for await (const part of res)
                body += part;
            assert.deepEqual(JSON.parse(body), { rows: 3, added: 3, replaced: 0, dry_run: false });
            assert.equal((await all()).length, 3);
            await clear();
        });

        // A connection by hand: what comes back on it until it closes.
        const raw = async (...pieces) => {
            const socket = net.connect(gateway.port, gateway.host);
            let text = '';

            socket.on('error', () => {});
            socket.on('data', (part) => { text += part; });
            socket.write(`POST /admin/resources/import HTTP/1.1\r\nHost: ${gateway.host}:${gateway.port}\r\nAuthorization: Bearer ${token}\r\n`
                + 'Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n');
            for (const piece of pieces)
                socket.write(piece);
            await within(once(socket, 'close'), 'the end of the connection');
            return text;
        };
        const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

        test('broken chunks, and a body that stops coming, end it', async () => {
            const rows = lines(Array.from({ length: 2000 }, (_, i) => person_(i)));

            assert.match(await raw(chunk(rows), 'zz\r\n'), /^HTTP\/1\.1 400 [^]*The chunks of the body are malformed/);
            await settled();
            assert.match(await raw(chunk(rows), '5\r\n{'), /^HTTP\/1\.1 408 [^]*took too long/);
            await settled();
            assert.deepEqual(await all(), []);
        });

        test('a token that is revoked on the way has imported nothing', async () => {
            const made = await ask('POST /admin/tokens', { json: { id: 'temp', name: 'temp-1', profile: 'admin', topics: ['*'] } });
            assert.equal(made.status, 201, made.text);
            const req = upload({ Authorization: `Bearer ${made.json.token}` });
            const answered = once(req, 'response');

            await write(req, 0, 2000);
            await within(busy(), 'the import to begin');
            assert.equal((await ask('DELETE /admin/tokens/temp-1')).status, 200);
            const drip = setInterval(() => req.write('\n'), 50); // the end of the body is not waited for
            const [res] = await within(answered, 'the answer').finally(() => clearInterval(drip));
            res.resume();
            assert.equal(res.statusCode, 401);
            req.destroy();
            await within(settled(), 'the import to be given up');
            assert.deepEqual(await all(), []);
        });

        test('what follows an import on its connection is answered; what is refused before its body closes it', async () => {
            const head = (more) => `POST /admin/resources/import?dry_run=true HTTP/1.1\r\nHost: ${gateway.host}:${gateway.port}\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;
            const speak = async (text) => {
                const socket = net.connect(gateway.port, gateway.host);
                let heard = '';

                socket.on('error', () => {});
                socket.on('data', (part) => { heard += part; });
                socket.write(text);
                await within(once(socket, 'close'), 'the end of the connection');
                return heard.match(/HTTP\/1\.1 \d+/g).map((line) => line.slice(9)).join(' ');
            };
            const rows = `${person_(1)}\n${person_(2)}\n`;
            const sized = head(`Content-Type: application/x-ndjson\r\nContent-Length: ${rows.length}\r\n`) + rows;
            const chunked = head('Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n') + chunk(rows) + '0\r\n\r\n';
            const last = `GET /healthz HTTP/1.1\r\nHost: ${gateway.host}:${gateway.port}\r\nConnection: close\r\n\r\n`;

            assert.equal(await speak(sized + chunked + sized + last), '200 200 200 200');
            assert.equal(await speak(head('Content-Type: text/plain\r\nContent-Length: 1000000\r\n') + rows + last), '415');
            assert.equal(await speak(head('Content-Type: application/x-ndjson\r\nExpect: 100-continue\r\nContent-Length: 0\r\nConnection: close\r\n')), '200');
        });

        test('a killed gateway has all of an import or nothing', async () => {
            await ask(`PUT ${one('ann')}`, { json: ann });
            const req = upload();
            await write(req, 0, 20_000);
            await within(busy(), 'the import to begin');
            await gateway.kill();
            req.destroy();
            gateway = await gateway.restart();
            assert.deepEqual((await all()).map(bare), [ann]);
            assert.equal((await importLines([person_(1)])).status, 200);
            await clear();
        });

        test('what was done stands in the record', async () => {
            await ask(`PUT ${one('ann')}`, { json: ann });
            await importLines([person_(1)]);
            await ask(`DELETE ${one('ann')}`);
            const kinds = async () => (await ask('GET /admin/audit?event=admin&limit=50&order=newest')).json.records.map(({ kind }) => kind);
            for (const kind of ['resource.put', 'resource.import', 'resource.remove'])
                await within((async () => { while (!(await kinds()).includes(kind)) await pause(50); })(), kind);
            await clear();
        });

        test('an export to a token that is revoked on the way breaks off', async () => {
            const rows = Array.from({ length: 1000 }, (_, i) => ({ id: `b${i}`, kind: 'human', name: 'x', profile: 'y'.repeat(16_000) }));
            assert.equal((await importLines(rows)).status, 200);
            const made = await ask('POST /admin/tokens', { json: { id: 'temp', name: 'temp-2', profile: 'admin', topics: ['*'] } });
            const req = http.get({ host: gateway.host, port: gateway.port, path: '/admin/resources',
                headers: { Authorization: `Bearer ${made.json.token}`, Accept: 'application/x-ndjson' } });
            const [res] = await within(once(req, 'response'), 'the answer');

            assert.equal(res.statusCode, 200);
            assert.equal((await ask('DELETE /admin/tokens/temp-2')).status, 200);
            res.resume();
            await assert.rejects(within(once(res, 'end'), 'the end'), { code: 'ECONNRESET' });
            assert.equal((await exported('application/x-ndjson')).text.trim().split('\n').length, 1000);
        });

        test('the gateway stops while an import is under way', async () => {
            const req = upload();
            await write(req, 0, 5_000);
            await finish();
            req.destroy();
        });
    });
}

const config = { tokens: [...people('alice'), person('full', { profile: 'full' })], limits: { login_failures: 0, body_timeout: '2s' } };

suite('SQLite', async () => ({ settings: config }));

suite('PostgreSQL', async () => {
    const postgres = await startPostgres();
    return { settings: { ...config, store: postgres.url }, remove: () => postgres.remove() };
}, { skip: missing });
