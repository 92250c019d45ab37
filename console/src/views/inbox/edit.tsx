// SPDX-License-Identifier: Apache-2.0
// Other arguments than those that were proposed: a form by the tool's schema, what is wrong
// with it, and what differs, before anything runs.
import { useState } from 'preact/hooks';

import type { Json } from '../../net/types';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Diff } from '../../parts/diff';
import { ErrorNote, Note, Skeleton } from '../../parts/notes';
import { SchemaForm } from '../../parts/schema-form';
import { useAct } from '../../state/act';
import { isSame } from '../../state/diff';
import { hasUnseen } from '../../state/exact';
import { validate } from '../../state/schema';
import { t } from '../../strings';
import { isAsking, schemaOf, type Facts } from './facts';

interface EditDialogProps {
    facts: Facts;
    onDone: (edited: Json | undefined) => Promise<unknown>; // undefined: as it was proposed after all
    onClose: () => void;
}

export function EditDialog(props: EditDialogProps) {
    const { facts, onClose } = props;
    const [isKnown, setKnown] = useState(false); // once it is, the form stays as it is
    const title = t.inbox.editTitle(facts.call.tool ?? facts.call.method);

    if (!isKnown && !isAsking(facts)) setKnown(true);
    if (isKnown) return <EditForm title={title} {...props} />;
    return (
        <Dialog title={title} isWide onClose={onClose} actions={<Button onClick={onClose}>{t.common.cancel}</Button>}>
            <p class="quiet" role="status">{t.inbox.aboutLoading}</p>
            <Skeleton />
        </Dialog>
    );
}

function EditForm({ title, facts, onDone, onClose }: EditDialogProps & { title: string }) {
    const [proposed] = useState<Json>(facts.call.args ?? {}); // as it was when the dialog was opened
    const [schema] = useState(schemaOf(facts.tool.value));
    const [value, setValue] = useState<Json>(proposed);
    const [isReadable, setReadable] = useState(true);
    const act = useAct(onClose);
    const problems = validate(schema, value);
    const isChanged = !isSame(proposed, value);
    const isReady = isReadable && !problems.length && isChanged;

    return (
        <Dialog title={title} isWide onClose={onClose} actions={<>
            {!isReadable || problems.length ? <p class="note error grow" role="status">{isReadable ? t.inbox.mend : t.inbox.notReadable}</p> : null}
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button kind="primary" icon="check" isBusy={act.isBusy} isDisabled={!isReady} onClick={() => act.run(() => onDone(value))}>{t.inbox.approveEdited}</Button>
        </>}>
            {act.error && <ErrorNote error={act.error} />}
            <p class="quiet">{t.inbox.editIntro}</p>
            {!schema && <Note tone="plain">{t.inbox.editNoSchema}</Note>}
            {hasUnseen(value) && <Note tone="warn">{t.inbox.unseenHere}</Note>}
            <SchemaForm schema={schema} value={value} problems={problems} onInput={(next, isFine) => { setValue(next); setReadable(isFine); }} />
            <section class="inbox-part">
                <h3>{t.inbox.yourChanges}</h3>
                {isChanged ? <Diff before={proposed} after={value} /> : <p class="quiet">{t.inbox.noChanges}</p>}
            </section>
        </Dialog>
    );
}
