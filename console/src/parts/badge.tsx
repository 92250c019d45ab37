// SPDX-License-Identifier: Apache-2.0
// Small marks: a state in a word, somebody's sign, a name that others chose.
import type { ComponentChildren } from 'preact';

import type { ParticipantType } from '../net/types';
import { visibleName } from '../state/visible';
import { t } from '../strings';
import { Icon, type IconName } from './icon';
import type { Tone } from './notes';

const MOST = 99; // of what waits: more is not counted out

// Never by colour alone: it has a word.
export function Badge({ tone = 'plain', icon, children }: { tone?: Tone; icon?: IconName; children: ComponentChildren }) {
    return <span class={`badge ${tone}`}>{icon && <Icon name={icon} />}{children}</span>;
}

// How much waits somewhere; nothing where nothing does.
export function Count({ of }: { of: number }) {
    if (of === 0) return null;
    return <span class="count"><span class="hidden">{t.common.waiting(of)}</span><span aria-hidden="true">{of > MOST ? `${MOST}+` : of}</span></span>;
}

const SIGNS: Record<ParticipantType, IconName> = { human: 'person', agent: 'agent', service: 'tool' };

// One of eight hues, the same for a name everywhere.
export function hueOf(id: string): number {
    let hash = 0;
    for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) | 0;
    return Math.abs(hash) % 8;
}

// Of whom nobody knows what it is.
function letterOf(id: string): string {
    return /[\p{L}\p{N}]/u.exec(id)?.[0].toUpperCase() ?? '?';
}

export function Avatar({ id, type }: { id: string; type?: ParticipantType | undefined }) {
    return <span class={`avatar hue${hueOf(id)}`} title={type && t.parts.types[type]}>{type ? <Icon name={SIGNS[type]} /> : <b aria-hidden="true">{letterOf(id)}</b>}</span>;
}

// Names and ids of others: cut where they are too long, with what is invisible shown, and
// unable to change the direction of the text around them.
export function Name({ children }: { children: string }) {
    const text = visibleName(children);
    return <bdi class="name" title={text}>{text}</bdi>;
}

// Somebody, with the sign of what it is.
export function Person({ id, type }: { id: string; type?: ParticipantType | undefined }) {
    return <span class="person"><Avatar id={id} type={type} /><Name>{id}</Name></span>;
}
