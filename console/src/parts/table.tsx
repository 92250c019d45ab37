// SPDX-License-Identifier: Apache-2.0
// A table of what is not endless; thousands of rows want a VirtualList. On a phone each row
// becomes a block with the titles beside the values.
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
    title: string;
    cell: (row: Row) => ComponentChildren;
    align?: 'end'; // numbers
    isHead?: boolean; // what the row is about
    isTitleHidden?: boolean; // buttons
    isExtra?: boolean; // left out where the table is narrow; the details have it
}

interface TableProps<Row> {
    label: string; // what it lists, read aloud
    columns: readonly Column<Row>[];
    rows: readonly Row[];
    keyOf: (row: Row) => string;
    onOpen?: (row: Row) => void; // for the mouse; the head cell has a link or button for keys
    isChosen?: (row: Row) => boolean;
}

export function Table<Row>({ label, columns, rows, keyOf, onOpen, isChosen }: TableProps<Row>) {
    const open = (event: MouseEvent, row: Row) => {
        const isOwn = event.target instanceof Element && event.target.closest('a, button, input, select, .menu');
        if (!isOwn && !getSelection()?.toString()) onOpen?.(row);
    };

    return (
        <div class="table-room"><table class={onOpen ? 'table opens' : 'table'} aria-label={label}>
            <thead>
                <tr>{columns.map((column) => (
                    <th key={column.title} scope="col" class={classOf(column)}>
                        <span class={column.isTitleHidden ? 'hidden' : ''}>{column.title}</span>
                    </th>
                ))}</tr>
            </thead>
            <tbody>
                {rows.map((row) => (
                    <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : ''} onClick={onOpen && ((event) => open(event, row))}>
                        {columns.map((column) => <Cell key={column.title} column={column} row={row} />)}
                    </tr>
                ))}
            </tbody>
        </table></div>
    );
}

function classOf<Row>({ align, isExtra }: Column<Row>): string {
    return [align, isExtra && 'extra'].filter(Boolean).join(' ');
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
    const title = column.isTitleHidden ? undefined : column.title;
    if (column.isHead) return <th scope="row" data-title={title}>{column.cell(row)}</th>;
    return <td class={classOf(column)} data-title={title}>{column.cell(row)}</td>;
}
