// SPDX-License-Identifier: Apache-2.0
// moot link: who it signs in, where, and how often.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { recorded } from './audit.mjs';
import { people, person, startGateway } from './gateway.mjs';
import { moot } from './moot.mjs';

let gateway, base;

before(async () => {
    gateway = await startGateway({ tokens: [person('root', { profile: 'admin' }), ...people('alice')] });
    base = `http://${gateway.host}:${gateway.port}`;
    for (const id of ['root', 'alice'])
        fs.writeFileSync(path.join(gateway.data, id), `${id}-token\n`, { mode: 0o600 });
});
after(() => gateway.stop());

const run = (...args) => moot(null, null, ['link', ...args]);
const as = (id, url = base) => ['--server', url, '--token-file', path.join(gateway.data, id)];
const enter = (link) => gateway.request('POST /session', { json: { ticket: new URL(link).hash.replace('#ticket=', '') } });

test('link: on this machine as the administrator of the start, once', async () => {
    const { status, stdout, stderr } = await run('--data', gateway.data);
    const link = stdout.trim();

    assert.deepEqual([status, stderr, new URL(link).origin], [0, '', base]);
    const { json } = await enter(link);
    assert.deepEqual([json.id, json.admin], ['admin', true]);
    assert.equal((await enter(link)).status, 401);
    const made = await recorded(gateway, ({ kind }) => kind === 'link.create');
    assert.equal(made.participant, 'local', 'whoever asked for it stands in the record');
});

test('link: elsewhere as whose token it is, who has to be an administrator, and at the address that was given', async () => {
    const { stdout } = await run(...as('root', `${base}/`));

    assert.match(stdout, new RegExp(`^${base}/#ticket=[\\w-]{43}\\n$`));
    assert.equal((await enter(stdout.trim())).json.id, 'root');
    const refused = await run(...as('alice'));
    assert.deepEqual([refused.status, refused.stdout], [1, '']);
    assert.match(refused.stderr, /administrator/);
});

test('link: where no gateway runs that is said', async () => {
    const { status, stderr } = await run('--data', path.join(gateway.data, 'nowhere'));

    assert.equal(status, 1);
    assert.match(stderr, /no gateway runs on/);
});
