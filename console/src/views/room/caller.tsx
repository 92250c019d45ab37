// SPDX-License-Identifier: Apache-2.0
// Calling a tool of somebody in the room, or proposing to: what it offers is asked there, as
// any participant would ask.
import { useEffect, useState } from 'preact/hooks';

import { sentenceOf } from '../../net/api';
import { envelope, newId } from '../../net/envelope';
import { say } from '../../net/topics';
import { isObject, type Json, type JsonObject } from '../../net/types';
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

// Asks, and takes the answer of the one who was asked from the room's log.
function useTools(room: LiveRoom, whom: string) {
    const [request, setRequest] = useState('');
    const [error, setError] = useState('');
    const [isLate, setLate] = useState(false);
    const [round, setRound] = useState(0);

    useCell(room.tick);
    useEffect(() => {
        const id = newId();
        if (!whom) return undefined;
        setRequest(id);
        setError('');
        setLate(false);
        const said = envelope('mcp/request:tools/list', { jsonrpc: '2.0', id, method: 'tools/list', params: {} }, { id, to: [whom] });
        say(room.topic, said).catch((why: unknown) => setError(sentenceOf(why)));
        const timer = setTimeout(() => setLate(true), LATE_MS);
        return () => clearTimeout(timer);
    }, [room, whom, round]);
    const entry = room.log.find(request)?.entry;
    const response = entry?.type === 'call' && entry.request?.id === request ? entry.response : null;
    return { tools: response ? toolsIn(response.payload) : null, error, isLate, retry: () => setRound(round + 1) };
}

function toolsIn(payload: JsonObject): Tool[] {
    const result = payload['result'];
    const tools = isObject(result) ? result['tools'] : null;
    return (Array.isArray(tools) ? tools : []).flatMap((one) => {
        if (!isObject(one) || typeof one['name'] !== 'string') return [];
        return [{ name: one['name'], description: typeof one['description'] === 'string' ? one['description'].slice(0, 2000) : '', schema: one['inputSchema'] }];
    });
}

function CallForm({ room, whom, tool, onDone }: { room: LiveRoom; whom: string; tool: Tool; onDone: () => void }) {
    const [value, setValue] = useState<Json>(() => (isObject(tool.schema) ? startOf(tool.schema) : {}));
    const [isReadable, setReadable] = useState(true);
    const [isTried, setTried] = useState(false);
    const [error, setError] = useState('');
    const [isBusy, setBusy] = useState(false);
    const held = room.roster.you?.capabilities ?? [];
    const mayCall = mayHave(held, `mcp/request:tools/call:${tool.name}`);
    const mayPropose = mayHave(held, `mcp/proposal:tools/call:${tool.name}`);
    const problems = validate(tool.schema, value);
    const send = async (verb: 'request' | 'proposal') => {
        setTried(true);
        if (problems.length || !isReadable) return;
        const id = newId();
        setBusy(true);
        try {
            await say(room.topic, envelope(`mcp/${verb}:tools/call:${tool.name}`,
                { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool.name, arguments: value } }, { id, to: [whom] }));
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
