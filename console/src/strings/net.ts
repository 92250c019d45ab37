// SPDX-License-Identifier: Apache-2.0
export const net = {
    status: (status: number) => `The server answered with status ${status}.`,
    unreachable: 'The server does not answer. Is it running, and is the network there?',
    lost: 'The connection is lost.',
    closed: (code: number) => `The server closed the connection (${code}).`,
};
