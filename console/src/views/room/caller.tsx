// SPDX-License-Identifier: Apache-2.0
// Calling a tool of somebody in the room, or proposing to: what it offers is asked there, as
// any participant would ask.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { sentenceOf } from '../../net/api';
import { envelope, newId } from '../../net/envelope';
import { Once, say } from '../../net/topics';
import { isObject, type Envelope, type Json, type JsonObject } from '../../net/types';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { SelectField, TextField } from '../../parts/field';
import { ErrorNote, Note, Skeleton } from '../../parts/notes';
import { SchemaForm } from '../../parts/schema-form';
import { toast } from '../../parts/toast';
import { useCell } from '../../state/cell';
import { mayHave } from '../../state/kinds';
import { sorted } from '../../state/roster';
import { emptyOf, validate } from '../../state/schema';
import { toolsPage } from '../../state/tools';
import { visible, visibleProse } from '../../state/visible';
import { t } from '../../strings';
import type { LiveRoom } from './live';

interface Tool { name: string; description: string; schema: Json | undefined }

export function CallDialog({ room, callee, onClose }: { room: LiveRoom; callee: string; onClose: () => void }) {
    const ids = sorted(room.roster.members.values(), room.me).reverse() // services first
        .filter((one) => one.id !== room.me && mayHave(one.capabilities, 'mcp/response:tools/call')).map(({ id }) => id);
    const [whom, setWhom] = useState(ids.includes(callee) ? callee : ids[0] ?? '');
    const [tool, setTool] = useState('');
    const asked = useTools(room, whom);
    const chosen = asked.tools?.find(({ name }) => name === tool) ?? asked.tools?.[0];

    if (!whom) return <Dialog title={t.room.callTitle} onClose={onClose}><p>{t.room.nobodyAnswers}</p></Dialog>;
    return (
        <Dialog title={t.room.callTitle} onClose={onClose} isWide>
            <SelectField label={t.room.whom} value={whom} onInput={(next) => { setWhom(next); setTool(''); }} choices={ids.map((id) => ({ value: id, title: visible(id).slice(0, 80) }))} />
            {asked.error ? <ByHand room={room} whom={whom} why={asked.error} onDone={onClose} />
                : !asked.tools ? <><Skeleton lines={3} /><p class="quiet" role="status">{asked.isLate ? t.room.noAnswer : t.room.asking} {asked.isLate && <Button onClick={asked.retry}>{t.room.askAgain}</Button>}</p></>
                    : !chosen ? <p>{t.room.noTools}</p> : (
                        <>
                            <SelectField label={t.room.tool} value={chosen.name} onInput={setTool} choices={asked.tools.map(({ name }) => ({ value: name, title: visible(name).slice(0, 80) }))} />
                            {chosen.description && <p class="quiet tool-description">{visibleProse(chosen.description)}</p>}
                            <CallForm key={`${whom}\n${chosen.name}`} room={room} whom={whom} tool={chosen} onDone={onClose} />
                        </>
                    )}
        </Dialog>
    );
}

// Who may not ask for the list may still know what is on it.
function ByHand({ room, whom, why, onDone }: { room: LiveRoom; whom: string; why: string; onDone: () => void }) {
    const [name, setName] = useState('');

    return (
        <>
            <Note>{t.room.byHand(why)}</Note>
            <TextField label={t.room.tool} isCode value={name} onInput={setName} />
            {name.trim() && <CallForm key={name.trim()} room={room} whom={whom} tool={{ name: name.trim(), description: '', schema: undefined }} onDone={onDone} />}
        </>
    );
}

const LATE_MS = 10_000;
const PAGES_MOST = 10;

interface Asked { request: string; page: number; before: Tool[] } // what the pages before it brought

