// SPDX-License-Identifier: Apache-2.0
// Certificates that vouch for themselves, for two days.
//
//   const { certificate, key } = makeCertificate(folder, 'right', 'DNS:localhost')   paths
import { execFileSync } from 'node:child_process';
import path from 'node:path';

export function makeCertificate(folder, name = 'own', hosts = 'DNS:localhost,IP:127.0.0.1') {
    const [certificate, key] = ['pem', 'key'].map((end) => path.join(folder, `${name}.${end}`));

    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
        '-subj', '/CN=localhost', '-addext', `subjectAltName=${hosts}`, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
    return { certificate, key };
}
