// SPDX-License-Identifier: Apache-2.0
// moot team: teams at the command line, for people and for scripts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';

let gateway;

before(async () => {
    gateway = await startGateway({ directory: { max_teams_each: 2000 }, tokens: [person('ann', { capabilities: [] }), person('cleo', { capabilities: [] })] });
    for (const [id, more] of [['ann', {}], ['bob', {}], ['cleo', { invite: 'ask' }]])
        await gateway.request(`PUT /admin/resources/${id}`, { token: gateway.adminToken(),
            json: { kind: 'human', name: `${id} bold`, participant: id, ...more } });
});
after(() => gateway?.stop());

const run = (args, env = {}) => moot(null, null, ['team', ...args], { env: { MOOT_DATA: gateway.data, ...env } });
async function good(args, env) {
    const { status, stdout, stderr } = await run(args, env);

    assert.deepEqual([status, stderr], [0, ''], stdout);
    return stdout;
}
async function bad(code, pattern, args, env) {
    const { status, stdout, stderr } = await run(args, env);

    assert.deepEqual([status, stdout], [code, ''], stderr);
    assert.match(stderr, pattern);
}

test('moot team list: where there is none it says so', async () => {
    const { status, stdout, stderr } = await run(['list']);

    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, /^There is no team; /);
    assert.equal(await good(['list', '--json']), '');
});

test('moot team: from creation to the end', async () => {
    const team = JSON.parse(await good(['create', 'Falcon', 'ann', 'cleo', '--contract', 'c-1', '--json']));
    const id = team.team_id;

    assert.equal(team.contract_id, 'c-1');
    assert.match(await good(['list']), new RegExp(`^TEAM {16}NAME {4}STATE {3}MEMBERS {2}CREATOR\n${id} {2}Falcon {2}active {2}1 {8}\\S+\n$`));
    const shown = await good(['show', id]);
    assert.match(shown, new RegExp(`^team +${id}\nname +Falcon\ncontract +c-1\nstate +active\n`));
    assert.match(shown, /\nmembers {7}ann {3}ann bold {3}member\n {14}cleo {2}cleo bold {2}invited\n/);
    assert.match(await good(['add', id, 'bob']), / bob +bob bold +member/);
    assert.match(await good(['remove', id, 'bob', 'ann']), / ann +ann bold +removed[^]* bob +bob bold +removed/);
    assert.match(await good(['rename', id, 'Eagle']), /\nname +Eagle\n/);
    assert.match(await good(['accept', id, '--for', 'cleo']), / cleo +cleo bold +member/);
    assert.match(await good(['decline', id, '--for', 'cleo']), / cleo +cleo bold +left/);
    assert.match(await good(['dissolve', id]), /\nstate +dissolved\n/);
    await bad(1, /dissolved/, ['rename', id, 'Again']);
});

test('moot team: a long name is cut in tables, an id never', async () => {
    const id = 'r'.repeat(50), name = `${'long '.repeat(20)}end`;

    await gateway.request(`PUT /admin/resources/${id}`, { token: gateway.adminToken(), json: { kind: 'agent', name, participant: 'rrr' } });
    const shown = await good(['create', name, id]);
    assert.match(shown, new RegExp(`\nname {10}${name}\n`));
    assert.match(shown, new RegExp(`\nmembers {7}${id} {2}(long ){7}lon\\.\\. {2}member\n`));
    assert.match(await good(['list']), /^t-\S+ {2}(long ){7}lon\.\. {2}active {5}1 {8}\S+$/m);
});

test('moot team: what cannot be done is said, with exit status 1', async () => {
    await bad(1, /no such resource: nobody/, ['create', 'Falcon', 'ann', 'nobody']);
    await bad(1, /no such team/, ['show', 't-1']);
    await bad(2, /RESOURCE|argument/, ['create', 'Falcon']);
});

test('moot team: a member answers with his own token', async () => {
    const { team_id: id } = JSON.parse(await good(['create', 'Own', 'cleo', '--json']));
    const server = ['--server', `http://127.0.0.1:${gateway.port}`];

    assert.match(await good(['accept', id, ...server], { MOOT_TOKEN: 'cleo-token' }), / *cleo +cleo bold +member/);
    await bad(1, /no such team/, ['accept', id, ...server], { MOOT_TOKEN: 'ann-token' });
    assert.match(await good(['list', ...server], { MOOT_TOKEN: 'cleo-token' }), new RegExp(id));
    assert.doesNotMatch(await good(['list', '--json', ...server], { MOOT_TOKEN: 'ann-token' }), new RegExp(id));
});

test('moot team list: all pages, and one object a line as JSON', async () => {
    const token = gateway.adminToken();
    const count = JSON.parse(`[${(await good(['list', '--json'])).trim().split('\n').join(',')}]`).length;

    // More than the server gives at once.
    for (let i = 0; i < 21; i++)
        await Promise.all(Array.from({ length: 50 }, () => gateway.request('POST /teams', { token, json: { name: 'Many', resources: ['ann'] } })));
    const lines = (await good(['list', '--json'])).trim().split('\n').map((line) => JSON.parse(line).team_id);
    assert.equal(lines.length, count + 1050);
    assert.equal(new Set(lines).size, lines.length);
    assert.equal((await good(['list'])).trim().split('\n').length, lines.length + 1);
});

test('moot resource search: within a team', async () => {
    const { team_id: id } = JSON.parse(await good(['create', 'Within', 'bob', '--json']));
    const search = (...args) => moot(null, null, ['resource', 'search', 'bold', '--json', ...args], { env: { MOOT_DATA: gateway.data } });
    const found = await search('--team', id);

    assert.equal(found.stderr, '');
    assert.deepEqual(found.stdout.trim().split('\n').map((line) => JSON.parse(line).resource.id), ['bob']);
    const none = await search('--team', 't-0000000000000000');
    assert.equal(none.status, 1);
    assert.match(none.stderr, /no such team/);
});
