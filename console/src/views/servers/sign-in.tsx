// SPDX-License-Identifier: Apache-2.0
// The address is asked for when it is needed, shown with its host, and opened by the person.
import { path, post } from '../../net/api';
import { Button } from '../../parts/button';
import { Dialog } from '../../parts/dialog';
import { Loading } from '../../parts/notes';
import { useLoad } from '../../state/load';
import { visible } from '../../state/visible';
import { t } from '../../strings';

// Whatever else it may be, it is no address to open.
export function hostOf(url: string): string | null {
    try {
        const { protocol, host } = new URL(url);
        return protocol === 'https:' || protocol === 'http:' ? host : null;
    } catch {
        return null;
    }
}

export function SignIn({ name, onClose }: { name: string; onClose: () => void }) {
    const asked = useLoad(async () => (await post<{ url: string }>(path`/admin/servers/${name}/sign-in`, { origin: location.origin })).url, [name]);

    return (
        <Dialog title={t.servers.signInTitle(visible(name))} onClose={onClose} actions={<Button onClick={onClose}>{t.common.close}</Button>}>
            <p>{t.servers.signInText}</p>
            <Loading of={asked} lines={2}>
                {(url) => {
                    const host = hostOf(url);
                    return host
                        ? <>
                            <p>{t.servers.signInTo} <bdi class="code">{visible(host)}</bdi>. {t.servers.signInUntil}</p>
                            <p><a class="button primary" href={url} target="_blank" rel="noopener noreferrer">{t.servers.signInAct}</a></p>
                        </>
                        : <p class="code"><bdi>{visible(url)}</bdi></p>;
                }}
            </Loading>
        </Dialog>
    );
}
