// SPDX-License-Identifier: Apache-2.0
// What an answer brings: texts, images, links, trees. All of it is somebody else's: texts stay
// texts, images are pixels of known formats, and links lead to pages or are no links.
import { useMemo, useState } from 'preact/hooks';

import { isObject, type Json, type JsonObject } from '../../net/types';
import { Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Icon } from '../../parts/icon';
import { JsonTree } from '../../parts/json-tree';
import { isBase64 } from '../../state/base64';
import { errorOf } from '../../state/calls';
import { safeHref } from '../../state/markdown';
import { bytesOf, sizeOf } from '../../state/preview';
import { visible } from '../../state/visible';
import { t } from '../../strings';

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']); // no SVG: that is a program
const TEXT = 4000; // characters that are shown at first
const LINES = 40;
const TREE_MOST = 200_000;
const ITEMS_MOST = 100;

export function Answer({ payload }: { payload: JsonObject }) {
    const error = errorOf(payload);
    if (error) return <Failure {...error} />;
    return <Result result={payload['result'] ?? null} />;
}

// The first image of an answer, for a card that is folded.
export function Thumbnail({ payload }: { payload: JsonObject }) {
    const result = payload['result'];
    const content = isObject(result) && Array.isArray(result['content']) ? result['content'].slice(0, ITEMS_MOST) : [];
    const image = content.find((item) => isObject(item) && item['type'] === 'image' && IMAGES.has(String(item['mimeType']).toLowerCase()));

    if (!isObject(image) || typeof image['data'] !== 'string') return null;
    return <div class="thumbnail"><Image mime={String(image['mimeType']).toLowerCase()} data={image['data']} /></div>;
}

function Failure({ code, message, data }: { code: Json | undefined; message: string; data: Json | undefined }) {
    return (
        <div class="answer">
            <p class="answer-error"><Icon name="warning" /><bdi>{visible(message)}</bdi>{code !== undefined && <span class="quiet"> {t.room.code(String(code))}</span>}</p>
            {data !== undefined && data !== null && <JsonTree value={data} open={1} />}
        </div>
    );
}

function Result({ result }: { result: Json }) {
    if (!isObject(result)) return <JsonTree value={result} />;
    const items = [result['content'], result['contents'], result['messages']].find(Array.isArray);
    const structured = result['structuredContent'];

    if (!items) return <JsonTree value={result} open={2} />;
    return (
        <div class="answer">
            {result['isError'] === true && <p class="answer-error"><Icon name="warning" />{t.room.isError}</p>}
            {items.length === 0 && structured === undefined && <p class="quiet">{t.room.noContent}</p>}
            {items.slice(0, ITEMS_MOST).map((item, i) => <Item key={i} item={item} />)}
            {items.length > ITEMS_MOST && <JsonTree value={items.slice(ITEMS_MOST)} open={0} />}
            {structured !== undefined && !isRepeated(items, structured) && <><p class="label">{t.room.structured}</p><JsonTree value={structured} open={2} /></>}
        </div>
    );
}

// Tools say it as text for those who do not read the other.
function isRepeated(items: readonly Json[], structured: Json): boolean {
    const [only] = items;
    const text = isObject(only) && items.length === 1 ? only['text'] : undefined;
    try {
        return typeof text === 'string' && text.length <= TREE_MOST && JSON.stringify(JSON.parse(text)) === JSON.stringify(structured);
    } catch {
        return false; // no JSON, or deeper than can be written
    }
}

