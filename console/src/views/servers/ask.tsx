// SPDX-License-Identifier: Apache-2.0
// Is that meant? What then goes wrong is said in the same place.
import { Confirm } from '../../parts/dialog';
import { ErrorNote } from '../../parts/notes';
import { useAct } from '../../state/act';

interface AskProps { title: string; text: string; action: string; isDanger?: boolean; run: () => Promise<void>; onClose: () => void }

export function Ask({ title, text, action, isDanger = false, run, onClose }: AskProps) {
    const act = useAct();

    return (
        <Confirm title={title} action={action} isDanger={isDanger} isBusy={act.isBusy} onClose={onClose}
            onConfirm={() => act.run(async () => { await run(); onClose(); })}>
            {act.error && <ErrorNote error={act.error} />}
            <p>{text}</p>
        </Confirm>
    );
}
