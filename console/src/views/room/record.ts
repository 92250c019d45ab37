// SPDX-License-Identifier: Apache-2.0
// What a room said before the gateway's memory begins, from the record: administrators only.
import { get, getText } from '../../net/api';
import { isObject, type Envelope, type Json, type JsonObject } from '../../net/types';
import { parseNoting } from '../../state/exact';
import { noteHeard } from '../../state/when';

interface Row { seq: number; at: string; event: string; id?: string; verdict?: string; body?: Json }
interface Answer { records: Row[]; next?: string }
const PAGES_MOST = 20;

interface Page { envelopes: Envelope[]; isAll: boolean } // the oldest first

function isSaid(row: Row): boolean {
    return (row.event === 'envelope' || row.event === 'presence') && row.verdict !== 'refused' && isObject(row.body) && typeof row.body['kind'] === 'string'
        && typeof row.body['from'] === 'string' && isObject(row.body['payload']);
}

function saidIn({ at, body }: Row): Envelope {
    const said = body as Json & Envelope;
    noteHeard(said, Date.parse(at));
    return said;
}

// When the record was made of an envelope: its own time may be anything.
async function timeOf(topic: string, said: Envelope): Promise<string | undefined> {
    const { records } = await get<Answer>('/admin/audit', { query: { topic, thread: said.id, limit: 1000, order: 'newest' } });
    return records.find((row) => row.id === said.id)?.at ?? said.ts;
}

const bodiesOf = ({ records }: Answer): JsonObject[] => records.flatMap(({ body }) => (isObject(body) ? [body] : []));

// A page of what was said before that envelope. One moment of it may come again.
export async function recordBefore(topic: string, said: Envelope | undefined, limit = 500): Promise<Page> {
    const at = said && await timeOf(topic, said);
    const until = at && !Number.isNaN(Date.parse(at)) ? new Date(Date.parse(at) + 1).toISOString() : undefined;
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MOST; page++) {
        const text = await getText('/admin/audit', { query: { topic, until, limit, order: 'newest', cursor } });
        const { records, next }: Answer = parseNoting<Answer>(text, bodiesOf);
        const envelopes = records.filter(isSaid).map(saidIn).filter(({ id }) => id !== said?.id).reverse();
        if (envelopes.length || next === undefined) return { envelopes, isAll: next === undefined };
        cursor = next; // nothing but connections and the like
    }
    return { envelopes: [], isAll: false };
}
