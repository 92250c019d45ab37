/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question, and behind the first line end a body. Each word of a body is one of the
 * text that the index gets, and finds the body; a question finds a body where all its
 * words are among those of the text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "audit/query.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static bool fits(struct str text, struct str body)
{
    return audit_query_fits(&(struct audit_query){ .text = text },
                            &(struct audit_record){ .body = body });
}

static void check_text(struct str body, struct str text)
{
    struct audit_word_scan scan = { .body = body };
    char space[AUDIT_WORD_BYTES], other_space[AUDIT_WORD_BYTES];
    struct str word, other;
    bool is_prefix;
    size_t at = 0;

    expect(utf8_is_valid(text));
    while (audit_next_body_word(&scan, space, &word)) {
        expect(word.len > 0 && word.len <= AUDIT_WORD_BYTES);
        expect(audit_next_word(text, &at, other_space, &other, &is_prefix));
        expect(str_eq(word, other) && !is_prefix);
        if (scan.count < 50)
            expect(fits(word, body));
    }
    expect(!audit_next_word(text, &at, other_space, &other, NULL));
}

/* Is the word among those of the text? */
static bool has_word(struct str text, const struct audit_term *term)
{
    struct str wanted = { term->space, term->len };

    while (text.ptr) {
        struct str word = str_cut(&text, ' ');

        if (term->is_prefix ? str_starts(word, wanted) : str_eq(word, wanted))
            return true;
    }
    return false;
}

static void check_question(struct str question, struct str body, struct str text)
{
    struct audit_terms terms;
    bool expected = !audit_terms_parse(question, &terms);

    for (size_t i = 0; expected && i < terms.count; i++)
        expected = has_word(text, &terms.items[i]);
    expect(fits(question, body) == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str body = { (const char *)bytes, size };
    struct str question = str_cut(&body, '\n');
    struct buf text;

    if (!body.ptr || !question.ptr)
        return 0;
    buf_init(&text, SIZE_MAX / 4);
    audit_words(body, &text);
    check_text(body, text.len ? buf_str(&text) : S(""));
    check_question(question, body, text.len ? buf_str(&text) : S(""));
    buf_done(&text);
    return 0;
}
