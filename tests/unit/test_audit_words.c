/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/words.h"
#include "guard.h"
#include "harness.h"

static void check_words(struct str body, struct str want)
{
    struct buf words;

    buf_init(&words, 1000000);
    audit_words(body, &words);
    CHECK_STR(buf_str(&words), want);
    buf_done(&words);
}

/* clang-format off */
static const struct {
    struct str body, words;
} bodies[] = {
    { S(""), S("") },
    { S("{}"), S("") },
    { S("{\"Text\":\"Hello, World!\"}"), S("text hello world") },
    { S("[true,false,null]"), S("") },
    { S("[true,\"true\"]"), S("true") },
    { S("{\"n\":-12.5e10}"), S("n 12 5e10") },
    { S("[1,2,[3]]"), S("1 2 3") },
    { S("\"one string\""), S("one string") },
    { S("\"snake_case kebab-case a.b a/b\""), S("snake case kebab case a b a b") },
    { S("\"gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0\xe5\xa5\xbd\""), S("gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0\xe5\xa5\xbd") },
    { S("\"caf\\u00e9s \\u0041B\\nC\\td\\\"e\\\\f\\/g\""), S("caf\xc3\xa9s ab c d e f g") },
    { S("\"x\\ud83d\\ude00y\""), S("x\xf0\x9f\x98\x80y") },
    { S("{\"k\\u0065y\":1}"), S("key 1") },
    { S("\"a\\u0000b\""), S("a b") },
    /* no JSON: whatever comes, without reading beyond */
    { S("\"a"), S("a") },
    { S("\"a\\"), S("a") },
    { S("\"a\\u"), S("a") },
    { S("\"a\\u00"), S("a 00") },
    { S("\"a\\ud83d"), S("a") },
    { S("\"a\\ud83d\\u0062c"), S("a bc") },
    { S("\"a\\ude00b"), S("a b") },
    { S("\"a\xff""b\xc3"), S("a b") },
    { S("plain 12ab words"), S("12ab") },
};
/* clang-format on */

TEST(the_words_of_a_body)
{
    FOR_EACH_CASE(c, bodies)
        check_words(c->body, c->words);
}

TEST(nothing_is_read_behind_a_body)
{
    struct guard guard;

    guard_init(&guard);
    FOR_EACH_CASE(c, bodies) {
        char *end = guard_last(&guard, c->body.len);

        memcpy(end, c->body.ptr, c->body.len);
        check_words((struct str){ end, c->body.len }, c->words);
    }
    guard_done(&guard);
}

TEST(of_a_long_word_the_beginning_counts)
{
    char body[203] = "\"";
    char word[AUDIT_WORD_BYTES];

    memset(body + 1, 'a', 200);
    body[201] = '"';
    memset(word, 'a', sizeof(word));
    check_words((struct str){ body, 202 }, (struct str){ word, sizeof(word) });
    /* A character is not cut, and what follows it is not taken in its place. */
    memcpy(body + 64, "\xc3\xbc", 2);
    check_words((struct str){ body, 202 }, (struct str){ word, sizeof(word) - 1 });
}

TEST(of_very_many_words_the_first_count)
{
    struct buf body, words;

    buf_init(&body, 1000000);
    buf_init(&words, 1000000);
    buf_putc(&body, '"');
    for (size_t i = 0; i < AUDIT_BODY_WORDS + 10; i++)
        buf_put(&body, S("x "));
    buf_putc(&body, '"');
    audit_words(buf_str(&body), &words);
    CHECK_INT(words.len, 2 * AUDIT_BODY_WORDS - 1);
    buf_done(&body);
    buf_done(&words);
}

TEST(the_words_of_a_question)
{
    char space[AUDIT_WORD_BYTES];
    struct str text = S("  Foo ba* *x* \"quo\xc3\xbc\" a.b* \xff **");
    static const struct {
        struct str word;
        bool is_prefix;
    } cases[] = {
        { S("foo"), false },         { S("ba"), true }, { S("x"), true },
        { S("quo\xc3\xbc"), false }, { S("a"), false }, { S("b"), true },
    };
    struct str word;
    bool is_prefix;
    size_t at = 0;

    FOR_EACH_CASE(c, cases) {
        CHECK(audit_next_word(text, &at, space, &word, &is_prefix));
        CHECK_STR(word, c->word);
        CHECK_INT(is_prefix, c->is_prefix);
    }
    CHECK(!audit_next_word(text, &at, space, &word, NULL));
    CHECK(!audit_next_word(text, &at, space, &word, NULL));
}

TEST(a_long_word_is_asked_for_as_it_is_kept)
{
    char text[100];
    char space[AUDIT_WORD_BYTES];
    struct str word;
    size_t at = 0;

    memset(text, 'A', sizeof(text));
    CHECK(audit_next_word((struct str){ text, sizeof(text) }, &at, space, &word, NULL));
    CHECK_INT(word.len, AUDIT_WORD_BYTES);
    CHECK_INT(word.ptr[AUDIT_WORD_BYTES - 1], 'a');
    CHECK_INT(at, sizeof(text));
}
