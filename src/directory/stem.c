/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stem of an English word, as M. F. Porter describes it in "An algorithm for suffix
 * stripping", Program 14(3), 1980, with the two later changes of its author's own program
 * ("logi" and "bli"). A step is a table of endings: the longest that fits is replaced
 * where what stands before it is long enough.
 *
 * The measure of a stem counts its groups of vowels that consonants follow:
 *
 *     tree 0   trouble 1   private 2
 */
#include "base/cleanup.h"
#include "directory/words.h"

struct ending {
    struct str from, to;
};

struct stemmer {
    char *b;
    size_t len;
};

static bool is_consonant(const struct stemmer *z, size_t i)
{
    switch (z->b[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u': return false;
    case 'y': return i == 0 || !is_consonant(z, i - 1); /* as long as there are y */
    default: return true;
    }
}

/* Of the first `len` letters. */
static size_t measure(const struct stemmer *z, size_t len)
{
    size_t count = 0;

    for (size_t i = 1; i < len; i++)
        count += is_consonant(z, i) && !is_consonant(z, i - 1);
    return count;
}

static bool has_vowel(const struct stemmer *z, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_consonant(z, i))
            return true;
    return false;
}

static bool ends_double(const struct stemmer *z)
{
    return z->len >= 2 && z->b[z->len - 1] == z->b[z->len - 2] &&
           is_consonant(z, z->len - 1);
}

/* Consonant, vowel, consonant other than w, x and y: such a word lost its e ("hop"). */
static bool ends_short(const struct stemmer *z, size_t len)
{
    char last;

    if (len < 3 || !is_consonant(z, len - 1) || is_consonant(z, len - 2) ||
        !is_consonant(z, len - 3))
        return false;
    last = z->b[len - 1];
    return last != 'w' && last != 'x' && last != 'y';
}

static struct str text_of(const struct stemmer *z)
{
    return (struct str){ z->b, z->len };
}

static void put_ending(struct stemmer *z, size_t stem, struct str to)
{
    memcpy(z->b + stem, to.ptr, to.len);
    z->len = stem + to.len;
}

/* The first that fits decides, so longer ones come first. */
static const struct ending *find_ending(const struct stemmer *z, const struct ending *all,
                                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (z->b[z->len - 1] == all[i].from.ptr[all[i].from.len - 1] &&
            z->len > all[i].from.len && str_ends(text_of(z), all[i].from))
            return &all[i];
    return NULL;
}

static void replace(struct stemmer *z, const struct ending *all, size_t count,
                    size_t above)
{
    const struct ending *ending = find_ending(z, all, count);
    size_t stem = ending ? z->len - ending->from.len : 0;

    if (ending && measure(z, stem) > above)
        put_ending(z, stem, ending->to);
}

/* Plurals. */
static void step_1a(struct stemmer *z)
{
    static const struct ending endings[] = {
        { S("sses"), S("ss") },
        { S("ies"), S("i") },
        { S("ss"), S("ss") },
        { S("s"), S("") },
    };
    const struct ending *ending = find_ending(z, endings, COUNT(endings));

    if (ending)
        put_ending(z, z->len - ending->from.len, ending->to);
}

/* What -ed and -ing have left behind. */
static void mend(struct stemmer *z)
{
    static const struct ending endings[] = {
        { S("at"), S("ate") },
        { S("bl"), S("ble") },
        { S("iz"), S("ize") },
    };
    const struct ending *ending = find_ending(z, endings, COUNT(endings));

    if (ending) {
        put_ending(z, z->len - ending->from.len, ending->to);
    } else if (ends_double(z)) {
        char last = z->b[z->len - 1];

        z->len -= last != 'l' && last != 's' && last != 'z';
    } else if (measure(z, z->len) == 1 && ends_short(z, z->len)) {
        put_ending(z, z->len, S("e"));
    }
}

