// SPDX-License-Identifier: Apache-2.0
// Credentials: which there are, making one, revoking one. For administrators.
import { useState } from 'preact/hooks';

import { path, post, remove } from '../../net/api';
import { Avatar, Badge, Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Confirm } from '../../parts/dialog';
import { SelectField, TextArea, TextField } from '../../parts/field';
import { Some } from '../../parts/more';
import { Empty } from '../../parts/notes';
import { Table, type Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { toast } from '../../parts/toast';
import { hrefOf } from '../../router';
import { useAct } from '../../state/act';
import type { Token } from '../../state/people';
import { summaryOf } from '../../state/sentences';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { ExpiryField, forEver, termsOf } from './expiry';
import { linesOf } from './grant';
import { Once } from './once';

interface TokensTableProps { tokens: readonly Token[]; text: string; type: string; onChange: () => void }

export function TokensTable({ tokens, text, type, onChange }: TokensTableProps) {
    const [revoking, setRevoking] = useState<Token | null>(null);
    const wanted = text.trim().toLowerCase();
    const rows = tokens.filter((one) => (!type || one.type === type) && (!wanted || one.id.toLowerCase().includes(wanted) || one.name.toLowerCase().includes(wanted)));

    if (!rows.length) return <Empty icon="search" title={t.people.noTokens}>{t.people.noneHint}</Empty>;
    return (
        <>
            <Some of={rows}>{(some) => <Table label={t.people.tokens} columns={columnsOf(setRevoking)} rows={some} keyOf={(one) => one.name} />}</Some>
            {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(null)} onChange={onChange} />}
        </>
    );
}

function columnsOf(onRevoke: (token: Token) => void): Column<Token>[] {
    const c = t.people.tokenColumns;
    return [
        { title: c.name, isHead: true, cell: (one) => <span class="short"><Name>{one.name}</Name></span> },
        { title: c.id, cell: (one) => <span class="who short"><Avatar id={one.id} type={one.type} /><a class="plain" href={hrefOf('people', one.id)}><Name>{one.id}</Name></a></span> },
        { title: c.may, cell: (one) => <TokenMay token={one} /> },
        { title: c.topics, cell: (one) => (one.topics.join() === '*' ? <span class="quiet">{t.people.anyRoom}</span> : <Name>{one.topics.join(', ')}</Name>) },
        { title: c.source, cell: (one) => <Badge>{t.people.sources[one.source]}</Badge> },
        { title: c.expires, cell: (one) => (one.expires_at ? <Time at={one.expires_at} as="clock" /> : <span class="quiet">{t.people.never}</span>) },
        {
            title: t.people.columns.acts, isTitleHidden: true, align: 'end',
            cell: (one) => (['config', 'server', 'jwt'].includes(one.source)
                ? <span class="hidden">{t.people.inSettings}</span>
                : <Button kind="quiet" icon="cross" label={t.people.revokeToken(visible(one.name))} onClick={() => onRevoke(one)} />),
        },
    ];
}

function TokenMay({ token }: { token: Token }) {
    const { sentences, more } = summaryOf([...token.capabilities, ...(token.moot?.capabilities ?? [])]);

    return (
        <span class="may">
            {token.admin && <Badge>{t.people.admin}</Badge>} <bdi>{sentences.join('; ') || t.people.mayNothing}</bdi>
            {more > 0 && <span class="quiet"> {t.people.more(more)}</span>}
        </span>
    );
}

function RevokeToken({ token, onClose, onChange }: { token: Token; onClose: () => void; onChange: () => void }) {
    const act = useAct();
    const run = () => act.run(async () => {
        const { connections_closed } = await remove<{ connections_closed: number }>(path`/admin/tokens/${token.name}`);
        toast(t.people.revokedToken(visible(token.name), connections_closed), 'ok');
        onChange();
        onClose();
    });

    return (
        <Confirm title={t.people.revokeTokenTitle(visible(token.name))} action={t.people.revokeTokenAct} isDanger isBusy={act.isBusy} onConfirm={run} error={act.error} onClose={onClose}>
            <p><bdi>{t.people.revokeTokenText(visible(token.id))}</bdi></p>
        </Confirm>
    );
}

// --- making one ---

const SETS = ['proposer', 'full', 'human', 'reader', 'tools', 'responder', 'directory', 'orchestrator', 'bridge', 'admin', 'custom'] as const;

export function NewTokenDialog({ onClose, onChange }: { onClose: () => void; onChange: () => void }) {
    const [made, setMade] = useState<{ token: string; about: Token }>();

    if (!made) return <NewTokenForm onClose={onClose} onMade={(token) => { setMade(token); onChange(); }} />;
    return <Once title={t.people.secretTitle} text={t.people.secretText(visible(made.about.id))} label={t.people.secret} secret={made.token} onClose={onClose} />;
}

function NewTokenForm({ onClose, onMade }: { onClose: () => void; onMade: (made: { token: string; about: Token }) => void }) {
    const [form, setForm] = useState({ id: '', name: '', set: 'proposer', text: '', topics: '*', type: '', expiry: forEver });
    const [isTried, setTried] = useState(false);
    const act = useAct();
    const set = (changes: Partial<typeof form>) => setForm({ ...form, ...changes });
    const written = linesOf(form.text);
    const terms = termsOf(form.expiry);
    const isCustom = form.set === 'custom';
    const submit = () => {
        setTried(true);
        if (!form.id || !terms || (isCustom && (written.bad !== null || !written.capabilities.length))) return;
        act.run(async () => onMade(await post('/admin/tokens', {
            id: form.id, topics: form.topics.split(/\s+/).filter(Boolean), ...terms,
            ...(isCustom ? { capabilities: written.capabilities } : { profile: form.set }),
            ...(form.name && { name: form.name }), ...(form.type && { type: form.type }),
        })));
    };

    return (
        <Confirm title={t.people.tokenTitle} action={t.people.tokenAct} isBusy={act.isBusy} onConfirm={submit} error={act.error} onClose={onClose}>
            <TextField label={t.people.tokenId} isCode value={form.id} onInput={(id) => set({ id })} hint={t.people.tokenIdHint} error={isTried && !form.id ? t.people.tokenIdHint : undefined} />
            <SelectField label={t.people.tokenMay} value={form.set} onInput={(value) => set({ set: value })}
                choices={SETS.map((value) => ({ value, title: t.people.sets[value].title }))} />
            {isCustom && <TextArea label={t.people.grantCustom} isCode value={form.text} onInput={(text) => set({ text })} hint={t.people.grantCustomHint}
                error={written.bad !== null ? t.people.grantBad(written.bad + 1) : isTried && !written.capabilities.length ? t.people.grantNothing : undefined} />}
            <TextField label={t.people.tokenTopics} isCode value={form.topics} onInput={(topics) => set({ topics })} hint={t.people.tokenTopicsHint} />
            <SelectField label={t.people.tokenType} value={form.type} onInput={(type) => set({ type })}
                choices={Object.entries(t.people.tokenTypes).map(([value, title]) => ({ value, title }))} />
            <ExpiryField value={form.expiry} onInput={(expiry) => set({ expiry })} isTried={isTried} />
            <TextField label={t.people.tokenName} isOptional isCode value={form.name} onInput={(name) => set({ name })} hint={t.people.tokenNameHint} />
        </Confirm>
    );
}
