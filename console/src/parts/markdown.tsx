// SPDX-License-Identifier: Apache-2.0
// What somebody wrote, with its Markdown. Elements are made one by one: no text becomes markup.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { leadsTo, parseMarkdown, textOf, type Block, type Inline } from '../state/markdown';
import { visible, visibleProse } from '../state/visible';
import { t } from '../strings';

const SHOWN = 20_000; // characters; the rest is a click away

export function Markdown({ text }: { text: string }) {
    const [isWhole, setWhole] = useState(false);
    const isCut = !isWhole && text.length > SHOWN;
    const shown = isCut ? text.slice(0, SHOWN) : text;
    const blocks = useMemo(() => parseMarkdown(shown), [shown]);

    return (
        <div class="markdown">
            {blocks.map(showBlock)}
            {isCut && <button type="button" class="json-more" onClick={() => setWhole(true)}>{t.parts.moreText(text.length - SHOWN)}</button>}
        </div>
    );
}

function showBlock(block: Block, key: number): ComponentChildren {
    switch (block.kind) {
    case 'paragraph': return <p key={key} dir="auto">{block.children.map(showInline)}</p>;
    case 'heading': return <p key={key} dir="auto" class={`md-heading h${block.level}`}>{block.children.map(showInline)}</p>; // not one of the page's own
    case 'code': return <pre key={key} dir="ltr" tabIndex={0}><code>{visible(block.text)}</code></pre>;
    case 'quote': return <blockquote key={key}>{block.blocks.map(showBlock)}</blockquote>;
    case 'rule': return <hr key={key} />;
    case 'list': {
        const items = block.items.map((item, i) => <li key={i}>{item.map(showBlock)}</li>);
        return block.start === null ? <ul key={key}>{items}</ul> : <ol key={key} start={block.start}>{items}</ol>;
    }
    }
}

function showInline(inline: Inline, key: number): ComponentChildren {
    switch (inline.kind) {
    case 'text': return visibleProse(inline.text);
    case 'break': return <br key={key} />;
    case 'code': return <code key={key}><bdi>{visible(inline.text)}</bdi></code>;
    case 'strong': return <strong key={key}>{inline.children.map(showInline)}</strong>;
    case 'em': return <em key={key}>{inline.children.map(showInline)}</em>;
    case 'strike': return <s key={key}>{inline.children.map(showInline)}</s>;
    case 'link': return <Link key={key} href={inline.href}>{inline.children}</Link>;
    }
}

function Link({ href, children }: { href: string; children: Inline[] }) {
    const place = leadsTo(href, textOf(children));
    return (
        <>
            <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}><bdi>{children.map(showInline)}</bdi></a>
            {place !== null && <span class="quiet"> (<bdi>{place}</bdi>)</span>}
        </>
    );
}
