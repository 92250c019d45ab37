// SPDX-License-Identifier: Apache-2.0
// Bytes for people: "512 B", "1.5 MiB".
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function sizeOf(bytes: number): string {
    let size = Math.max(0, bytes), unit = 0;
    while (size >= 1024 && unit < UNITS.length - 1) {
        size /= 1024;
        unit++;
    }
    return `${size >= 100 ? Math.round(size) : Number(size.toFixed(1))} ${UNITS[unit] ?? ''}`;
}
