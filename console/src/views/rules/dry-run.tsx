// SPDX-License-Identifier: Apache-2.0
// What a rule would have done with what the record has. It is asked for by a button: it may
// read much.
import { useEffect, useRef, useState } from 'preact/hooks';

import { sentenceOf } from '../../net/api';
import { currentSession } from '../../net/session';
import type { JsonObject } from '../../net/types';
import { Name } from '../../parts/badge';
import { Button } from '../../parts/button';
import { SelectField } from '../../parts/field';
import { ErrorNote, Note, Skeleton } from '../../parts/notes';
import { Time } from '../../parts/time';
import { hrefOf } from '../../router';
import { trialSentence, type Trial } from '../../state/rules';
import { visible } from '../../state/visible';
import { t } from '../../strings';
import { tryRule } from './data';

interface DryRunProps {
    topic: string;
    rule: string | JsonObject | null; // its id, or one that is not there yet; null: it is not right yet
}

type State = { state: 'idle' } | { state: 'running' } | { state: 'done'; trial: Trial } | { state: 'failed'; error: string };

export function DryRun({ topic, rule }: DryRunProps) {
    const [since, setSince] = useState('30d');
    const [state, setState] = useState<State>({ state: 'idle' });
    const abort = useRef<AbortController>();
    const what = JSON.stringify(rule);
    const start = () => {
        if (rule === null) return;
        const mine = new AbortController();
        abort.current?.abort();
        abort.current = mine;
        setState({ state: 'running' });
        tryRule(topic, rule, since, mine.signal).then(
            (trial) => { if (!mine.signal.aborted) setState({ state: 'done', trial }); },
            (error: unknown) => { if (!mine.signal.aborted) setState({ state: 'failed', error: sentenceOf(error) }); },
        );
    };

    // The result of another rule, or of another time, would be worse than none.
    useEffect(() => {
        setState({ state: 'idle' });
        return () => abort.current?.abort();
    }, [topic, what, since]);
    return (
        <div class="dry-run">
            <p class="note">{t.rules.dryHint}</p>
            <div class="row">
                <SelectField label={t.rules.since} value={since} onInput={setSince} choices={Object.entries(t.rules.sinceChoices).map(([value, title]) => ({ value, title }))} />
                <Button icon="play" isBusy={state.state === 'running'} isDisabled={rule === null} onClick={start}>
                    {state.state === 'done' ? t.rules.dryAgain : t.rules.dryStart}
                </Button>
            </div>
            {state.state === 'running' && <Skeleton lines={3} />}
            {state.state === 'failed' && <ErrorNote error={state.error} onRetry={start} />}
            {state.state === 'done' && <Result trial={state.trial} topic={topic} />}
        </div>
    );
}

const PARTS = ['approved', 'rejected', 'corrected', 'by_others', 'undecided'] as const;

function Result({ trial, topic }: { trial: Trial; topic: string }) {
    const { tone, text } = trialSentence(trial);
    const parts = PARTS.filter((part) => trial[part] > 0);

    return (
        <>
            <Note tone={tone}>{text}</Note>
            {parts.length > 0 && <ul class="row dry-parts">{parts.map((part) => <li key={part}><b>{trial[part]}</b> {t.rules.dryParts[part]}</li>)}</ul>}
            {!trial.complete && <p class="note">{t.rules.dryCut} {trial.reached ? <Time at={trial.reached} as="clock" /> : '–'}.</p>}
            {trial.removed > 0 && <p class="note">{t.rules.dryRemoved(trial.removed)}</p>}
            {trial.false.length > 0 && <Proposals title={t.rules.wrongs} topic={topic} list={trial.false} />}
            {trial.newest.length > 0 && <Proposals title={t.rules.newest} topic={topic} list={trial.newest} />}
        </>
    );
}

function Proposals({ title, topic, list }: { title: string; topic: string; list: Trial['newest'] }) {
    return (
        <details class="fold">
            <summary>{title} ({list.length})</summary>
            <ul class="rule-proposals">
                {list.map((one) => (
                    <li key={one.id}>
                        <ThreadLink topic={topic} id={one.id} />
                        <span>{t.rules.verdicts[one.verdict] ?? visible(one.verdict)} {one.by && <bdi class="quiet">{t.rules.by(visible(one.by))}</bdi>} {t.rules.origins[one.origin ?? ''] && <span class="quiet">({t.rules.origins[one.origin ?? '']})</span>}</span>
                        <span class="quiet"><Time at={one.at} as="clock" /></span>
                    </li>
                ))}
            </ul>
        </details>
    );
}

// The whole thread, for those who may read the record.
export function ThreadLink({ topic, id }: { topic: string; id: string }) {
    if (!currentSession().admin) return <span class="code"><Name>{id}</Name></span>;
    return <a class="code" href={hrefOf('audit', null, { topic, thread: id })}><Name>{id}</Name></a>;
}
