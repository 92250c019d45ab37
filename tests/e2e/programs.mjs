// SPDX-License-Identifier: Apache-2.0
// The example programs as processes that take part in a room, and what tests of programs ask.
//
//   const calculator = startExample('calculator', gateway, 'calc', { topic, args, hasFile })
//       with the token of that id, in a file if it `hasFile`; a command of moot.mjs, and besides
//       await calculator.says(pattern)     the match of the next line of its output like this
//       calculator.tell(text)              a line on its standard input
//       await calculator.stop()            SIGTERM, if it is still there
//   eventsOf(participant, name)            of a participant of participant.mjs, all so far
//   const grown = growthOf(participant)    grown() is how many bytes its process holds more than now;
//                                          0 with a sanitizer, which keeps what was freed
//   isSanitized                            whether there is one
import fs from 'node:fs';
import path from 'node:path';

import { program } from './gateway.mjs';
import { environment, startProgram } from './moot.mjs';

function tokenFile(gateway, id) {
    const file = path.join(path.dirname(gateway.data), `${id}.token`);

    fs.writeFileSync(file, `${id}-token\n`);
    return ['--token-file', file];
}

export function startExample(name, gateway, id, { topic = 'room', args = [], hasFile = false } = {}) {
    const file = path.join(path.dirname(program), 'examples', name);
    const all = [...(hasFile ? tokenFile(gateway, id) : []), `ws://127.0.0.1:${gateway.port}`, topic, ...args];
    const command = startProgram(file, all, environment(gateway, hasFile ? null : id));

    return Object.assign(command, {
        says: async (pattern) => pattern.exec(await command.line(pattern)),
        tell: (text) => command.child.stdin.write(`${text}\n`),
        stop: () => {
            command.child.kill('SIGTERM');
            return command.ended();
        },
    });
}

export const eventsOf = (participant, name) => participant.events.filter(({ event }) => event === name);

const options = JSON.parse(fs.readFileSync(path.join(path.dirname(program), 'meson-info/intro-buildoptions.json'), 'utf8'));
export const isSanitized = options.find(({ name }) => name === 'b_sanitize').value !== 'none';

export function growthOf({ child: { pid } }) {
    const resident = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
    const before = resident();

    return () => (isSanitized ? 0 : resident() - before);
}
