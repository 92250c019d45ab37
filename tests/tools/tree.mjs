// SPDX-License-Identifier: Apache-2.0
//
// A source tree made for one test: writes the files, runs a tool of ours on it, and gives
// back what it said.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = fileURLToPath(new URL('../../tools/', import.meta.url));

export function runOn(tool, files) {
  const root = mkdtempSync(path.join(tmpdir(), 'moot-tree-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
    const run = spawnSync(path.join(tools, tool), [root], { encoding: 'utf8' });
    return { status: run.status, said: (run.stdout + run.stderr).trim().split('\n') };
  } finally {
    rmSync(root, { recursive: true });
  }
}
