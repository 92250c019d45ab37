/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "ws/deflate.h"

#define PMD    "permessage-deflate"
#define ANSWER PMD "; server_no_context_takeover; client_no_context_takeover"

static void check_answer(struct str offers, int min_bits, const char *answer)
{
    struct ws_extension ext;
    struct buf out;

    buf_init(&out, 1000);
    if (ws_extension_choose(offers, min_bits, &ext) != OK)
        buf_put(&out, S("bad"));
    else if (ext.is_on)
        ws_extension_write(&out, &ext);
    CHECK_STR(buf_str(&out), str_of(answer));
    buf_done(&out);
}

TEST(the_first_acceptable_offer_is_answered)
{
    /* clang-format off */
    static const struct { const char *offers; int min_bits; const char *answer; } cases[] = {
        { "",                                                         9, "" },
        { PMD,                                                        9, ANSWER },
        { "  " PMD "\t",                                              9, ANSWER },
        { PMD "; server_no_context_takeover",                         9, ANSWER },
        { PMD "; client_no_context_takeover; server_no_context_takeover", 9, ANSWER },
        { PMD ";client_max_window_bits",                              9, ANSWER "; client_max_window_bits=15" },
        { PMD "; client_max_window_bits=15",                          9, ANSWER "; client_max_window_bits=15" },
        { PMD "; client_max_window_bits=10",                          9, ANSWER },
        { PMD "; client_max_window_bits=8",                           9, ANSWER },
        { PMD "; server_max_window_bits=15",                          9, ANSWER "; server_max_window_bits=15" },
        { PMD "; server_max_window_bits=9",                           9, ANSWER "; server_max_window_bits=9" },
        { PMD "; server_max_window_bits = 10 ; client_max_window_bits", 9,
          ANSWER "; server_max_window_bits=10; client_max_window_bits=15" },
        { PMD "; server_max_window_bits=\"10\"",                      9, ANSWER "; server_max_window_bits=10" },
        { PMD "; server_max_window_bits=8",                           8, "" }, /* zlib has no 8 */
        { PMD "; server_max_window_bits=8, " PMD,                     9, ANSWER },
        { PMD "; server_max_window_bits=11",                          12, "" },
        { PMD "; server_max_window_bits=12",                          12, ANSWER "; server_max_window_bits=12" },
        { PMD "; server_max_window_bits=9, " PMD "; server_max_window_bits=14, " PMD, 13,
          ANSWER "; server_max_window_bits=14" },
        { "x-webkit-deflate-frame, " PMD,                             9, ANSWER },
        { "foo; bar=1; baz=\"qux\", " PMD "; client_max_window_bits", 9, ANSWER "; client_max_window_bits=15" },
        { PMD ", " PMD "; server_max_window_bits=10",                 9, ANSWER },
        { "foo",                                                      9, "" },
        { "permessage-deflate2",                                      9, "" },
        { "permessage-bzip2",                                         9, "" },
        { ", ," PMD " ,, ",                                           9, ANSWER },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        check_answer(str_of(c->offers), c->min_bits, c->answer);
}

TEST(offers_with_faulty_parameters_are_passed_over) /* RFC 7692 7.1 */
{
    static const char *const cases[] = {
        PMD "; unknown",
        PMD "; unknown=1",
        PMD "; Server_no_context_takeover",
        PMD "; server_no_context_takeover; server_no_context_takeover",
        PMD "; client_no_context_takeover; client_no_context_takeover",
        PMD "; server_max_window_bits=10; server_max_window_bits=10",
        PMD "; client_max_window_bits; client_max_window_bits=10",
        PMD "; server_no_context_takeover=1",
        PMD "; client_no_context_takeover=true",
        PMD "; server_max_window_bits",
        PMD "; server_max_window_bits=7",
        PMD "; server_max_window_bits=16",
        PMD "; server_max_window_bits=010",
        PMD "; server_max_window_bits=0",
        PMD "; server_max_window_bits=+9",
        PMD "; server_max_window_bits=9x",
        PMD "; server_max_window_bits=\"1\\0\"",
        PMD "; server_max_window_bits=99999999999999999999999",
        PMD "; client_max_window_bits=7",
        PMD "; client_max_window_bits=16",
        PMD "; client_max_window_bits=08",
        PMD "; client_max_window_bits=x",
    };

    FOR_EACH_CASE(c, cases) {
        struct buf two;

        check_answer(str_of(*c), 9, "");
        buf_init(&two, 1000);
        buf_putf(&two, "%s, %s", *c, PMD);
        check_answer(buf_str(&two), 9, ANSWER);
        buf_done(&two);
    }
}

TEST(a_broken_header_is_a_bad_request_wherever_it_breaks) /* RFC 6455 9.1 */
{
    static const struct str cases[] = {
        S(PMD ";"),
        S(PMD "; ;"),
        S(PMD "; =9"),
        S(PMD "; server_max_window_bits="),
        S(PMD "; server_max_window_bits=\"10"),
        S(PMD "; server_max_window_bits=\"\""),
        S(PMD "; server_max_window_bits=\"1 0\""),
        S(PMD "; server_max_window_bits=\"1\\"),
        S(PMD "; server_max_window_bits=10 11"),
        S(PMD " client_max_window_bits"),
        S(PMD ", foo bar"),
        S(PMD ", @"),
        S("="),
        S("\"" PMD "\""),
        S(PMD "\0"),
        S(PMD "\x7f"),
        S(PMD "\xc3\xa9"),
    };

    FOR_EACH_CASE(c, cases)
        check_answer(*c, 9, "bad");
}

TEST(a_broken_header_leaves_the_result_untouched)
{
    struct ws_extension ext = { .server_bits = 42 };

    CHECK_INT(ws_extension_choose(S(PMD "; ;"), 9, &ext), ERR_BAD_REQUEST);
    CHECK_INT(ext.server_bits, 42);
    CHECK(!ext.is_on);
}
