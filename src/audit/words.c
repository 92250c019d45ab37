/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/words.h"

#include "base/utf8.h"

/* A word that grows character by character. What would exceed its space is left out, and
 * so is everything behind it. */
struct word {
    char *space;
    size_t len;
    bool is_cut;
};

static void add(struct word *word, struct str character)
{
    if (word->is_cut || word->len + character.len > AUDIT_WORD_BYTES) {
        word->is_cut = true;
        return;
    }
    memcpy(word->space + word->len, character.ptr, character.len);
    word->len += character.len;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* What a character is in a word: 0 bytes where it separates words. */
static size_t fold(uint32_t code_point, char out[static 4])
{
    if (code_point >= 0x80)
        return utf8_write(code_point, out);
    out[0] = (char)code_point;
    if (is_letter(out[0]))
        out[0] |= 0x20;
    else if (!is_digit(out[0]))
        return 0;
    return 1;
}

/* The character at the beginning; what is not UTF-8 separates words. */
static size_t fold_at(struct str text, char out[static 4], size_t *ret_len)
{
    uint32_t code_point;
    size_t len = utf8_read(text, &code_point);

    *ret_len = len ? len : 1;
    return len ? fold(code_point, out) : 0;
}

/* --- the body --- */

/* The four digits at the beginning, or -1. */
static long read_hex4(struct str text)
{
    long value = 0;

    if (text.len < 4)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        int digit = str_hex_digit((unsigned char)text.ptr[i]);

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* An escape of four digits, or two that make a pair; the rest begins behind the
 * backslash. */
static size_t fold_unicode(struct str rest, char out[static 4], size_t *ret_len)
{
    long unit = read_hex4(str_slice(rest, 1, rest.len));
    long low = -1;

    *ret_len = 1;
    if (unit < 0)
        return 0;
    *ret_len = 5;
    if (unit < 0xd800 || unit > 0xdfff)
        return fold((uint32_t)unit, out);
    if (str_starts(str_slice(rest, 5, rest.len), S("\\u")))
        low = read_hex4(str_slice(rest, 7, rest.len));
    if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return 0;
    *ret_len = 11;
    return fold((uint32_t)(0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff)), out);
}

/* All short escapes mean characters that separate words. */
static size_t fold_escape(struct str rest, char out[static 4], size_t *ret_len)
{
    size_t len = 0, size = 0;

    if (rest.len > 0 && rest.ptr[0] == 'u')
        size = fold_unicode(rest, out, &len);
    else if (rest.len > 0)
        len = 1;
    *ret_len = len + 1;
    return size;
}

static size_t fold_in_string(struct audit_word_scan *scan, struct str rest,
                             char out[static 4], size_t *ret_len)
{
    *ret_len = 1;
    if (rest.ptr[0] == '\\')
        return fold_escape(str_slice(rest, 1, rest.len), out, ret_len);
    if (rest.ptr[0] != '"')
        return fold_at(rest, out, ret_len);
    scan->place = AUDIT_OUTSIDE;
    return 0;
}

/* true, false and null are no words: what begins with a letter is passed over. */
static size_t fold_outside(struct audit_word_scan *scan, char c, char out[static 4])
{
    if (c == '"')
        scan->place = AUDIT_IN_STRING;
    else if (is_digit(c))
        scan->place = AUDIT_IN_NUMBER;
    else if (!is_letter(c))
        scan->place = AUDIT_OUTSIDE;
    return scan->place == AUDIT_IN_NUMBER ? fold((unsigned char)c, out) : 0;
}

static size_t fold_next(struct audit_word_scan *scan, char out[static 4])
{
    struct str rest = str_slice(scan->body, scan->at, scan->body.len);
    size_t len = 1, size;

    if (scan->place == AUDIT_IN_STRING)
        size = fold_in_string(scan, rest, out, &len);
    else
        size = fold_outside(scan, rest.ptr[0], out);
    scan->at += len;
    return size;
}

bool audit_next_body_word(struct audit_word_scan *scan,
                          char space[static AUDIT_WORD_BYTES], struct str *ret)
{
    struct word word = { .space = space };

    if (scan->count == AUDIT_BODY_WORDS)
        return false;
    while (scan->at < scan->body.len) {
        char character[4];
        size_t size = fold_next(scan, character);

        if (size)
            add(&word, (struct str){ character, size });
        else if (word.len)
            break;
    }
    if (!word.len)
        return false;
    scan->count++;
    *ret = (struct str){ space, word.len };
    return true;
}

void audit_words(struct str body, struct buf *out)
{
    struct audit_word_scan scan = { .body = body };
    char space[AUDIT_WORD_BYTES];
    struct str word;

    while (audit_next_body_word(&scan, space, &word)) {
        if (scan.count > 1)
            buf_putc(out, ' ');
        buf_put(out, word);
    }
}

/* --- what somebody asks for --- */

bool audit_next_word(struct str text, size_t *at, char space[static AUDIT_WORD_BYTES],
                     struct str *ret, bool *ret_is_prefix)
{
    struct word word = { .space = space };
    size_t from = *at;

    while (from < text.len) {
        char character[4];
        size_t len;
        size_t size = fold_at(str_slice(text, from, text.len), character, &len);

        if (size)
            add(&word, (struct str){ character, size });
        else if (word.len)
            break;
        from += len;
    }
    *at = from;
    if (!word.len)
        return false;
    *ret = (struct str){ space, word.len };
    if (ret_is_prefix)
        *ret_is_prefix = from < text.len && text.ptr[from] == '*';
    return true;
}
