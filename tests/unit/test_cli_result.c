/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/result.h"
#include "harness.h"

TEST(a_result_is_its_texts_and_what_else_there_is_by_name)
{
    /* clang-format off */
    static const struct { struct str result, raw, plain; } cases[] = {
        { S("{\"content\":[{\"type\":\"text\",\"text\":\"3\"}]}"),             S("3\n"), S("3\n") },
        { S("{\"content\":[{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":\"text\",\"text\":\"b\"}]}"), S("a\nb\n"), S("a\nb\n") },
        { S("{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[2J\\u202e\"}]}"), S("\x1b[2J\u202e\n"), S("\\u001b[2J\\u202e\n") },
        { S("{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}"),              S("\n"), S("\n") },
        { S("{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/p\\u001bng\",\"data\":\"AAAA\"}]}"), S("[image image/p\\u001bng, 4 bytes of base64]\n"), S("[image image/p\\u001bng, 4 bytes of base64]\n") },
        { S("{\"content\":[{\"type\":\"audio\"}]}"),                           S("[audio, 0 bytes of base64]\n"), S("[audio, 0 bytes of base64]\n") },
        { S("{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///x\"}]}"), S("file:///x\n"), S("file:///x\n") },
        { S("{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"text\":\"t\"}}]}"), S("t\n"), S("t\n") },
        { S("{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"blob\":\"AA==\"}}]}"), S("[u, 4 bytes of base64]\n"), S("[u, 4 bytes of base64]\n") },
        { S("{\"content\":[{\"type\":\"new\",\n\"x\":1}]}"),                   S("{\"type\":\"new\", \"x\":1}\n"), S("{\"type\":\"new\", \"x\":1}\n") },
        { S("{\"content\":[],\"structuredContent\":{\"sum\":3}}"),             S("{\"sum\":3}\n"), S("{\"sum\":3}\n") },
        { S("{\"structuredContent\":{\"sum\":3}}"),                            S("{\"sum\":3}\n"), S("{\"sum\":3}\n") },
        { S("{\"content\":[]}"),                                               S(""), S("") },
        { S("{\"contents\":[{\"uri\":\"\xc2\x9b\"}]}"),                        S("{\"contents\":[{\"uri\":\"\xc2\x9b\"}]}\n"), S("{\"contents\":[{\"uri\":\"\\u009b\"}]}\n") },
        { S("{\"content\":\"odd\"}"),                                          S("{\"content\":\"odd\"}\n"), S("{\"content\":\"odd\"}\n") },
        { S("5"),                                                              S("5\n"), S("5\n") },
        { S("broken"),                                                         S("broken\n"), S("broken\n") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        result_put(&out, c->result, RESULT_RAW);
        CHECK_STR(buf_str(&out), c->raw);
        buf_clear(&out);
        result_put(&out, c->result, RESULT_PLAIN);
        CHECK_STR(buf_str(&out), c->plain);
        buf_done(&out);
    }
}

TEST(json_stays_one_line_and_the_same_value)
{
    struct buf out;

    buf_init(&out, 4096);
    result_put_json(&out, S("{\"a\":\r\n\"\u202e\xc2\x9b\"}"), RESULT_RAW);
    result_put_json(&out, S("{\"a\":\r\n\"\u202e\xc2\x9b\"}"), RESULT_PLAIN);
    CHECK_STR(buf_str(&out), S("{\"a\":  \"\u202e\xc2\x9b\"}\n"
                               "{\"a\":  \"\\u202e\\u009b\"}\n"));
    buf_done(&out);
}
