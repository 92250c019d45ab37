/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/words.h"

#include "base/cleanup.h"
#include "base/utf8.h"

/* --- characters --- */

/* What stands for a character in a word. */
struct folded {
    char bytes[4];
    size_t len;    /* 0: it is in no word */
    bool is_alone; /* it is a word by itself */
    bool is_mark;  /* it belongs to the letter before it, and is left out */
};

/* U+00C0 to U+017F without their accents; '*': no letter. */
static const char latin[] =
    "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo*ouuuuyty"
    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiijjjjkkklllllll"
    "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

_Static_assert(sizeof(latin) == 0x180 - 0xc0 + 1, "a letter of the table is missing");

/* Two letters in one. */
static const struct {
    uint32_t code_point;
    char letters[3];
} ligatures[] = {
    { 0xc6, "ae" },  { 0xe6, "ae" },  { 0xdf, "ss" },  { 0xde, "th" },  { 0xfe, "th" },
    { 0x132, "ij" }, { 0x133, "ij" }, { 0x152, "oe" }, { 0x153, "oe" },
};

struct range {
    uint32_t first, last;
};

static bool is_among(uint32_t code_point, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (code_point >= ranges[i].first && code_point <= ranges[i].last)
            return true;
    return false;
}

/* Signs, spaces, what has no width and what turns directions: outside of ASCII and of the
 * table above. */
static bool is_sign(uint32_t cp)
{
    static const struct range signs[] = {
        { 0x80, 0xbf },     { 0x1680, 0x1680 },   { 0x180e, 0x180e }, { 0x2000, 0x206f },
        { 0x20a0, 0x20cf }, { 0x2190, 0x2bff },   { 0x3000, 0x3004 }, { 0x3008, 0x3020 },
        { 0x30fb, 0x30fb }, { 0xd800, 0xf8ff },   { 0xfe10, 0xfe1f }, { 0xfe30, 0xfe6f },
        { 0xfeff, 0xff0f }, { 0xff1a, 0xff20 },   { 0xff3b, 0xff40 }, { 0xff5b, 0xff65 },
        { 0xfff0, 0xffff }, { 0xe0000, 0xe007f },
    };

    return is_among(cp, signs, COUNT(signs));
}

static bool is_mark(uint32_t cp)
{
    static const struct range marks[] = {
        { 0x300, 0x36f },   { 0x591, 0x5c7 },   { 0x610, 0x61a },
        { 0x64b, 0x65f },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
        { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef },
    };

    return is_among(cp, marks, COUNT(marks));
}

/* Han, kana and their like: nobody writes spaces between their words. */
static bool is_alone(uint32_t cp)
{
    static const struct range scripts[] = {
        { 0x0e01, 0x0e5b }, { 0x3005, 0x3007 }, { 0x3021, 0x30ff },   { 0x3400, 0x4dbf },
        { 0x4e00, 0x9fff }, { 0xf900, 0xfaff }, { 0x20000, 0x3ffff },
    };

    return is_among(cp, scripts, COUNT(scripts));
}