function Item({ item }: { item: Json }) {
    if (!isObject(item)) return <JsonTree value={item} />;
    const { type, text, data, blob, mimeType, uri, resource, role, content } = item;
    const mime = typeof mimeType === 'string' ? mimeType : '';

    if (role !== undefined && content !== undefined)
        return <div class="answer-message"><Badge>{String(role)}</Badge>{(Array.isArray(content) ? content : [content]).map((one, i) => <Item key={i} item={one} />)}</div>;
    if (type === 'resource_link') return <ResourceLink item={item} />;
    if (type === 'resource' && isObject(resource)) return <Item item={resource} />;
    if (typeof text === 'string')
        return <>{typeof uri === 'string' && <ResourceLink item={item} />}<ToolText text={text} /></>;
    const bytes = typeof data === 'string' ? data : typeof blob === 'string' ? blob : null;
    if (bytes === null) return <JsonTree value={item} open={2} />;
    return (
        <>
            {typeof uri === 'string' && <ResourceLink item={item} />}
            {IMAGES.has(mime.toLowerCase()) ? <Image mime={mime.toLowerCase()} data={bytes} /> : <Binary kind={type === 'audio' ? t.room.sound : t.room.blob} mime={mime} data={bytes} />}
        </>
    );
}

function ResourceLink({ item }: { item: JsonObject }) {
    const uri = typeof item['uri'] === 'string' ? item['uri'] : '';
    const title = [item['title'], item['name']].find((one) => typeof one === 'string' && one !== '') as string | undefined;
    const href = safeHref(uri);
    const description = item['description'];

    return (
        <p class="answer-link">
            <Icon name="link" />
            <span>
                {title && <><Name>{title}</Name>{' '}</>}
                {href ? <a class="code" href={href} target="_blank" rel="noopener noreferrer nofollow"><bdi>{visible(uri)}</bdi></a> : <bdi class="code">{visible(uri)}</bdi>}
                {typeof description === 'string' && <span class="quiet"> {visible(description.slice(0, 300))}</span>}
            </span>
        </p>
    );
}

function Image({ mime, data }: { mime: string; data: string }) {
    const [isBroken, setBroken] = useState(() => !isBase64(data));
    const label = t.room.image(mime, sizeOf(bytesOf(data)));

    if (isBroken) return <p class="quiet">{t.room.brokenImage} {label}</p>;
    return <figure class="answer-image"><img src={`data:${mime};base64,${data}`} alt={label} decoding="async" onError={() => setBroken(true)} /><figcaption class="quiet">{label}</figcaption></figure>;
}

function Binary({ kind, mime, data }: { kind: string; mime: string; data: string }) {
    return <p class="answer-link"><Icon name="info" /><span>{kind} <span class="quiet">{t.room.file(visible(mime || t.room.unnamedType), sizeOf(bytesOf(data)))}</span></span></p>;
}

function treeOf(text: string): Json | undefined {
    if (text.length > TREE_MOST || !/^\s*[[{]/.test(text)) return undefined;
    try {
        return JSON.parse(text) as Json;
    } catch {
        return undefined;
    }
}

// Text as it is; JSON in it also as a tree.
export function ToolText({ text }: { text: string }) {
    const tree = useMemo(() => treeOf(text), [text]);
    const [isPlain, setPlain] = useState(false);

    if (tree === undefined) return <PlainText text={text} />;
    return (
        <div class="answer-json">
            {isPlain ? <PlainText text={text} /> : <JsonTree value={tree} open={2} />}
            <Button kind="quiet" onClick={() => setPlain(!isPlain)}>{isPlain ? t.room.showTree : t.room.showText}</Button>
        </div>
    );
}

export function PlainText({ text }: { text: string }) {
    const [isWhole, setWhole] = useState(false);
    const head = isWhole ? text : cutText(text);

    return (
        <div>
            <pre class="answer-text" dir="auto" tabIndex={0}>{visible(head)}</pre>
            {head.length < text.length && <button type="button" class="json-more" onClick={() => setWhole(true)}>{t.parts.moreText(text.length - head.length)}</button>}
        </div>
    );
}

export function cutText(text: string): string {
    const short = text.slice(0, TEXT);
    let at = -1;
    for (let line = 0; line < LINES; line++) {
        at = short.indexOf('\n', at + 1);
        if (at < 0) return short;
    }
    return short.slice(0, at);
}
