// SPDX-License-Identifier: Apache-2.0
// A mistake of ours in one view leaves the others alone.
import { Component, type ComponentChildren } from 'preact';

import { t } from '../strings';
import { ErrorNote } from './notes';

interface BoundaryState {
    error: unknown;
}

export class Boundary extends Component<{ children: ComponentChildren }, BoundaryState> {
    override state: BoundaryState = { error: null };

    override componentDidCatch(error: unknown): void {
        console.error(error); // for whoever looks into it; tests fail by it
        this.setState({ error });
    }

    render() {
        if (this.state.error === null) return this.props.children;
        return <div class="page-body"><ErrorNote error={t.parts.mistake} onRetry={() => this.setState({ error: null })} /></div>;
    }
}
