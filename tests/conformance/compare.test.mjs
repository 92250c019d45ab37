// SPDX-License-Identifier: Apache-2.0
// The suite passes on answers that merely look right. Here the same requests go to the fixture
// directly and through the gateway, for every method of both eras (exchanges.mjs), and the answers,
// what came before them and what the client was asked are the same text: numbers, unknown members
// and their order included. Where the eras differ, what is expected is derived (crossing.mjs).
import assert from 'node:assert/strict';
import test from 'node:test';

import { expectedOf, seen } from './crossing.mjs';
import { EXCHANGES, record } from './exchanges.mjs';
import { write } from './fixture/lossless.mjs';
import { CARRIERS, ERAS, startDoor, startFixture } from './mcp_server.mjs';
import { connect } from './peer.mjs';

const AT_ONCE = 4; // most of the time they wait: lists are told to have changed once a second

async function said(url, client, isAsked) {
    const peer = await connect({ url }, client);

    try {
        return await record(peer, isAsked);
    } finally {
        await peer.close();
    }
}

async function saidDirectly(client) {
    const fixture = await startFixture('dual');

    try {
        return await said(fixture.url, client);
    } finally {
        await fixture.stop();
    }
}

async function compare(t, era, carrier, client, direct) {
    const cell = { client, server: era === 'legacy' ? 'legacy' : 'modern' }; // dual: the newer one
    const door = await startDoor(era, carrier);
    t.after(door.stop);
    const expected = expectedOf(cell, direct);
    const through = await said(door.url, client, (title) => title in expected);

    for (const [title, tree] of Object.entries(expected))
        await t.test(title, () => {
            assert.ifError(through[title] instanceof Error ? through[title] : null);
            assert.equal(write(seen(through[title])), write(tree));
        });
}

for (const client of Object.keys(EXCHANGES))
    test(`a ${client} client: as if there were no gateway`, { concurrency: AT_ONCE }, async (t) => {
        const direct = await saidDirectly(client);

        for (const [title, tree] of Object.entries(direct))
            assert.ok(!(tree instanceof Error), `${title}: ${tree}`);
        await Promise.all(ERAS.flatMap((era) => CARRIERS.map((carrier) =>
            t.test(`of a ${era} server over ${carrier}`, (one) => compare(one, era, carrier, client, direct)))));
    });