static void step_1b(struct stemmer *z)
{
    static const struct ending endings[] = {
        { S("eed"), S("ee") },
        { S("ing"), S("") },
        { S("ed"), S("") },
    };
    const struct ending *ending = find_ending(z, endings, COUNT(endings));
    size_t stem = ending ? z->len - ending->from.len : 0;

    if (!ending)
        return;
    if (ending->to.len) {
        if (measure(z, stem) > 0)
            z->len--;
    } else if (has_vowel(z, stem)) {
        z->len = stem;
        mend(z);
    }
}

static void step_1c(struct stemmer *z)
{
    if (z->b[z->len - 1] == 'y' && has_vowel(z, z->len - 1))
        z->b[z->len - 1] = 'i';
}

/* clang-format off */
static const struct ending step_2[] = {
    { S("ational"), S("ate") },  { S("ization"), S("ize") }, { S("iveness"), S("ive") },
    { S("fulness"), S("ful") },  { S("ousness"), S("ous") }, { S("tional"), S("tion") },
    { S("biliti"), S("ble") },   { S("entli"), S("ent") },   { S("ousli"), S("ous") },
    { S("ation"), S("ate") },    { S("alism"), S("al") },    { S("aliti"), S("al") },
    { S("iviti"), S("ive") },    { S("enci"), S("ence") },   { S("anci"), S("ance") },
    { S("izer"), S("ize") },     { S("alli"), S("al") },     { S("ator"), S("ate") },
    { S("logi"), S("log") },     { S("bli"), S("ble") },     { S("eli"), S("e") },
};

static const struct ending step_3[] = {
    { S("icate"), S("ic") }, { S("ative"), S("") }, { S("alize"), S("al") },
    { S("iciti"), S("ic") }, { S("ical"), S("ic") }, { S("ness"), S("") },
    { S("ful"), S("") },
};

static const struct ending step_4[] = {
    { S("ement"), S("") }, { S("ance"), S("") }, { S("ence"), S("") },
    { S("able"), S("") },  { S("ible"), S("") }, { S("ment"), S("") },
    { S("ant"), S("") },   { S("ent"), S("") },  { S("ism"), S("") },
    { S("ate"), S("") },   { S("iti"), S("") },  { S("ous"), S("") },
    { S("ive"), S("") },   { S("ize"), S("") },  { S("ion"), S("") },
    { S("al"), S("") },    { S("er"), S("") },   { S("ic"), S("") },
    { S("ou"), S("") },
};
/* clang-format on */

/* As the others, but that -ion goes behind s and t only. */
static void run_step_4(struct stemmer *z)
{
    const struct ending *ending = find_ending(z, step_4, COUNT(step_4));
    size_t stem = ending ? z->len - ending->from.len : 0;

    if (!ending || measure(z, stem) <= 1)
        return;
    if (str_eq(ending->from, S("ion")) && z->b[stem - 1] != 's' && z->b[stem - 1] != 't')
        return;
    z->len = stem;
}

static void step_5(struct stemmer *z)
{
    size_t stem = z->len - 1;

    if (z->b[stem] == 'e' &&
        (measure(z, stem) > 1 || (measure(z, stem) == 1 && !ends_short(z, stem))))
        z->len--;
    if (z->b[z->len - 1] == 'l' && ends_double(z) && measure(z, z->len) > 1)
        z->len--;
}

static bool is_english(struct str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] < 'a' || word.ptr[i] > 'z')
            return false;
    return true;
}

struct str directory_stem(struct str word, char space[static DIRECTORY_WORD])
{
    struct stemmer z = { .b = space, .len = word.len };

    if (word.len == 0)
        return word;
    memmove(space, word.ptr, word.len);
    if (word.len <= 2 || word.len >= DIRECTORY_WORD || !is_english(word))
        return text_of(&z);
    step_1a(&z);
    step_1b(&z);
    step_1c(&z);
    replace(&z, step_2, COUNT(step_2), 0);
    replace(&z, step_3, COUNT(step_3), 0);
    run_step_4(&z);
    step_5(&z);
    return text_of(&z);
}
