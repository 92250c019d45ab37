// SPDX-License-Identifier: Apache-2.0
// A new server. With a token the gateway takes those behind https; what runs, reaches or reads
// something of its machine it takes only there (403 else): then the form is a way to write the
// command for it.
import { useState } from 'preact/hooks';

import { get, post, Refusal } from '../../net/api';
import { Button, CopyButton } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { SelectField, TextArea, TextField } from '../../parts/field';
import { Icon } from '../../parts/icon';
import { ErrorNote, Note } from '../../parts/notes';
import { toast } from '../../parts/toast';
import { useAct } from '../../state/act';
import { useLoad } from '../../state/load';
import { commandOf, faultsOf, isAddedThere, sandboxOf, settingsOf, yamlOf, type NewServer } from '../../state/servers';
import { visible } from '../../state/visible';
import { t } from '../../strings';

const blank: NewServer = { name: '', topic: '', kind: 'command', command: '', url: '', sandbox: 'strict', read: '', write: '', hosts: '' };

export function AddServer({ onClose, onChange }: { onClose: () => void; onChange: () => void }) {
    const topics = useLoad(async (signal) => (await get<{ topics: { name: string }[] }>('/admin/topics', { signal })).topics.map(({ name }) => name).sort(), []);
    const [form, setForm] = useState(blank);
    const [isTried, setTried] = useState(false);
    const [isElsewhere, setElsewhere] = useState(false);
    const act = useAct();
    const faults = faultsOf(form);
    const topic = form.topic || topics.value?.[0] || 'lobby';
    const whole = { ...form, topic };
    const set = (changes: Partial<NewServer>) => { setForm({ ...form, ...changes }); setElsewhere(false); };
    const submit = () => {
        setTried(true);
        if (faults.size) return;
        if (isAddedThere(form)) return setElsewhere(true);
        act.run(async () => {
            try {
                await post('/admin/servers', settingsOf(whole));
            } catch (error) {
                if (!(error instanceof Refusal) || error.status !== 403) throw error;
                setElsewhere(true);
                return;
            }
            toast(t.servers.added(visible(form.name)), 'ok');
            onChange();
            onClose();
        });
    };

    return (
        <Dialog title={t.servers.addTitle} onClose={onClose} isWide actions={isElsewhere
            ? <><Button onClick={() => setElsewhere(false)}>{t.servers.addBack}</Button><Button kind="primary" onClick={onClose}>{t.common.close}</Button></>
            : <><Button onClick={onClose}>{t.common.cancel}</Button><Button kind="primary" isBusy={act.isBusy} onClick={submit}>{isAddedThere(form) ? t.servers.addShow : t.servers.addAct}</Button></>}>
            {act.error && <ErrorNote error={act.error} />}
            {isElsewhere ? <Elsewhere form={whole} /> : <Form form={whole} topics={topics.value ?? (topics.isLoading ? [topic] : [])} set={set} faults={isTried ? faults : new Set()} />}
        </Dialog>
    );
}

interface FormProps { form: NewServer; topics: readonly string[]; set: (changes: Partial<NewServer>) => void; faults: ReturnType<typeof faultsOf> }

function Form({ form, topics, set, faults }: FormProps) {
    const choices = (of: Record<string, string>) => Object.entries(of).map(([value, title]) => ({ value, title }));

    return (
        <>
            <TextField label={t.servers.addName} isCode value={form.name} onInput={(name) => set({ name })} hint={t.servers.addNameHint} error={faults.has('name') ? t.servers.addNameBad : undefined} />
            {topics.length > 0
                ? <SelectField label={t.servers.addRoom} value={form.topic} onInput={(topic) => set({ topic })} choices={topics.map((value) => ({ value, title: visible(value) }))} />
                : <TextField label={t.servers.addRoom} value={form.topic} onInput={(topic) => set({ topic })} />}
            <SelectField label={t.servers.addKind} value={form.kind} onInput={(kind) => set({ kind: kind as NewServer['kind'] })} choices={choices(t.servers.addKinds)} hint={t.servers.addKindHints[form.kind]} />
            {form.kind === 'url'
                ? <TextField label={t.servers.addUrl} isCode value={form.url} onInput={(url) => set({ url })} placeholder={t.servers.addUrlBegins} error={faults.has('url') ? t.servers.addUrlBad : undefined} />
                : <>
                    <TextArea label={t.servers.addCommand} isCode rows={4} value={form.command} onInput={(command) => set({ command })} hint={t.servers.addCommandHint} error={faults.has('command') ? t.servers.addCommandBad : undefined} />
                    <SelectField label={t.servers.addSandbox} value={form.sandbox} onInput={(sandbox) => set({ sandbox: sandbox as NewServer['sandbox'] })} choices={choices(t.servers.addSandboxes)} />
                    {form.sandbox !== 'off' && <>
                        <TextArea label={t.servers.addRead} isOptional isCode rows={2} value={form.read} onInput={(read) => set({ read })} hint={t.servers.addPathsHint} error={faults.has('read') ? t.servers.addPathsBad : undefined} />
                        <TextArea label={t.servers.addWrite} isOptional isCode rows={2} value={form.write} onInput={(write) => set({ write })} hint={t.servers.addPathsHint} error={faults.has('write') ? t.servers.addPathsBad : undefined} />
                    </>}
                    {form.sandbox === 'strict' && <TextArea label={t.servers.addHosts} isOptional isCode rows={2} value={form.hosts} onInput={(hosts) => set({ hosts })} hint={t.servers.addHostsHint} />}
                </>}
            <div>
                <h3>{t.servers.addReads}</h3>
                <ul class="box">{sandboxOf(settingsOf(form)).map(({ text, isRisky }) => <li key={text} class={isRisky ? 'risky' : ''}><Icon name={isRisky ? 'warning' : 'check'} /><bdi>{text}</bdi></li>)}</ul>
            </div>
        </>
    );
}

function Elsewhere({ form }: { form: NewServer }) {
    return (
        <>
            <Note tone="accent">{t.servers.addHere}</Note>
            <Text text={commandOf(form)} />
            <p>{t.servers.addYaml}</p>
            <Text text={yamlOf(form)} />
            <p class="quiet">{t.servers.addDone}</p>
        </>
    );
}

function Text({ text }: { text: string }) {
    return <div class="copied"><pre class="diff-text" tabIndex={0}><bdi>{text}</bdi></pre><CopyButton text={text} /></div>;
}
