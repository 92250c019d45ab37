// SPDX-License-Identifier: Apache-2.0
// Stopping while everything is under way: calls on all workers, the store, tickets, polls.
import { test } from 'node:test';
import http from 'node:http';

import { people, startGateway } from './gateway.mjs';

// Requests without an end; what becomes of them does not matter.
function hammer(gateway, line, token, json) {
    const [method, path] = line.split(' ');
    const content = JSON.stringify(json ?? {});
    const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
    let isOver = false;
    const go = () => {
        if (isOver)
            return;
        const req = http.request({
            host: '127.0.0.1', port: gateway.port, method, path, agent,
            headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Content-Length': content.length },
        }, (res) => { res.resume(); res.on('end', go); });

        req.on('error', () => { setTimeout(go, 5).unref(); });
        req.end(content);
    };

    for (let i = 0; i < 4; i++)
        go();
    return () => { isOver = true; agent.destroy(); };
}

for (const signals of [['SIGTERM'], ['SIGTERM', 'SIGTERM'], ['SIGHUP', 'SIGTERM', 'SIGHUP', 'SIGTERM']])
    test(`stopping in the middle of everything: ${signals.join(' ')}`, async () => {
        const gateway = await startGateway({ tokens: people('alice'), limits: { drain_timeout: '200ms' } }, { workers: 4 });
        const admin = gateway.adminToken();
        const ends = [
            hammer(gateway, 'GET /topics', 'alice-token'),
            hammer(gateway, 'GET /admin/members', admin),
            hammer(gateway, 'POST /admin/tokens', admin, { id: 'bob', profile: 'full' }),
            hammer(gateway, 'POST /ws-ticket', 'alice-token'),
            hammer(gateway, 'GET /topics/a/messages?wait=30', 'alice-token'),
            hammer(gateway, 'GET /topics/b/messages?wait=30', 'alice-token'),
            hammer(gateway, 'POST /admin/reload', admin),
        ];

        await new Promise((resolve) => { setTimeout(resolve, 200); });
        for (const signal of signals.slice(0, -1)) {
            gateway.signal(signal);
            await new Promise((resolve) => { setTimeout(resolve, 20); });
        }
        await gateway.stop();
        for (const end of ends)
            end();
    });
