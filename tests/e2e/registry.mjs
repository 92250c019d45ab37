// SPDX-License-Identifier: Apache-2.0
// A registry of npm on loopback: what is in tests/node_modules, and what a test adds.
//
//   const registry = await startRegistry()
//       registry.url, .port
//       registry.asked            paths that were asked for, in order
//       registry.add(manifest, files, { tarball, integrity })
//           a package: files by name; another place of its tarball, another digest than its own
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

const digest = (bytes) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

// As npm packs it: all below "package/", without what was installed for it.
const pack = (folder) => execFileSync('tar',
    ['-C', folder, '--exclude=./node_modules', '--transform=s,^\\.,package,', '-czf', '-', '.'], { maxBuffer: 1 << 28 });

// name → version → where it lies
function installed() {
    const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'node_modules/.package-lock.json'), 'utf8'));
    const found = new Map();

    for (const [place, { version }] of Object.entries(packages)) {
        const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

        if (!found.has(name))
            found.set(name, new Map());
        found.get(name).set(version, { folder: path.join(root, place) });
    }
    return found;
}

export async function startRegistry() {
    const packages = installed();
    const asked = [];
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'moot-registry-'));
    let url;

    function describe(name, version, entry) {
        const manifest = JSON.parse(fs.readFileSync(path.join(entry.folder, 'package.json'), 'utf8'));

        entry.bytes ??= pack(entry.folder);
        return { ...manifest, dist: {
            tarball: entry.tarball ?? `${url}-/${encodeURIComponent(name)}/${version}.tgz`,
            integrity: entry.integrity ?? digest(entry.bytes),
        } };
    }

    function packument(name) {
        const versions = [...packages.get(name)].map(([version, entry]) => [version, describe(name, version, entry)]);

        return { name, 'dist-tags': { latest: versions.at(-1)[0] }, versions: Object.fromEntries(versions) };
    }

    const server = http.createServer((request, response) => {
        const [, name, version] = request.url.match(/^\/-\/([^/]+)\/(.+)\.tgz$/)?.map(decodeURIComponent) ?? [];
        const wanted = decodeURIComponent(request.url.slice(1));

        asked.push(request.url);
        if (name)
            response.end(packages.get(name).get(version).bytes);
        else if (packages.has(wanted))
            response.setHeader('content-type', 'application/json').end(JSON.stringify(packument(wanted)));
        else
            response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Not found"}');
    });

    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    url = `http://127.0.0.1:${server.address().port}/`;
    after(() => {
        server.closeAllConnections();
        server.close();
        fs.rmSync(made, { recursive: true, force: true });
    });
    return {
        url,
        asked,
        add(manifest, files, more = {}) {
            const folder = fs.mkdtempSync(path.join(made, 'package-'));

            fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
            for (const [name, text] of Object.entries(files))
                fs.writeFileSync(path.join(folder, name), text, { mode: 0o755 });
            packages.set(manifest.name, new Map([[manifest.version, { folder, ...more }]]));
        },
    };
}
