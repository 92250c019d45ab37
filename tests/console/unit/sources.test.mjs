// SPDX-License-Identifier: Apache-2.0
// What no source of the console may hold.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../console/src/', import.meta.url));
const files = fs.readdirSync(root, { recursive: true }).filter((file) => /\.(tsx?|css)$/.test(file));
const lines = files.flatMap((file) => fs.readFileSync(path.join(root, file), 'utf8').split('\n').map((text, i) => ({ file, number: i + 1, text })));

const forbidden = [
    [/innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|DOMParser|createContextualFragment|srcdoc/, 'a text becomes markup'],
    [/\beval\(|new Function|setTimeout\(\s*['"`]|import\([^'"]/, 'a text becomes code'],
    [/:\s*any\b|as any\b|<any>|@ts-ignore|@ts-nocheck|@ts-expect-error/, 'the types are not checked'],
    [/localStorage\.setItem\((?!KEY)|document\.cookie/, 'it is kept for longer than a tab'],
    [/https?:\/\/(?!www\.w3\.org)[a-z]/, 'it may load something from elsewhere'],
    [/console\.(log|debug|info)/, 'it talks to itself'],
];

test('no source turns texts into markup or code, leaves types unchecked, or loads from elsewhere', () => {
    for (const [pattern, why] of forbidden)
        assert.deepEqual(lines.filter(({ text }) => pattern.test(text.replace(/^\s*\/\/.*/, ''))).map(({ file, number }) => `${file}:${number}: ${why}`), []);
});

test('no source has more than 400 lines', () => {
    assert.deepEqual(files.filter((file) => fs.readFileSync(path.join(root, file), 'utf8').split('\n').length > 401), []);
});

// Whose colour comes of a name is made of its hue.
test('colours stand in tokens.css, and nowhere else', () => {
    const named = /(color|background|fill|stroke|border)[^:;{}]*:[^;{}]*\b(white|black|red|green|blue|gr[ae]y|orange|yellow)\b/;
    const colours = lines.filter(({ file, text }) => !file.endsWith('tokens.css')
        && (/\brgba?\(|\b(hsla?|okl\w+|color)\((?!var\(--hue\))/i.test(text) || (file.endsWith('.css') && (/#[0-9a-f]{3,8}\b/i.test(text) || named.test(text)))));
    assert.deepEqual(colours.map(({ file, number }) => `${file}:${number}`), []);
});

// A text between tags or in an attribute that people read, and is not from strings/.
test('what people read stands in strings/', () => {
    const texts = lines.filter(({ file, text }) => file.endsWith('.tsx') && (/>[^<>{}=;()]*[A-Za-z]{3,}[^<>{}=;()]*<\//.test(text) || /\b(aria-label|title|label|placeholder)="[^"]*[A-Za-z]/.test(text)));
    assert.deepEqual(texts.map(({ file, number, text }) => `${file}:${number}: ${text.trim()}`), []);
});
