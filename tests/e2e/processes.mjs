// SPDX-License-Identifier: Apache-2.0
// Who runs on this machine, as /proc says it.
//
//   marked(text)              processes whose arguments contain the text: [{ pid, parent, words }], zombies
//                             aside
//   parentOf(pid)             0: it is gone
//   end(pid)                  SIGKILL; false: there was nobody
//   await until(() => …, what)   until it is true; bounded
//   await nothingLeft(text)   until nobody is marked any more
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { patience } from './gateway.mjs';

const read = (file) => {
    try {
        return fs.readFileSync(file, 'utf8');
    } catch {
        return ''; // gone meanwhile
    }
};

// Behind the name, which may hold anything.
const stateOf = (pid) => read(`/proc/${pid}/stat`).replace(/^.*\) /s, '').split(' ');

export const parentOf = (pid) => Number(stateOf(pid)[1] ?? 0);

export const marked = (text) => fs.readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), words: read(`/proc/${name}/cmdline`).split('\0').slice(0, -1) }))
    .filter(({ words }) => words.some((word) => word.includes(text)))
    .map((one) => ({ ...one, state: stateOf(one.pid)[0], parent: parentOf(one.pid) }))
    .filter(({ state, parent }) => parent && state !== 'Z');

export function end(pid) {
    if (!(pid > 1))
        return false;
    try {
        process.kill(pid, 'SIGKILL');
        return true;
    } catch {
        return false;
    }
}

export async function until(isTrue, what, limit = patience) {
    for (const late = Date.now() + limit; !await isTrue(); await sleep(20))
        if (Date.now() > late)
            throw new Error(`waited too long until ${typeof what === 'function' ? what() : what}`);
}

export const nothingLeft = (text) => until(() => marked(text).length === 0,
    () => `nothing is left of ${JSON.stringify(marked(text))}`);
