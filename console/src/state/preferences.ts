// SPDX-License-Identifier: Apache-2.0
// What a person has chosen for this browser: kept there, never sent anywhere.
import { cell } from './cell';

export type Theme = 'auto' | 'light' | 'dark';

export interface Preferences {
    theme: Theme;
    shortcuts: boolean; // single keys; who speaks to the computer turns them off (WCAG 2.1.4)
    notifications: boolean;
}

const KEY = 'moot-preferences';
const usual: Preferences = { theme: 'auto', shortcuts: true, notifications: false };

export const preferences = cell<Preferences>(usual);

function isTheme(value: unknown): value is Theme {
    return value === 'auto' || value === 'light' || value === 'dark';
}

// Whatever stands there was perhaps written by another version.
export function readPreferences(text: string | null): Preferences {
    let kept: Partial<Record<keyof Preferences, unknown>>;
    try {
        kept = Object(JSON.parse(text ?? '{}'));
    } catch {
        return usual;
    }
    return {
        theme: isTheme(kept.theme) ? kept.theme : usual.theme,
        shortcuts: typeof kept.shortcuts === 'boolean' ? kept.shortcuts : usual.shortcuts,
        notifications: typeof kept.notifications === 'boolean' ? kept.notifications : usual.notifications,
    };
}

function showTheme(theme: Theme): void {
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
}

export function startPreferences(): void {
    preferences.set(readPreferences(localStorage.getItem(KEY)));
    showTheme(preferences.get().theme);
}

export function prefer(change: Partial<Preferences>): void {
    preferences.set({ ...preferences.get(), ...change });
    localStorage.setItem(KEY, JSON.stringify(preferences.get()));
    showTheme(preferences.get().theme);
}
