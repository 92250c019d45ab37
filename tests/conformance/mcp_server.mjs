// SPDX-License-Identifier: Apache-2.0
// The public conformance suite for MCP in server mode, against fixture.mjs itself or through the
// gateway in front of it:
//
//   suite ─HTTP─► gateway, /mcp/room ─stdio or HTTP─► fixture
//
//   node tests/conformance/mcp_server.mjs [WAY [REVISION [SCENARIO]]]      prints what was scored
//       WAY: `fixture`, or a cell without its revision, such as `legacy-stdio`; default: fixture
//
//   const { scored, unscored, total, output } = await runServerSuite(revision, url)
//   const fixture = await startFixture(era)           { url, stop() }
//   const door = await startDoor(era, carrier)        likewise; the fixture is in the room
//   const room = await startRoom({ NAME: { era, carrier }, … })                likewise; several are
//   CELLS     what is run through the gateway: { revision, era, carrier, fails }, `fails` being the
//             scenarios that cannot pass there, and why
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { startGateway } from '../e2e/gateway.mjs';
import { write } from './fixture/lossless.mjs';
import { connect, within } from './peer.mjs';
import { isInstalled, printResults, runProgram, runRequirements } from './suite.mjs';

export { isInstalled };
export const REVISIONS = { '2025-11-25': 30, '2026-07-28': 37 };
export const ERAS = ['dual', 'legacy', 'modern'];
export const CARRIERS = ['stdio', 'http'];

const program = fileURLToPath(new URL('fixture.mjs', import.meta.url));
export const fixtureCommand = (era, ...args) => [process.execPath, program, '--era', era, ...args];

// Keys of inputRequests are the gateway's own where the server asks with requests, which have none.
const NO_KEYS = {
    'input-required-result-basic-elicitation': 'wants the key user_name',
    'input-required-result-ignore-extra-params': 'answers user_name before it is asked',
    'tasks-mrtr-composition': 'asks before there is a task; a legacy task asks when it is one',
};

const failsOf = (revision, era) => (revision === '2026-07-28' && era === 'legacy' ? NO_KEYS : {});

export const CELLS = Object.keys(REVISIONS).flatMap((revision) => ERAS.flatMap((era) =>
    CARRIERS.map((carrier) => ({ revision, era, carrier, fails: failsOf(revision, era) }))));

export async function startFixture(era) {
    const [command, ...args] = fixtureCommand(era, '--port', '0');
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const onExit = () => child.kill('SIGKILL');

    process.once('exit', onExit);
    const [line] = await within(once(createInterface({ input: child.stdout }), 'line'), 'the fixture');
    return {
        url: /listening on (\S+)/.exec(line)[1],
        async stop() {
            const exited = once(child, 'exit');

            process.off('exit', onExit);
            child.kill();
            await within(exited, 'the end of the fixture');
        },
    };
}

// Servers in a room and nothing of the room's own: of a single one names, lists and capabilities are
// the server's. Who comes from this machine may do all.
export async function startRoom(servers) {
    const fixtures = [];
    const configured = {};

    for (const [name, { era, carrier = 'stdio' }] of Object.entries(servers)) {
        const fixture = carrier === 'http' ? await startFixture(era) : null;

        configured[name] = {
            topic: 'room', network: 'any', pin: 'off', mode: 'shared',
            ...(fixture ? { url: fixture.url } : { command: fixtureCommand(era, '--stdio'), sandbox: 'off' }),
        };
        if (fixture)
            fixtures.push(fixture);
    }
    const gateway = await startGateway({
        mcp: { anonymous: { id: 'guest', profile: 'full', topics: ['room'] }, room_tools: 'off', poll: '1s' },
        servers: configured,
    });
    const room = {
        url: `http://127.0.0.1:${gateway.port}/mcp/room`,
        gateway,
        async stop() {
            await gateway.stop();
            await Promise.all(fixtures.map((fixture) => fixture.stop()));
        },
    };

    try {
        await within(areThere(room.url, Object.keys(servers)), 'the servers in the room');
    } catch (error) {
        await room.stop();
        throw error;
    }
    return room;
}

export const startDoor = (era, carrier) => startRoom({ fixture: { era, carrier } });

// A server that is slow to start is left out of lists until it has.
async function areThere(url, names) {
    const peer = await connect({ url }, 'legacy');
    const wanted = names.map((name) => `"${names.length > 1 ? `${name}.` : ''}test_simple_text"`);
    const listed = async () => write(await peer.exchange('tools/list'));

    for (let tools = await listed(); !wanted.every((name) => tools.includes(name)); tools = await listed())
        await later(50);
    await peer.close();
}

export async function runServerSuite(revision, url) {
    return { ...await runRequirements('server', revision, ['--url', url]), total: REVISIONS[revision] };
}

async function main([way = 'fixture', revision, scenario]) {
    const [era, carrier] = way.split('-');
    const server = way === 'fixture' ? await startFixture('dual') : await startDoor(era, carrier);

    if (scenario) {
        const { status, output } = await runProgram(['server', '--url', server.url, '--scenario', scenario, '--spec-version', revision, '--force', '--verbose']);
        process.stdout.write(output);
        process.exitCode = status ?? 1;
    } else {
        for (const one of revision ? [revision] : Object.keys(REVISIONS))
            printResults(`${way} at ${one}`, await runServerSuite(one, server.url));
    }
    await server.stop();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
