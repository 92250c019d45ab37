/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/buf.h"
#include "harness.h"
#include "mcp/template.h"

TEST(a_template_matches_the_uris_it_could_have_made)
{
    static const struct {
        struct str template, uri;
        bool matches;
    } cases[] = {
        { S("file:///logs/{day}"), S("file:///logs/monday"), true },
        { S("file:///logs/{day}"), S("file:///logs/"), false },
        { S("file:///logs/{day}"), S("file:///logs"), false },
        { S("file:///logs/{day}"), S("file:///logs/a/b"), false },
        { S("file:///logs/{day}"), S("file:///logs/a?b"), false },
        { S("file:///logs/{day}"), S("file:///logs/a%2Fb"), true },
        { S("file:///logs/{day}"), S("file:///logs/a%2"), false },
        { S("file:///logs/{day}"), S("file:///logs/a%zzb"), false },
        { S("file:///logs/{day}"), S("file:///logs/a\0b"), false },
        { S("x:{a}/{b}.txt"), S("x:1/2.txt"), true },
        { S("x:{a}/{b}.txt"), S("x:1/2.3.txt"), true },
        { S("x:{a}/{b}.txt"), S("x:1/.txt"), false },
        { S("x:{a}/{b}.txt"), S("x:1/2.txt.txt"), true },
        { S("x:{a}/{b}.txt"), S("x:1/2.txts"), false },
        { S("x:{a}{b}"), S("x:12"), true },
        { S("x:{a}{b}"), S("x:1"), false },
        { S("x:{a}ab{b}ac"), S("x:_ab_ab_ac"), true },
        { S("x:{a}ab{b}ac"), S("x:abac"), false },
        { S("x:{a}"), S("y:1"), false },
        { S("x:{a}"), S(""), false },
        { S("{a}:{b}"), S("x:y"), true },
        { S("x:{a}%41"), S("x:%41%41"), true },
        { S("x:{a}1"), S("x:%411"), true },
        { S("x:{a}41"), S("x:%41"), false }, /* an escape is not cut in two */
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(template_matches(c->template, c->uri), c->matches);
}

TEST(what_a_server_could_take_for_a_uri_of_a_template_may_match)
{
    static const struct {
        struct str template, uri;
        bool may_match;
    } cases[] = {
        { S("file:///logs/{day}"), S("file:///logs/monday"), true },
        { S("file:///logs/{day}"), S("file:///logs/"), true },
        { S("file:///logs/{day}"), S("file:///logs/a b?c"), true },
        { S("file:///logs/{day}"), S("file:///logs/a%2Fb"), true },
        { S("file:///logs/{day}"), S("FILE:///%6Cogs/monday"), true },
        { S("file:///logs/{day}"), S("file:///logs/a/b"), false },
        { S("file:///logs/{day}"), S("file:///notes/monday"), false },
        { S("file:///logs/{day}"), S("file:///log"), false },
        { S("file:///{+path}"), S("file:///a/b/c"), true },
        { S("file:///{+path}"), S("file:///"), true },
        { S("file://{/path*}"), S("file:///a/b"), true },
        { S("file:///{+path}/end"), S("file:///a/end/b/end"), true },
        { S("file:///{+path}/end"), S("file:///a/end/b"), false },
        { S("x:a{?q,r}"), S("x:a?q=1&r=/2"), true },
        { S("x:a{?q}"), S("x:a"), true },
        { S("x:a{#f}"), S("x:a#b/c"), true },
        { S("x:a{.ext}"), S("x:a.txt"), true },
        { S("x:a{.ext}"), S("x:a.txt/b"), false },
        { S("x:a{;p}/b"), S("x:a;p=1/b"), true },
        { S("x:{a*}/b"), S("x:1,2/b"), true },
        { S("x:{a:3}/b"), S("x:123/b"), true },
        { S("x:{a}/{b}.txt"), S("x:1/2.3.txt"), true },
        { S("x:{a}/{b}.txt"), S("x:1/2/3.txt"), false },
        { S("x:{+a}y{b}z"), S("x:1/y/y2z"), true }, /* the wide one goes on */
        { S("x:{+a}y{b}z"), S("x:1/y/2z"), false },
        { S("x:{a}{b}{c}"), S("x:"), true },
        { S("x:{"), S("x:{"), true },
        { S("x:{"), S("x:y"), false },
        { S("x:%7Ba"), S("x:{a"), true },
        { S("x:plain"), S("x:plain"), true },
        { S(""), S("x"), false },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(template_may_match(c->template, c->uri), c->may_match);
}

/* Who makes it hard is not let through. */
TEST(what_takes_too_long_to_compare_may_match)
{
    struct buf template, uri;

    buf_init(&template, 1 << 16);
    buf_init(&uri, 1 << 16);
    buf_put(&template, S("x:"));
    for (int i = 0; i < 400; i++)
        buf_put(&template, S("{+a}a{b}a"));
    for (int i = 0; i < 8000; i++)
        buf_putc(&uri, 'a');
    CHECK(!template_may_match(buf_str(&template), buf_str(&uri)));
    buf_clear(&uri);
    buf_put(&uri, S("x:"));
    for (int i = 0; i < 8000; i++)
        buf_putc(&uri, 'a');
    buf_putc(&uri, 'b');
    CHECK(template_may_match(buf_str(&template), buf_str(&uri)));
    buf_done(&template);
    buf_done(&uri);
}

/* By trying every way to cut. */
static bool model(struct str template, struct str uri, bool in_value)
{
    static const char plain[] = "ab.";

    if (in_value && uri.len && strchr(plain, uri.ptr[0]) && uri.ptr[0] &&
        (model(template, str_slice(uri, 1, uri.len), true) ||
         model(template, str_slice(uri, 1, uri.len), false)))
        return true;
    if (in_value)
        return false;
    if (template.len == 0)
        return uri.len == 0;
    if (template.ptr[0] == '{')
        return model(str_slice(template, 3, template.len), uri, true);
    return uri.len && uri.ptr[0] == template.ptr[0] &&
           model(str_slice(template, 1, template.len), str_slice(uri, 1, uri.len), false);
}

/* The nth text over an alphabet of four. */
static struct str nth(unsigned n, size_t len, const char *const letters[4], char *out)
{
    size_t at = 0;

    for (size_t i = 0; i < len; i++, n /= 4)
        for (const char *p = letters[n % 4]; *p; p++)
            out[at++] = *p;
    return (struct str){ out, at };
}

TEST(matching_agrees_with_trying_everything)
{
    static const char *const pieces[4] = { "a", "b", "/", "{v}" };
    static const char *const letters[4] = { "a", "b", "/", "." };
    char t[32], u[32];
    int wrong = 0;

    for (unsigned i = 0; i < 4096; i++)
        for (unsigned j = 0; j < 4096; j += 7) {
            struct str template = nth(i, 6, pieces, t);
            struct str uri = nth(j, 6, letters, u);

            wrong += template_matches(template, uri) != model(template, uri, false);
        }
    CHECK_INT(wrong, 0);
}

TEST(a_template_is_of_the_first_level)
{
    static const struct {
        struct str template;
        bool is_fine;
    } cases[] = {
        { S("x:{a}"), true },    { S("x:{a.b_1}/{c}"), true }, { S("x:a"), false },
        { S("x:{}"), false },    { S("x:{a"), false },         { S("x:a}"), false },
        { S("x:{+a}"), false },  { S("x:{a,b}"), false },      { S("x:{a*}"), false },
        { S("x:{{a}}"), false }, { S("x:{a}}"), false },       { S("{"), false },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(template_fault(c->template) == NULL, c->is_fine);
}
