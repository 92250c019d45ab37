// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

import { Refusal, sentenceOf } from '../net/api';
import { leaveForProvider, signInWith, waysToSignIn, type Ways } from '../net/session';
import { Button, LinkButton } from '../parts/button';
import { TextField } from '../parts/field';
import { Note } from '../parts/notes';
import { visible } from '../state/visible';
import { t } from '../strings';

// `why`: what happened before, as a sentence, or null.
export function SignInView({ why }: { why: string | null }) {
    const ways = useWays();

    return (
        <main class="signin" id="content">
            <div class="signin-box">
                <h1>{t.signin.title}</h1>
                <p class="quiet">{t.signin.purpose}</p>
                {why && <Note tone="warn">{why}</Note>}
                {ways.provider && <ProviderButton name={ways.provider.name} />}
                <h2>{t.signin.linkTitle}</h2>
                <p>{t.signin.link}</p>
                <p>{t.signin.linkAgain} <code>{t.signin.linkCommand}</code></p>
                <h2>{t.signin.tokenTitle}</h2>
                <TokenForm isFirst={!ways.provider} />
            </div>
        </main>
    );
}

// What else there is to sign in with does not wait for this.
function useWays(): Ways {
    const [ways, setWays] = useState<Ways>({});

    useEffect(() => {
        const control = new AbortController();
        waysToSignIn(control.signal).then(setWays, () => undefined); // then there is nothing more
        return () => control.abort();
    }, []);
    return ways;
}

function ProviderButton({ name }: { name: string }) {
    return (
        <p class="signin-provider" onClick={leaveForProvider}>
            <LinkButton kind="primary" href="/session/provider">{t.signin.provider(visible(name))}</LinkButton>
        </p>
    );
}

function TokenForm({ isFirst }: { isFirst: boolean }) {
    const [token, setToken] = useState('');
    const [error, setError] = useState<string>();
    const [isBusy, setBusy] = useState(false);
    const submit = async () => {
        const pasted = token.trim();
        if (!/^[\x21-\x7e]+$/.test(pasted)) return setError(t.signin.notAToken);
        setBusy(true);
        try {
            await signInWith(pasted);
        } catch (thrown) {
            setError(thrown instanceof Refusal && thrown.status === 401 ? t.signin.badToken : sentenceOf(thrown));
            setBusy(false);
        }
    };

    return (
        <form onSubmit={(event) => { event.preventDefault(); if (!isBusy) void submit(); }}>
            <TextField label={t.signin.token} type="password" isCode value={token} hint={t.signin.tokenHint} error={error}
                onInput={(value) => { setToken(value); setError(undefined); }} />
            <Button type="submit" kind={isFirst ? 'primary' : 'plain'} isBusy={isBusy}>{t.signin.submit}</Button>
        </form>
    );
}
