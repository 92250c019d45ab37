// SPDX-License-Identifier: Apache-2.0
// Characters that are not seen change what is: "gnp.exe" behind U+202E reads "exe.png". Where
// somebody decides by a text, they are shown by their numbers.

// Overrides, embeddings, isolates, tags, halves of characters and control characters: no prose needs them.
const IN_PROSE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;
// Besides these what languages and emoji use, and what looks like nothing or like a space.
const EXACTLY = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
// One of these joins or forms what is beside it; several in a row hold a message for machines.
const HIDDEN = /[\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff\u{e0100}-\u{e01ef}]{2,}/gu;
const IN_EMOJI = '\ufe0f\u200d';
// Marks that are piled up stand on the lines above and below.
const PILES = [/(\p{Script=Inherited}{4})(\p{Script=Inherited}+)/gu, /(\p{M}{8})(\p{M}+)/gu];

function numberOf(char: string): string {
    return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

const numbersOf = (text: string) => [...text].map(numberOf).join('');

function withoutPiles(text: string): string {
    return PILES.reduce((kept, pile) => kept.replace(pile, (_, some: string, rest: string) => some + numbersOf(rest)), text);
}

// --- letters that look like those of another alphabet ---

const WORD = /[\p{L}\p{M}\p{N}_.-]+/gu;
const ALIKE = /[авсеһіјӏкмнорԛѕтхуѵԁԝүАВСЕНІЈКМОРЅТХУҮԚԜαινοργυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹհոսօցքՕՍꭰꭱꭲ]/gu;
const IS_ASCII = /^[\u0000-\u007f]*$/;

// A word of Latin letters in which all others look like Latin ones is not written by hand.
function isDisguised(word: string): boolean {
    const letters = word.replace(/[^\p{L}]/gu, '');
    const others = letters.replace(/\p{Script=Latin}/gu, '');
    return others !== '' && others.length < letters.length && others.replace(ALIKE, '') === '';
}

export function hasLookalike(text: string): boolean {
    return !IS_ASCII.test(text) && (text.match(WORD) ?? []).some(isDisguised);
}

function withoutDisguise(text: string): string {
    return text.replace(WORD, (word) => (isDisguised(word) ? word.replace(ALIKE, numberOf) : word));
}

// What is called something: one line.
export function visibleName(text: string): string {
    return visible(text).replace(/[\t\n]/g, numberOf);
}

// Arguments, code, names inside a sentence.
export function visible(text: string): string {
    return IS_ASCII.test(text) ? text.replace(EXACTLY, numberOf) : withoutPiles(withoutDisguise(text).replace(EXACTLY, numberOf));
}

// The same JSON, with what is not seen written as escapes.
export function visibleJson(text: string): string {
    const escape = (char: string) => char.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    return text.replace(EXACTLY, escape).replace(WORD, (word) => (isDisguised(word) ? word.replace(ALIKE, escape) : word));
}

// What hides in it, turns the text behind it around, or is not the letter it looks like.
export function hasHidden(text: string): boolean {
    return visibleProse(text) !== text || hasLookalike(text);
}

// What people write to each other, in any language.
export function visibleProse(text: string): string {
    return withoutPiles(text.replace(IN_PROSE, numberOf).replace(HIDDEN, (run) => (run === IN_EMOJI ? run : numbersOf(run))));
}
