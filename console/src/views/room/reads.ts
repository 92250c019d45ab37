// SPDX-License-Identifier: Apache-2.0
// How far each person has read in each room, in this browser.
import { marksText, readMarks, type ReadMark } from '../../state/unread';

const KEY = 'moot-read';

const reads = readMarks(localStorage.getItem(KEY));
let saving: ReturnType<typeof setTimeout> | undefined;

// Several people may use one browser. Names of rooms have no line breaks.
const readKey = (topic: string, who: string) => `${topic}\n${who}`;

export function readOf(topic: string, who: string): ReadMark | undefined {
    return reads.get(readKey(topic, who));
}

export function keepRead(topic: string, who: string, read: ReadMark): void {
    reads.set(readKey(topic, who), read);
    saving ??= setTimeout(() => {
        saving = undefined;
        localStorage.setItem(KEY, marksText(reads));
    }, 1000);
}
