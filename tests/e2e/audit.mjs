// SPDX-License-Identifier: Apache-2.0
// What the tests of the record share.
//
//   await readRecord(gateway.data)          everything recorded so far and what verifying it says:
//                                           { records, verify }; the server may be running
//   await recorded(gateway, matches)        the first record like this, as soon as it is durable
//   await breakDisk(gateway)                from now on no file of the gateway can grow
//   await mendDisk(gateway)
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { patience } from './gateway.mjs';

const run = promisify(execFile);
const program = process.env.MOOT_AUDIT_PROBE ?? fileURLToPath(new URL('../../build/audit_probe', import.meta.url));

export async function readRecord(data, after = 0) {
    const { stdout } = await run(program, [data, String(after)], { maxBuffer: 1 << 30 });
    const lines = stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
    const { verify } = lines.pop();

    return { records: lines, verify };
}

export async function recorded(gateway, matches) {
    for (const end = Date.now() + patience; ;) {
        const { records } = await readRecord(gateway.data);
        const found = records.find(matches);

        if (found)
            return found;
        if (Date.now() > end)
            throw new Error(`never recorded: ${matches}\n${records.map((one) => JSON.stringify(one).slice(0, 300)).join('\n')}`);
    }
}

// A write beyond the limit fails as one on a full disk does.
const limitFiles = (gateway, limit) => run('prlimit', ['--pid', String(gateway.pid), `--fsize=${limit}`]);

export const breakDisk = (gateway) => limitFiles(gateway, '1:unlimited');
export const mendDisk = (gateway) => limitFiles(gateway, 'unlimited:unlimited');
