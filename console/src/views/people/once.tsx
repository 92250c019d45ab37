// SPDX-License-Identifier: Apache-2.0
// Something that is shown once and cannot be had again.
import { Button, CopyButton } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Field } from '../../parts/field';
import { Time } from '../../parts/time';
import { t } from '../../strings';

interface OnceProps { title: string; text: string; label: string; secret: string; until?: string; onClose: () => void }

export function Once({ title, text, label, secret, until, onClose }: OnceProps) {
    return (
        <Dialog title={title} onClose={onClose} actions={<Button kind="primary" onClick={onClose}>{t.people.done}</Button>}>
            <p><bdi>{text}</bdi></p>
            <div class="once">
                <Field label={label}>
                    {(ids) => <input {...ids} class="code" readOnly value={secret} onFocus={(event) => event.currentTarget.select()} />}
                </Field>
                <CopyButton text={secret} />
            </div>
            {until && <p class="quiet">{t.people.linkUntil} <Time at={until} as="clock" /></p>}
        </Dialog>
    );
}
