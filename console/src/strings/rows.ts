// SPDX-License-Identifier: Apache-2.0
export const rows = {
    next: 'Next row',
    previous: 'Row before',
    search: 'Search',
    details: 'To the details',
    more: (n: number) => `Show ${n} more`,
    hidden: (shown: number, all: number) => `${shown.toLocaleString()} of ${all.toLocaleString()} are shown.`,
};
