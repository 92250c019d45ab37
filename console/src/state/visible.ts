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

// --- what looks like letters and signs of ours ---

const RUN = /[^\s"'`{}[\](),;:<>]+/gu; // between which nothing hangs together: JSON has no spaces
const WORD = /[\p{L}\p{M}\p{N}_.-]+/gu;
const ALIKE = 'авсеһіјӏкмнорԛѕтхуѵԁԝүАВСЕНІЈКМОРЅТХУҮԚԜαινοργυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹհոսօցքՕՍꭰꭱꭲ';
const IS_ALIKE = new RegExp(`[${ALIKE}]`, 'u');
const ALL_ALIKE = new RegExp(`^[${ALIKE}]+$`, 'u');
const ALL_TWINS = /^[асеһіјӏорԛѕхуѵԁԝүАВСЕНІЈКМОРЅТХУҮԚԜανοΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ]+$/u; // of them those that nobody can tell apart
const RARE = /[ӏѕһԛԁԝѵ]/u; // words of such letters alone are hardly anybody's
// Latin letters that are no letters of ours; the first is one in Turkish.
const SMALL = /[ıɑɡɩɪʟɴʀʏʜꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢ]/u;
const SMALLS = new RegExp(SMALL, 'gu');
const TURKISH = /[ğşĞŞİ]/;
// Full width, mathematical, Roman numbers, ligatures: what is the same letter by the tables of Unicode.
const FORM = /(?=[\p{L}\p{Nd}\p{Nl}])[\u017f\u2102-\u2149\u2160-\u217f\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}]/u;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u; // which are written together with full width
// Slashes, dots, hyphens and the like beside a letter or digit of ours; a dash where an option would begin.
const SIGN = /(?<=[\w/.\\])[\u2044\u2215\u2216\u29f8\uff0f\uff3c\u2024\ufe52\uff0e\u2010\u2011\u2212\ufe63\uff0d\uff3f\uff20\u2236\ua789\u02d0\u037e](?=[\w/.\\-])|^[\u2044\u2215\u29f8\uff0f\u2010-\u2014\u2212\ufe63\uff0d](?=[a-z])/giu;
const NOT_ASCII = /[^\u0000-\u007f]/gu;
const IS_ASCII = /^[\u0000-\u007f]*$/;
const HAS_LATIN = /[A-Za-z]/;

type Show = (char: string) => string;

// A word of Latin letters in which all others look like Latin ones is not written by hand; nor is one that
// consists of such others beside Latin words, or of the rare ones.
function isDisguised(word: string, isBesideLatin: boolean): boolean {
    const letters = word.replace(/[^\p{L}]/gu, '');
    const others = letters.replace(/\p{Script=Latin}/gu, '');
    if (!ALL_ALIKE.test(others)) return false;
    return others.length < letters.length || (others.length > 1 && ALL_TWINS.test(others) && (isBesideLatin || RARE.test(others)));
}

function isOtherForm(char: string): boolean {
    return FORM.test(char) && /^[A-Za-z0-9]+$/.test(char.normalize('NFKC'));
}

function inWord(word: string, isBesideLatin: boolean, isTurkish: boolean, show: Show): string {
    if (IS_ASCII.test(word)) return word;
    const isDisguise = isDisguised(word, isBesideLatin);
    const isLatin = HAS_LATIN.test(word) && IS_ASCII.test(word.replace(SMALLS, ''));
    const hasForms = !CJK.test(word);
    return word.replace(NOT_ASCII, (char) => {
        const isIt = (isDisguise && IS_ALIKE.test(char)) || (isLatin && SMALL.test(char) && !(char === 'ı' && isTurkish)) || (hasForms && isOtherForm(char));
        return isIt ? show(char) : char;
    });
}

function withoutDisguise(text: string, show: Show): string {
    if (IS_ASCII.test(text)) return text;
    const isTurkish = TURKISH.test(text);
    return text.replace(RUN, (run) => {
        if (IS_ASCII.test(run)) return run;
        const isBesideLatin = HAS_LATIN.test(run);
        return run.replace(SIGN, show).replace(WORD, (word) => inWord(word, isBesideLatin, isTurkish, show));
    });
}

export function hasLookalike(text: string): boolean {
    return withoutDisguise(text, () => '') !== text;
}

// What is called something: one line.
export function visibleName(text: string): string {
    return visible(text).replace(/[\t\n]/g, numberOf);
}

// Arguments, code, names inside a sentence.
export function visible(text: string): string {
    return IS_ASCII.test(text) ? text.replace(EXACTLY, numberOf) : withoutPiles(withoutDisguise(text, numberOf).replace(EXACTLY, numberOf));
}

// The same JSON, with what is not seen written as escapes.
export function visibleJson(text: string): string {
    const escape = (char: string) => char.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    return withoutDisguise(text, escape).replace(EXACTLY, escape);
}

// What hides in it, turns the text behind it around, or is not the letter it looks like.
export function hasHidden(text: string): boolean {
    return visibleProse(text) !== text || hasLookalike(text);
}

// What people write to each other, in any language.
export function visibleProse(text: string): string {
    return withoutPiles(text.replace(IN_PROSE, numberOf).replace(HIDDEN, (run) => (run === IN_EMOJI ? run : numbersOf(run))));
}
