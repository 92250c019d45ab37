// SPDX-License-Identifier: Apache-2.0
// Any JSON, readably: folded where it is deep or long, never as markup. What is folded does not
// exist in the page, so that a value of megabytes costs what is seen of it.
import { useMemo, useState } from 'preact/hooks';

import { isObject, type Json } from '../net/types';
import { lengthOf } from '../state/length';
import { childPointer, spelt } from '../state/pointer';
import { visible, visibleJson } from '../state/visible';
import { t } from '../strings';
import { CopyButton } from './button';
import { Icon } from './icon';

interface JsonTreeProps {
    value: Json;
    open?: number; // how many levels are unfolded at first
    marks?: ReadonlySet<string>; // JSON pointers of what differs from something
    isWhole?: boolean; // nothing is folded or cut off, however long it is
    canCopy?: boolean;
}

const STEP = 100; // entries that are shown at a time
const TEXT = 1000; // characters: the members behind a long one are to be seen as well
const TREE = 5000; // entries: more are a text, when all of them are to be seen

export function JsonTree({ value, open = 2, marks, isWhole = false, canCopy }: JsonTreeProps) {
    const isMuch = useMemo(() => isWhole && lengthOf(value).entries > TREE, [isWhole, value]);
    const isTree = isWhole && !isMuch;
    const places = useMemo(() => placesOf(marks, isTree), [marks, isTree]);

    return (
        <div class="json">
            {canCopy && <div class="json-copy"><CopyButton text={() => JSON.stringify(value, null, 2)} /></div>}
            <Node value={value} pointer="" open={isTree ? Infinity : open} marks={places} />
            {isMuch && <All value={value} />}
        </div>
    );
}

// At ends of lines, and inside of lines that are longer. What is not in view costs no layout.
const PIECE = /[^]{0,8192}(?:\n|$)|[^]{8192}/gu;

function All({ value }: { value: Json }) {
    const pieces = useMemo(() => visibleJson(JSON.stringify(value, null, 2)).match(PIECE) ?? [], [value]);
    return <div class="json-all">{pieces.map((piece, i) => <div key={i}>{piece}</div>)}</div>;
}

interface Places {
    marked: ReadonlySet<string>;
    around: ReadonlySet<string>; // what holds something that is marked
    isWhole: boolean;
}

function placesOf(marked: ReadonlySet<string> = new Set(), isWhole = false): Places {
    const around = new Set<string>();
    for (const mark of marked)
        for (let end = mark.lastIndexOf('/'); end >= 0 && !around.has(mark.slice(0, end)); end = mark.lastIndexOf('/', end - 1)) {
            around.add(mark.slice(0, end));
            if (end === 0) break;
        }
    return { marked, around, isWhole };
}

interface NodeProps { name?: string; value: Json; pointer: string; open: number; marks: Places }

function Node({ name, value, pointer, open, marks }: NodeProps) {
    const isMarked = marks.marked.has(pointer);
    const size = Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;

    if (size > 0) return <Branch {...{ name, value, pointer, open, marks, size, isMarked }} />;
    return (
        <div class={isMarked ? 'json-line marked' : 'json-line'}>
            {name !== undefined && <Key name={name} />}<Leaf value={value} isWhole={marks.isWhole} />
            {isMarked && <span class="hidden"> ({t.parts.differs})</span>}
        </div>
    );
}

function Key({ name }: { name: string }) {
    return <bdi class="json-key">{visible(spelt(name))}: </bdi>;
}

interface BranchProps extends Omit<NodeProps, 'name'> { name: string | undefined; size: number; isMarked: boolean }

function Branch({ name, value, pointer, open, marks, size, isMarked }: BranchProps) {
    const [chosen, setChosen] = useState<boolean | null>(null); // what is marked may come to be known later
    const [steps, setSteps] = useState(STEP);
    const shown = marks.isWhole ? size : steps;
    const isOpen = chosen ?? (open > 0 || marks.around.has(pointer));
    const note = isMarked ? t.parts.differs : !isOpen && marks.around.has(pointer) ? t.parts.differsInside : null;
    const isArray = Array.isArray(value);
    const title = isArray ? t.parts.entries(size) : t.parts.members(size);

    return (
        <div class="json-branch">
            <button type="button" class={note === null ? 'json-fold' : 'json-fold marked'} aria-expanded={isOpen} onClick={() => setChosen(!isOpen)}>
                <Icon name={isOpen ? 'down' : 'right'} />{name !== undefined && <Key name={name} />}
                <span class="quiet">{isArray ? `[${title}]` : `{${title}}`}</span>
                {note !== null && <span class="hidden"> ({note})</span>}
            </button>
            {isOpen && (
                <ul>
                    {entriesOf(value, shown, (key) => isNoted(marks, childPointer(pointer, key))).map(([key, item]) => (
                        <li key={key}><Node name={key} value={item} pointer={childPointer(pointer, key)} open={open - 1} marks={marks} /></li>
                    ))}
                    {size > shown && (
                        <li><button type="button" class="json-more" onClick={() => setSteps(shown + 10 * STEP)}>{t.parts.moreEntries(size - shown)}</button></li>
                    )}
                </ul>
            )}
        </div>
    );
}

function isNoted({ marked, around }: Places, pointer: string): boolean {
    return marked.has(pointer) || around.has(pointer);
}

// The first ones, and of the others those that are marked: a crowd hides nothing.
function entriesOf(value: Json, most: number, isKept: (key: string) => boolean): [string, Json][] {
    const all = Object.entries(isObject(value) || Array.isArray(value) ? value : {}) as [string, Json][];
    return [...all.slice(0, most), ...all.slice(most).filter(([key]) => isKept(key)).slice(0, STEP)];
}

function Leaf({ value, isWhole }: { value: Json; isWhole: boolean }) {
    if (typeof value === 'string') return <Text text={value} isWhole={isWhole} />;
    if (Array.isArray(value)) return <span class="quiet">[]</span>;
    if (isObject(value)) return <span class="quiet">{'{}'}</span>;
    return <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>;
}

// Lines stay lines, beside a rule; a quote does not end the text.
function escaped(text: string): string {
    return text.replace(/["\\]/g, '\\$&');
}

function Text({ text, isWhole }: { text: string; isWhole: boolean }) {
    const [isOpen, setOpen] = useState(false);
    const isCut = !isWhole && !isOpen && text.length > TEXT;

    return (
        <>
            <bdi class={text.includes('\n') ? 'json-string lines' : 'json-string'}>{`"${visible(escaped(isCut ? text.slice(0, TEXT) : text))}${isCut ? '…' : '"'}`}</bdi>
            {isCut && <button type="button" class="json-more" onClick={() => setOpen(true)}>{t.parts.moreText(text.length - TEXT)}</button>}
        </>
    );
}
