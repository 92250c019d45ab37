// SPDX-License-Identifier: Apache-2.0
// The start: who it is comes first, because everything else asks with that.
import { render } from 'preact';

import { App } from './app';
import { startSession } from './net/session';
import { startRouter } from './router';
import { startPreferences } from './state/preferences';
import './style/index.css';

const root = document.getElementById('app');

if (root) {
    startPreferences();
    startRouter();
    render(<App />, root);
    startSession();
}