// Asks, page by page, and takes the answers of the one who was asked from the room's log.
function useTools(room: LiveRoom, whom: string) {
    const [asked, setAsked] = useState<Asked>({ request: '', page: 0, before: [] });
    const [error, setError] = useState('');
    const [isLate, setLate] = useState(false);
    const [round, setRound] = useState(0);
    const ask = (page: number, before: Tool[], cursor?: string) => {
        const id = newId();
        setAsked({ request: id, page, before });
        setLate(false);
        const said = envelope('mcp/request:tools/list', { jsonrpc: '2.0', id, method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, { id, to: [whom] });
        say(room.topic, said).catch((why: unknown) => setError(sentenceOf(why)));
    };

    useCell(room.tick);
    useEffect(() => {
        setError('');
        if (whom) ask(0, []);
    }, [room, whom, round]);
    useEffect(() => {
        const timer = setTimeout(() => setLate(true), LATE_MS);
        return () => clearTimeout(timer);
    }, [asked.request]);
    const entry = room.log.find(asked.request)?.entry;
    const response = entry?.type === 'call' && entry.request?.id === asked.request ? entry.response : null;
    const listed = useMemo(() => (response ? toolsIn(response.payload) : null), [response]);
    const isMore = listed?.next !== undefined && asked.page + 1 < PAGES_MOST;
    const tools = useMemo(() => withNew(asked.before, listed?.tools ?? []), [asked, listed]);
    useEffect(() => { if (listed && isMore) ask(asked.page + 1, tools, listed.next); }, [listed]);

    const said = error || (listed?.error === undefined ? '' : t.room.saysError(visible(whom), visible(listed.error)));
    const isAll = listed !== null && !isMore;
    return {
        tools: isAll || ((isLate || said) && tools.length) ? tools : null, // some are better than none
        error: tools.length ? '' : said, isLate, retry: () => setRound(round + 1),
    };
}

function withNew(before: readonly Tool[], more: readonly Tool[]): Tool[] {
    const known = new Set(before.map(({ name }) => name));
    return [...before, ...more.filter(({ name }) => !known.has(name) && known.add(name))];
}

function toolsIn(payload: JsonObject): { tools: Tool[]; next: string | undefined; error: string | undefined } {
    const { tools, next, error } = toolsPage(payload);
    return {
        next, error,
        tools: tools.flatMap((one) => (typeof one['name'] !== 'string' ? []
            : [{ name: one['name'], description: typeof one['description'] === 'string' ? one['description'].slice(0, 2000) : '', schema: one['inputSchema'] }])),
    };
}

function callOf(verb: 'request' | 'proposal', whom: string, name: string, args: Json): Envelope {
    const id = newId();
    return envelope(`mcp/${verb}:tools/call:${name}`, { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }, { id, to: [whom] });
}

function CallForm({ room, whom, tool, onDone }: { room: LiveRoom; whom: string; tool: Tool; onDone: () => void }) {
    const [value, setValue] = useState<Json>(() => (isObject(tool.schema) ? startOf(tool.schema) : {}));
    const [isReadable, setReadable] = useState(true);
    const [isTried, setTried] = useState(false);
    const [error, setError] = useState('');
    const [isBusy, setBusy] = useState(false);
    const once = useRef(new Once());
    const held = room.roster.you?.capabilities ?? [];
    const mayCall = mayHave(held, `mcp/request:tools/call:${tool.name}`);
    const mayPropose = mayHave(held, `mcp/proposal:tools/call:${tool.name}`);
    const problems = validate(tool.schema, value);
    const send = async (verb: 'request' | 'proposal') => {
        setTried(true);
        if (problems.length || !isReadable) return;
        setBusy(true);
        try {
            await once.current.say(room.topic, JSON.stringify([verb, value]), () => callOf(verb, whom, tool.name, value));
            toast((verb === 'request' ? t.room.sentCall : t.room.sentProposal)(visible(tool.name)), 'ok');
            onDone();
        } catch (why) {
            setError(sentenceOf(why));
        }
        setBusy(false);
    };

    return (
        <>
            <SchemaForm schema={tool.schema} value={value} problems={isTried ? problems : []} onInput={(next, isJson) => { setValue(next); setReadable(isJson); }} />
            {error && <ErrorNote error={error} />}
            {!mayCall && <Note>{mayPropose ? t.room.proposeWhy : t.room.mayNotCall}</Note>}
            <div class="row">
                {mayCall && <Button kind="primary" isBusy={isBusy} onClick={() => void send('request')}>{t.room.callNow}</Button>}
                {mayPropose && <Button kind={mayCall ? 'plain' : 'primary'} isBusy={isBusy} onClick={() => void send('proposal')}>{t.room.proposeNow}</Button>}
            </div>
        </>
    );
}

// Fields that must be there, empty; the others are left out until somebody fills them in.
function startOf(schema: JsonObject): Json {
    const empty = emptyOf(schema);
    return isObject(empty) ? empty : {};
}
