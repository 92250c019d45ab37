// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL of a test's own: fresh, in a temporary folder, on a unix socket only. Started
// by root it runs as nobody. It goes with this process, however that ends.
//
//   const missing                     why there can be none here, or false: for `skip`
//   const postgres = await startPostgres()
//       postgres.url                  postgresql://moot@/postgres?host=…
//       await postgres.query(sql)     rows as arrays of texts
//       await postgres.stop(how)      'fast' (the default), or 'immediate', as a crash
//       await postgres.start()        again
//       await postgres.remove()       stops it for good
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { within } from './gateway.mjs';

const bin = '/usr/lib/postgresql/15/bin';
const nobody = 65534;
const isRoot = process.getuid() === 0;

export const missing = fs.existsSync(path.join(bin, 'initdb')) ? false
    : 'no PostgreSQL 15 is installed (Debian package postgresql)';

// As somebody else than root, and not longer than we live.
const command = (name, ...args) => ['setpriv', [
    ...(isRoot ? [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []),
    '--pdeathsig', 'QUIT', path.join(bin, name), ...args]];

class Postgres {
    constructor(folder) {
        this.folder = folder;
        this.url = `postgresql://moot@/postgres?host=${folder}`;
    }

    run(name, ...args) {
        return promisify(execFile)(...command(name, ...args), { cwd: this.folder });
    }

    // The eighth line of its file says how far it is, as pg_ctl reads it.
    isReady() {
        try {
            return fs.readFileSync(path.join(this.folder, 'data/postmaster.pid'), 'utf8').split('\n')[7].startsWith('ready');
        } catch {
            return false;
        }
    }

    async start() {
        const log = fs.openSync(path.join(this.folder, 'log'), 'a');

        this.child = spawn(...command('postgres', '-D', path.join(this.folder, 'data'), '-k', this.folder,
            '-c', 'listen_addresses=', '-c', 'max_connections=30'), { cwd: this.folder, stdio: ['ignore', log, log] });
        fs.closeSync(log);
        this.child.unref();
        this.ended = once(this.child, 'exit');
        const ready = (async () => {
            while (!this.isReady() && this.child.exitCode === null)
                await pause(20);
        })();
        await within(ready, 'PostgreSQL to start', 60_000);
        assert.equal(this.child.exitCode, null, fs.readFileSync(path.join(this.folder, 'log'), 'utf8'));
    }

    async stop(how = 'fast') {
        this.child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
        await within(this.ended, 'PostgreSQL to stop', 60_000);
    }

    async query(sql) {
        const { stdout } = await this.run('psql', '-XAtq', '-F', '\t', '-h', this.folder, '-U', 'moot', '-d', 'postgres', '-c', sql);

        return stdout.split('\n').filter(Boolean).map((line) => line.split('\t'));
    }

    async remove() {
        if (this.child.exitCode === null)
            await this.stop('immediate');
        fs.rmSync(this.folder, { recursive: true, force: true });
    }
}

export async function startPostgres() {
    const postgres = new Postgres(fs.mkdtempSync(path.join(os.tmpdir(), 'moot-postgres-')));

    if (isRoot)
        fs.chownSync(postgres.folder, nobody, nobody);
    process.once('exit', () => {
        postgres.child?.kill('SIGQUIT');
        fs.rmSync(postgres.folder, { recursive: true, force: true });
    });
    await postgres.run('initdb', '-D', path.join(postgres.folder, 'data'), '-U', 'moot', '-A', 'trust', '-E', 'UTF8',
        '--locale=C.UTF-8', '--no-sync');
    await postgres.start();
    return postgres;
}