/* Greek and Cyrillic capitals. */
static uint32_t small(uint32_t cp)
{
    if ((cp >= 0x391 && cp <= 0x3a9) || (cp >= 0x410 && cp <= 0x42f))
        return cp + 0x20;
    if (cp >= 0x400 && cp <= 0x40f)
        return cp + 0x50;
    if (cp >= 0xff21 && cp <= 0xff3a)
        return cp - 0xff21 + 'a';
    return cp;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static struct folded fold_latin(uint32_t cp)
{
    for (size_t i = 0; i < COUNT(ligatures); i++)
        if (ligatures[i].code_point == cp)
            return (struct folded){
                .bytes = { ligatures[i].letters[0], ligatures[i].letters[1] }, .len = 2
            };
    if (latin[cp - 0xc0] == '*')
        return (struct folded){};
    return (struct folded){ .bytes = { latin[cp - 0xc0] }, .len = 1 };
}

static struct folded fold(uint32_t cp)
{
    struct folded folded = {};

    if (cp >= 'A' && cp <= 'Z')
        cp += 'a' - 'A';
    if (cp < 0x80) {
        folded.bytes[0] = (char)cp;
        folded.len = is_plain((char)cp);
        return folded;
    }
    if (cp >= 0xc0 && cp < 0x180)
        return fold_latin(cp);
    folded.is_mark = is_mark(cp);
    if (folded.is_mark || is_sign(cp))
        return folded;
    folded.is_alone = is_alone(cp);
    folded.len = utf8_write(small(cp), folded.bytes);
    return folded;
}

/* --- words --- */

struct word {
    char *space;
    size_t len;
    bool is_cut; /* what follows did not fit */
};

static void add(struct word *word, const char *bytes, size_t len)
{
    word->is_cut |= word->len + len > DIRECTORY_WORD;
    if (word->is_cut)
        return;
    memcpy(word->space + word->len, bytes, len);
    word->len += len;
}

/* The signs at the end of "c++" and "f#"; in "html+css" they separate. */
static size_t count_signs(struct str rest)
{
    size_t count = 0;
    uint32_t next;

    while (count < rest.len && (rest.ptr[count] == '+' || rest.ptr[count] == '#'))
        count++;
    if (count > 2 || utf8_read(str_slice(rest, count, rest.len), &next) == 0)
        return count > 2 ? 0 : count;
    return fold(next).len ? 0 : count;
}

/* Takes the character at *at, if it belongs to the word. */
static bool take(struct word *word, struct str text, size_t *at)
{
    struct str rest = str_slice(text, *at, text.len);
    struct folded folded = {};
    uint32_t cp;
    size_t len = utf8_read(rest, &cp);

    if (len)
        folded = fold(cp);
    if (folded.is_alone && word->len)
        return false; /* it begins the next one */
    if (!folded.len && !folded.is_mark && word->len) {
        add(word, rest.ptr, count_signs(rest));
        return false;
    }
    add(word, folded.bytes, folded.len);
    *at += len ? len : 1;
    return !folded.is_alone;
}

bool directory_next_word(struct str text, size_t *at, char space[static DIRECTORY_WORD],
                         struct str *ret)
{
    struct word word = { .space = space };

    while (*at < text.len && take(&word, text, at))
        ;
    if (!word.len)
        return false;
    *ret = (struct str){ space, word.len };
    return true;
}

/* --- fillers --- */

/* In order. */
static const char *const fillers[] = {
    "a",       "about",    "all",     "also",       "am",          "an",      "and",
    "any",     "anybody",  "anyone",  "are",        "as",          "at",      "based",
    "be",      "been",     "being",   "both",       "but",         "by",      "can",
    "could",   "did",      "do",      "does",       "doing",       "each",    "either",
    "etc",     "ever",     "every",   "experience", "experienced", "expert",  "expertise",
    "find",    "for",      "from",    "get",        "give",        "good",    "great",
    "had",     "has",      "have",    "having",     "he",          "help",    "her",
    "him",     "his",      "how",     "i",          "if",          "in",      "into",
    "is",      "it",       "its",     "knowing",    "knowledge",   "knows",   "like",
    "looking", "make",     "makes",   "me",         "might",       "must",    "my",
    "need",    "needed",   "needs",   "no",         "not",         "of",      "on",
    "one",     "or",       "our",     "please",     "s",           "search",  "seeking",
    "she",     "should",   "show",    "skilled",    "so",          "some",    "somebody",
    "someone", "speaking", "speaks",  "such",       "t",           "that",    "the",
    "their",   "them",     "there",   "these",      "they",        "this",    "those",
    "to",      "too",      "us",      "use",        "used",        "uses",    "using",
    "very",    "want",     "was",     "we",         "well",        "were",    "what",
    "when",    "where",    "which",   "who",        "whom",        "whose",   "will",
    "with",    "within",   "without", "work",       "worked",      "working", "works",
    "would",   "year",     "years",   "you",        "your",
};

bool directory_is_filler(struct str word)
{
    size_t low = 0, high = COUNT(fillers);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(word, str_of(fillers[middle]));

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}
