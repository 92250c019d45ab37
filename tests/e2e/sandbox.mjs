// SPDX-License-Identifier: Apache-2.0
// Commands under a permit, without a room around them: tests/e2e/programs/confine.c runs
// them, tests/e2e/programs/escape.c tries to get out.
//
//   for (const user of users) …          root and an ordinary user: { name, skip }
//   const place = folder(user)           an empty folder that they and root's children can use
//   const { code, out, err } = await confine(user, options, ...words)
//       options    { level, network, read, write, …: a value or several }
//   await until(check, what)             waits, bounded
//   await escape(user, options, way, argument)     what the attempt printed, without its end of line
//   const running = start(user, options, ...words)
//       (it is given a descriptor too many, which must not get through)
//       running.child, running.out(), await running.says(text), await running.ended() → { code, … }
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

import { program, within } from './gateway.mjs';
import { until as untilTrue } from './processes.mjs';

const build = path.dirname(program);
export const escapeProgram = path.join(build, 'escape');
const isRoot = process.getuid() === 0;
const nobody = 65534;

// Root can be both; anybody else only itself.
export const users = [
    { name: 'root', prefix: [], uid: 0, skip: isRoot ? false : 'only root can be root' },
    isRoot
        ? { name: 'a user', uid: nobody, skip: false,
            prefix: ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] }
        : { name: 'a user', uid: process.getuid(), skip: false, prefix: [] },
];

// For what happens inside by itself.
export const until = (check, what) => untilTrue(check, what);

export function folder(user) {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-sandbox-'));

    fs.chmodSync(made, 0o777);
    if (isRoot)
        fs.chownSync(made, user.uid, user.uid);
    after(() => fs.rmSync(made, { recursive: true, force: true }));
    return made;
}

function argumentsOf(options) {
    const args = [];

    for (const [name, values] of Object.entries(options))
        for (const value of [values].flat())
            args.push(`--${name}`, ...(value === true ? [] : [String(value)]));
    return args;
}

export function start(user, options, ...words) {
    const line = [...user.prefix, path.join(build, 'confine'), ...argumentsOf(options), '--', ...words];
    const child = spawn(line[0], line.slice(1), { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    const texts = { out: '', err: '' };
    const heard = [];
    const ended = new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (code, signal) => resolve({ code, signal, ...texts }));
    });

    child.stdout.on('data', (bytes) => {
        texts.out += bytes;
        heard.forEach((check) => check());
    });
    child.stderr.on('data', (bytes) => { texts.err += bytes; });
    child.stdin.on('error', () => {}); // who does not read may have ended
    return {
        child,
        out: () => texts.out,
        ended: () => within(ended, `the end of ${words.join(' ')}`),
        says: (text) => within(new Promise((resolve) => {
            const check = () => texts.out.includes(text) && resolve();

            heard.push(check);
            check();
        }), `${text} from ${words.join(' ')}`),
    };
}

export async function confine(user, options, ...words) {
    const running = start(user, options, ...words);

    running.child.stdin.end();
    return running.ended();
}

export async function escape(user, options, way, argument = '') {
    const { code, out, err } = await confine(user, options, escapeProgram, way, argument);

    if (code !== 0)
        throw new Error(`${way} ${argument}: ${code} ${out} ${err}`);
    return out.trimEnd();
}

// The processes that were called so, wherever they are.
export function processesCalled(text) {
    return fs.readdirSync('/proc').filter((pid) => {
        try {
            return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1') === text;
        } catch {
            return false;
        }
    });
}
