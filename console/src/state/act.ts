// SPDX-License-Identifier: Apache-2.0
// Something that somebody has asked for and that takes its time: one at a time, and a sentence
// where it failed, which stays until the next.
import { useRef, useState } from 'preact/hooks';

import { sentenceOf } from '../net/api';

export interface Act {
    isBusy: boolean;
    error: string | undefined;
    run: (act: () => Promise<unknown>) => void;
}

// `onDone`: closes a dialog, for one.
export function useAct(onDone?: () => void): Act {
    const [state, setState] = useState<{ isBusy: boolean; error?: string }>({ isBusy: false });
    const isBusy = useRef(false); // a key may come twice before anything is drawn
    const end = (next: { error?: string }) => {
        isBusy.current = false;
        setState({ isBusy: false, ...next });
    };
    const run = (act: () => Promise<unknown>) => {
        if (isBusy.current) return;
        isBusy.current = true;
        setState({ isBusy: true });
        act().then(() => { end({}); onDone?.(); }, (failure: unknown) => end({ error: sentenceOf(failure) }));
    };
    return { isBusy: state.isBusy, error: state.error, run };
}
