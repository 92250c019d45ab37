// SPDX-License-Identifier: Apache-2.0
// What a place shows that has nothing to show: nothing yet, nothing at all, or an error.
import type { ComponentChildren } from 'preact';

import type { Loaded } from '../state/load';
import { visibleProse } from '../state/visible';
import { t } from '../strings';
import { Button } from './button';
import { Icon, type IconName } from './icon';

export type Tone = 'plain' | 'accent' | 'ok' | 'warn' | 'danger';

export function Empty({ icon, title, children, action }: { icon?: IconName; title: string; children?: ComponentChildren; action?: ComponentChildren }) {
    return (
        <div class="empty">
            {icon && <Icon name={icon} />}
            <h2>{title}</h2>
            {children && <p>{children}</p>}
            {action && <div class="row">{action}</div>}
        </div>
    );
}

const ERROR_MAX = 1000; // characters: a server may quote what it was sent

export function ErrorNote({ error, onRetry, isRetrying }: { error: string; onRetry?: () => void; isRetrying?: boolean }) {
    const text = error.length > ERROR_MAX ? `${error.slice(0, ERROR_MAX)}…` : error;
    return <Note tone="danger" action={onRetry && <Button icon="refresh" isBusy={isRetrying === true} onClick={onRetry}>{t.common.retry}</Button>}><bdi>{visibleProse(text)}</bdi></Note>;
}

// A line across the place it concerns; errors and warnings are read aloud at once.
export function Note({ tone = 'plain', children, action }: { tone?: Tone; children: ComponentChildren; action?: ComponentChildren }) {
    const isUrgent = tone === 'danger' || tone === 'warn';
    return (
        <div class={`banner ${tone}`} role={isUrgent ? 'alert' : 'status'}>
            <Icon name={isUrgent ? 'warning' : tone === 'ok' ? 'check' : 'info'} /><div>{children}</div>{action}
        </div>
    );
}

export function Skeleton({ lines = 5 }: { lines?: number }) {
    return (
        <div class="skeleton" role="status" aria-label={t.common.loading}>
            {Array.from({ length: lines }, (_, i) => <div key={i} class={`bone w${i % 4}`} />)}
        </div>
    );
}

// What useLoad() gives: a skeleton, an error with a button, or what `children` makes of it.
export function Loading<T>({ of, children, lines }: { of: Loaded<T>; children: (value: T) => ComponentChildren; lines?: number }) {
    if (of.value === undefined)
        return of.error ? <ErrorNote error={of.error} onRetry={of.reload} isRetrying={of.isLoading} /> : <Skeleton {...(lines && { lines })} />;
    return (
        <>
            {of.error && <ErrorNote error={`${t.parts.refreshFailed} ${of.error}`} onRetry={of.reload} isRetrying={of.isLoading} />}
            {children(of.value)}
        </>
    );
}
