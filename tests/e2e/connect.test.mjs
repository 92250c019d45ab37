// SPDX-License-Identifier: Apache-2.0
// D1: who gets in, and with which status the others are turned away before the upgrade.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, person, startGateway, within } from './gateway.mjs';
import { connect, frame, handshake } from './raw.mjs';

let gateway;
let closed;

before(async () => {
    gateway = await startGateway({
        limits: { login_failures: 0 },
        tokens: [
            person('alice'),
            person('guest', { topics: ['lobby', 'team-*'] }),
            person('late', { expires_at: '2001-01-01T00:00:00Z' }),
            person('early', { expires_at: '2999-01-01T00:00:00Z' }),
        ],
    });
    closed = await startGateway({
        topics: { open: false, named: ['room'] },
        tokens: [person('alice'), person('guest', { topics: ['lobby'] })],
    });
});
after(async () => {
    await gateway.stop();
    await closed.stop();
});

const unauthorized = [
    ['no token', { token: null }],
    ['an unknown token', { token: 'nobody' }],
    ['a token cut short', { token: 'alice-toke' }],
    ['a token in capitals', { token: 'ALICE-TOKEN' }],
    ['a token with more behind it', { token: 'alice-token x' }],
    ['an expired token', { token: 'late-token' }],
    ['a scheme without a token', { token: null, headers: { Authorization: 'Bearer' } }],
    ['another scheme', { token: null, headers: { Authorization: 'Basic YWxpY2U6dG9rZW4=' } }],
    ['a token without a scheme', { token: null, headers: { Authorization: 'alice-token' } }],
    ['an empty Authorization', { token: null, headers: { Authorization: '' } }],
];

for (const [name, options] of unauthorized)
    test(`D1: ${name} is 401 before the upgrade`, async () => {
        const answer = await gateway.refusal('alice', options);

        assert.equal(answer.status, 401);
        assert.match(answer.headers['www-authenticate'], /^Bearer\b/);
        assert.equal(answer.headers['content-type'], 'application/problem+json');
        assert.equal(answer.json.error, 'unauthorized');
        assert.equal(answer.headers.upgrade, undefined);
    });

for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
    test(`D1: the scheme may be written ${scheme}`, async () => {
        const client = await gateway.join('alice', { token: null, headers: { Authorization: `${scheme} alice-token` } });

        assert.equal(client.welcome.payload.you.id, 'alice');
        await client.close();
    });

test('D1: a token that expires later is good', async () => {
    await (await gateway.join('early')).close();
});

test('D1: a topic that the token does not name is 403', async () => {
    for (const topic of ['room', 'lobby2', 'Lobby', 'team', 'a-team-1']) {
        const answer = await gateway.refusal('guest', { topic });
        assert.equal(answer.status, 403, topic);
        assert.equal(answer.json.error, 'forbidden');
    }
    for (const topic of ['lobby', 'team-1'])
        await (await gateway.join('guest', { topic })).close();
});

test('D1: a topic that does not exist is 404 where topics are closed', async () => {
    assert.equal((await closed.refusal('alice', { topic: 'other' })).status, 404);
    assert.equal((await closed.request('GET /topics/other/participants', { token: 'alice-token' })).status, 404);
    await (await closed.join('alice', { topic: 'room' })).close();
});

test('D1: who may not enter does not learn which topics exist', async () => {
    assert.equal((await closed.refusal('guest', { topic: 'room' })).status, 403);
    assert.equal((await closed.refusal('guest', { topic: 'other' })).status, 403);
});

const names = [null, '', '.', '.hidden', 'a/b', 'a b', 'a\0b', 'ä', 'a:b', '*', 'a,b', 'x'.repeat(129)];

for (const topic of names)
    test(`D1: the topic ${JSON.stringify(topic)?.slice(0, 20)} is 400`, async () => {
        assert.equal((await gateway.refusal('alice', { topic })).status, 400);
    });

test('D1: a topic name may be 128 of these characters', async () => {
    for (const topic of ['x'.repeat(128), 'A-z_0.9~', '-'])
        await (await gateway.join('alice', { topic })).close();
});

test('D1: the token alone decides the id, whatever else the request says', async () => {
    const client = await gateway.join('alice', { id: 'root', from: 'root', headers: { 'X-Participant': 'root' } });

    assert.equal(client.welcome.payload.you.id, 'alice');
    await client.close();
});

test('D1: frames right behind the handshake are not lost, wherever the topic lives', async () => {
    for (const name of ['e1', 'e2', 'e3', 'e4'])
        for (const way of ['token', 'ticket']) {
            const topic = `${name}-${way}`; // a quick return to the same one would not be announced
            const { ticket } = (await gateway.request('POST /ws-ticket', { token: 'alice-token' })).json;
            const peer = await connect(gateway.port);
            const { id, ...rest } = envelope('alice');
            const head = way === 'token'
                ? handshake({ Authorization: 'Bearer alice-token' }, `GET /ws?topic=${topic} HTTP/1.1`)
                : handshake({}, `GET /ws?topic=${topic}&ticket=${ticket} HTTP/1.1`);

            peer.send(Buffer.concat([Buffer.from(head), frame(0x81, JSON.stringify({ id, ...rest })), frame(0x88, Buffer.from([3, 232]))]));
            const all = (await within(peer.end(), 'the close')).toString('latin1');
            const at = ['HTTP/1.1 101', 'system/welcome', 'system/presence', id].map((text) => all.indexOf(text));
            assert.ok(at[0] === 0 && at[0] < at[1] && at[1] < at[2] && at[2] < at[3], `${topic} ${at}`);
            peer.close();
        }
});
