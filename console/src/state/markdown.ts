// SPDX-License-Identifier: Apache-2.0
// A small Markdown: what people write in chats. It yields a tree that parts/markdown.tsx shows
// as elements; markup in the text stays text. Everything is bounded, as others wrote it.
export type Inline =
    | { kind: 'text' | 'code'; text: string }
    | { kind: 'strong' | 'em' | 'strike'; children: Inline[] }
    | { kind: 'link'; href: string; children: Inline[] }
    | { kind: 'break' };

export type Block =
    | { kind: 'paragraph'; children: Inline[] }
    | { kind: 'heading'; level: number; children: Inline[] }
    | { kind: 'code'; text: string }
    | { kind: 'quote'; blocks: Block[] }
    | { kind: 'list'; start: number | null; items: Block[][] } // null: not numbered
    | { kind: 'rule' };

const DEPTH_MAX = 6;
const LINK_MAX = 2000; // characters
const FENCE = /^ {0,3}(```|~~~)/;
const QUOTE = /^ {0,3}> ?/;
const HEADING = /^ {0,3}(#{1,6}) /;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const ITEM = /^ {0,3}(?:([-*+])|(\d{1,9})[.)]) +(?=\S)/;

export function parseMarkdown(text: string): Block[] {
    return blocksOf(text.replace(/\r\n?/g, '\n').split('\n'), 0);
}

// Only what leads to a page or a letter: never script, data or a file.
export function safeHref(href: string): string | null {
    try {
        const url = new URL(href);
        return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
    } catch {
        return null; // not absolute: inside the console it would lead anywhere
    }
}

// Where a link leads that does not say so itself: "good.example" may be the text of any, also of
// one to evil.example. Null where the text begins with just that place.
export function leadsTo(href: string, text: string): string | null {
    const url = new URL(href);
    if (url.protocol === 'mailto:') return text.includes(url.pathname) ? null : url.pathname.slice(0, 100);
    const rest = text.startsWith(url.origin) ? text.slice(url.origin.length) : null;
    return rest === '' || (rest !== null && /^[/?#]/.test(rest)) ? null : url.host;
}

export function textOf(inlines: readonly Inline[]): string {
    return inlines.map((inline) => ('children' in inline ? textOf(inline.children) : 'text' in inline ? inline.text : '\n')).join('');
}

// How many lines from `at` on fulfil it.
function run(lines: string[], at: number, holds: (line: string) => boolean): number {
    let end = at;
    while (end < lines.length && holds(lines[end] ?? '')) end++;
    return end - at;
}

function beginsBlock(line: string): boolean {
    return FENCE.test(line) || QUOTE.test(line) || HEADING.test(line) || RULE.test(line) || ITEM.test(line);
}

function blocksOf(lines: string[], depth: number): Block[] {
    const blocks: Block[] = [];
    let at = 0;

    while (at < lines.length) {
        const line = lines[at] ?? '';
        if (line.trim() === '') {
            at++;
            continue;
        }
        const [block, used] = depth < DEPTH_MAX ? blockAt(lines, at, depth) : paragraphAt(lines, at);
        blocks.push(block);
        at += used;
    }
    return blocks;
}

// The block that begins there, and how many lines it has.
function blockAt(lines: string[], at: number, depth: number): [Block, number] {
    const line = lines[at] ?? '';
    const heading = HEADING.exec(line);

    if (FENCE.test(line)) return fenceAt(lines, at);
    if (heading) return [{ kind: 'heading', level: heading[1]?.length ?? 1, children: inlinesOf(titleOf(line.slice(heading[0].length))) }, 1];
    if (RULE.test(line)) return [{ kind: 'rule' }, 1];
    if (QUOTE.test(line)) {
        const count = run(lines, at, (one) => QUOTE.test(one));
        return [{ kind: 'quote', blocks: blocksOf(lines.slice(at, at + count).map((one) => one.replace(QUOTE, '')), depth + 1) }, count];
    }
    if (ITEM.test(line)) return listAt(lines, at, depth);
    return paragraphAt(lines, at);
}

// Without the marks behind it.
function titleOf(text: string): string {
    let end = text.trimEnd().length;
    while (text[end - 1] === '#') end--;
    return text.slice(0, end).trim();
}

function fenceAt(lines: string[], at: number): [Block, number] {
    const fence = FENCE.exec(lines[at] ?? '')?.[1] ?? '';
    const count = run(lines, at + 1, (line) => !line.trim().startsWith(fence));
    return [{ kind: 'code', text: lines.slice(at + 1, at + 1 + count).join('\n') }, count + 2];
}

function paragraphAt(lines: string[], at: number): [Block, number] {
    const count = 1 + run(lines, at + 1, (line) => line.trim() !== '' && !beginsBlock(line));
    return [{ kind: 'paragraph', children: inlinesOf(lines.slice(at, at + count).join('\n')) }, count];
}

// An item goes on with lines that are indented, or that begin nothing.
function listAt(lines: string[], at: number, depth: number): [Block, number] {
    const first = ITEM.exec(lines[at] ?? '');
    const isNumbered = first?.[2] !== undefined;
    const items: Block[][] = [];
    let end = at;

    for (;;) {
        const item = ITEM.exec(lines[end] ?? '');
        if (!item || (item[2] !== undefined) !== isNumbered || RULE.test(lines[end] ?? '')) break;
        const width = item[0].length;
        const count = 1 + run(lines, end + 1, (line) => /^ {2,}\S/.test(line) || (line.trim() !== '' && !beginsBlock(line)));
        const own = lines.slice(end, end + count);
        items.push(blocksOf(own.map((line, i) => (i === 0 ? line.slice(width) : line.replace(/^ {1,4}/, ''))), depth + 1));
        end += count;
        if ((lines[end] ?? '').trim() === '' && ITEM.test(lines[end + 1] ?? '')) end++; // a list with air
    }
    return [{ kind: 'list', start: isNumbered ? Number(first?.[2]) : null, items }, end - at];
}

// --- inside a line ---

const MARKS: [string, 'strong' | 'em' | 'strike'][] = [['**', 'strong'], ['__', 'strong'], ['~~', 'strike'], ['*', 'em'], ['_', 'em']];
const AUTOLINK = /https?:\/\/[^\s<>"'`\])]+[^\s<>"'`\]).,;:!?]/y;

export function inlinesOf(text: string, depth = 0): Inline[] {
    const reader = new InlineReader(text, depth);
    return reader.read();
}

class InlineReader {
    #at = 0;
    #plain = '';
    #out: Inline[] = [];
    #hopeless = new Set<string>(); // marks that do not occur again: each is looked for once

    constructor(private readonly text: string, private readonly depth: number) {}

    read(): Inline[] {
        while (this.#at < this.text.length) {
            if (this.#escape() || this.#newline() || this.#code() || this.#mark() || this.#link() || this.#autolink()) continue;
            this.#plain += this.text[this.#at++];
        }
        this.#flush();
        return this.#out;
    }

    #flush(): void {
        if (this.#plain) this.#out.push({ kind: 'text', text: this.#plain });
        this.#plain = '';
    }

    #put(inline: Inline, next: number): true {
        this.#flush();
        this.#out.push(inline);
        this.#at = next;
        return true;
    }

    #find(mark: string, from: number): number {
        if (this.#hopeless.has(mark)) return -1;
        const found = this.text.indexOf(mark, from);
        if (found < 0) this.#hopeless.add(mark);
        return found;
    }

    #escape(): boolean {
        if (this.text[this.#at] !== '\\' || !/[\\`*_~[\]()#>!-]/.test(this.text[this.#at + 1] ?? '')) return false;
        this.#plain += this.text[this.#at + 1];
        this.#at += 2;
        return true;
    }

    #newline(): boolean {
        return this.text[this.#at] === '\n' && this.#put({ kind: 'break' }, this.#at + 1);
    }

    #code(): boolean {
        if (this.text[this.#at] !== '`') return false;
        const end = this.#find('`', this.#at + 1);
        return end > this.#at + 1 && this.#put({ kind: 'code', text: this.text.slice(this.#at + 1, end) }, end + 1);
    }

    // Emphasis has no space inside its marks; "_" counts only between words: snake_case stays.
    #mark(): boolean {
        if (this.depth >= DEPTH_MAX) return false;
        for (const [mark, kind] of MARKS) {
            const from = this.#at + mark.length;
            if (!this.text.startsWith(mark, this.#at) || !/\S/.test(this.text[from] ?? ' ')) continue;
            if (mark[0] === '_' && /[\p{L}\p{N}]/u.test(this.text[this.#at - 1] ?? ' ')) continue;
            const end = this.#find(mark, from + 1);
            if (end < 0 || /\s/.test(this.text[end - 1] ?? ' ')) continue;
            if (mark[0] === '_' && /[\p{L}\p{N}]/u.test(this.text[end + mark.length] ?? ' ')) continue;
            return this.#put({ kind, children: inlinesOf(this.text.slice(from, end), this.depth + 1) }, end + mark.length);
        }
        return false;
    }

    #link(): boolean {
        if (this.text[this.#at] !== '[' || this.depth >= DEPTH_MAX) return false;
        const window = this.text.slice(this.#at, this.#at + LINK_MAX);
        const parts = /^\[([^[\]\n]{1,500})\]\(([^()\s]{1,1400})\)/.exec(window);
        const href = parts && safeHref(parts[2] ?? '');
        return Boolean(parts && href) && this.#put(
            { kind: 'link', href: href ?? '', children: inlinesOf(parts?.[1] ?? '', DEPTH_MAX) }, this.#at + (parts?.[0].length ?? 0));
    }

    // What seems to be an address and is none is text as a whole: it is looked at once.
    #autolink(): boolean {
        if (this.text[this.#at] !== 'h' || this.depth >= DEPTH_MAX) return false;
        AUTOLINK.lastIndex = this.#at;
        const found = AUTOLINK.exec(this.text)?.[0];
        if (!found) return false;
        const href = found.length <= LINK_MAX ? safeHref(found) : null;
        if (href) return this.#put({ kind: 'link', href, children: [{ kind: 'text', text: found }] }, this.#at + found.length);
        this.#plain += found;
        this.#at += found.length;
        return true;
    }
}
