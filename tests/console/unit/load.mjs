// SPDX-License-Identifier: Apache-2.0
// Parts of the console without the console.
//
//   const { diff } = await load('state/diff.ts')      a module of console/src, for node
//   await loadSource(`export … from …`)               several that share what they hold
//   await bundle(`import … from './parts/plot'; …`)   TypeScript as if it stood in console/src, as a script for a page
//   await styles()                                    the style sheet
import { webcrypto } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

globalThis.crypto ??= webcrypto; // which browsers have, and node from 20 on

const root = fileURLToPath(new URL('../../../console/', import.meta.url));
const { build } = createRequire(path.join(root, 'package.json'))('esbuild');
const common = { absWorkingDir: root, bundle: true, write: false, jsx: 'automatic', jsxImportSource: 'preact', target: 'es2022', logLevel: 'silent' };

const asSource = (contents) => ({ stdin: { contents, resolveDir: path.join(root, 'src'), loader: 'tsx' } });

export const load = (file) => loadSource(`export * from './${file}';`);

export async function loadSource(contents) {
    const { outputFiles } = await build({ ...common, ...asSource(contents), format: 'esm', platform: 'node' });
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

export async function bundle(contents) {
    const { outputFiles } = await build({ ...common, ...asSource(contents), format: 'iife' });
    return outputFiles[0].text;
}

export async function styles() {
    const { outputFiles } = await build({ ...common, entryPoints: ['src/style/index.css'] });
    return outputFiles[0].text;
}
