// SPDX-License-Identifier: Apache-2.0
// The name of each view, and the purpose of some in one line, which is shown where they are empty.
export const views = {
    room: { title: 'Rooms' },
};
