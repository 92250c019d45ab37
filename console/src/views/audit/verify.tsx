// SPDX-License-Identifier: Apache-2.0
// Verifying the record: how far it is, and what was found, in words.
import { useEffect, useState } from 'preact/hooks';

import { get, post, remove } from '../../net/api';
import { Name } from '../../parts/badge';
import { Button, CopyButton } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { TextField } from '../../parts/field';
import { ErrorNote, Loading, Note } from '../../parts/notes';
import { Time } from '../../parts/time';
import { useAct } from '../../state/act';
import { isHead, outcomeOf, type Verification } from '../../state/audit';
import { useLoad } from '../../state/load';
import { t } from '../../strings';

const POLL_MS = 400;
const WHERE = '/admin/audit/verify';

export function VerifyDialog({ onClose }: { onClose: () => void }) {
    const status = useLoad((signal) => get<Verification>(WHERE, { signal }), []);
    const [head, setHead] = useState('');
    const act = useAct();
    const isRunning = status.value?.state === 'running';
    const isBad = head.trim() !== '' && !isHead(head.trim());
    const start = () => act.run(async () => {
        if (isBad) return;
        await post(WHERE, head.trim() ? { head: head.trim() } : {});
        status.reload();
    });
    const stop = () => act.run(async () => { await remove(WHERE); status.reload(); });

    useEffect(() => {
        if (!isRunning || status.isLoading) return undefined;
        const timer = setTimeout(status.reload, POLL_MS);
        return () => clearTimeout(timer);
    }, [isRunning, status.isLoading]);
    return (
        <Dialog title={t.audit.verifyTitle} onClose={onClose} actions={<>
            <Button onClick={onClose}>{t.common.close}</Button>
            {isRunning
                ? <Button kind="danger" icon="stop" isBusy={act.isBusy} onClick={stop}>{t.audit.verifyStop}</Button>
                : <Button kind="primary" icon="check" isBusy={act.isBusy} isDisabled={isBad || !status.value} onClick={start}>{status.value?.state === 'none' ? t.audit.verifyStart : t.audit.verifyAgain}</Button>}
        </>}>
            <p>{t.audit.verifyText}</p>
            {act.error && <ErrorNote error={act.error} />}
            <Loading of={status} lines={2}>{(value) => <Status of={value} />}</Loading>
            <TextField label={t.audit.head} isOptional isCode value={head} onInput={setHead} isDisabled={isRunning} hint={t.audit.headHint} error={isBad ? t.audit.headBad : undefined} />
            <p class="note">{t.audit.verifyTrust}</p>
        </Dialog>
    );
}

function Status({ of }: { of: Verification }) {
    const outcome = outcomeOf(of);

    if (of.state === 'running') return (
        <div class="audit-progress" role="status">
            <progress aria-label={t.audit.progress} max={Math.max(1, of.total ?? 1)} value={of.records ?? 0} />
            <span>{t.audit.verifying((of.records ?? 0).toLocaleString(), (of.total ?? 0).toLocaleString())}</span>
        </div>
    );
    if (!outcome) return null;
    return (
        <>
            <Note tone={outcome.tone}>{outcome.lines.map((line) => <p key={line}>{line}</p>)}</Note>
            <dl class="facts">
                {of.ended && <><dt>{t.audit.verifiedAt}</dt><dd><Time at={of.ended} /></dd></>}
                {of.by && <><dt>{t.audit.verifiedBy}</dt><dd><Name>{of.by}</Name></dd></>}
            </dl>
            {of.holds && of.head && <div><p class="note">{t.audit.keepHead}</p><span class="audit-head code"><bdi>{of.head}</bdi><CopyButton text={of.head} /></span></div>}
        </>
    );
}
