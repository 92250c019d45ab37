/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "ws/handshake.h"

TEST(a_key_is_the_base64_form_of_sixteen_bytes)
{
    /* clang-format off */
    static const struct { struct str key; enum err err; } cases[] = {
        { S("dGhlIHNhbXBsZSBub25jZQ=="),     OK },
        { S("AAAAAAAAAAAAAAAAAAAAAA=="),     OK },
        { S(""),                              ERR_BAD_REQUEST },
        { S("dGhlIHNhbXBsZSBub25jZQ="),      ERR_BAD_REQUEST },
        { S("dGhlIHNhbXBsZSBub25jZQ"),       ERR_BAD_REQUEST },
        { S("dGhlIHNhbXBsZSBub25jZXM="),     ERR_BAD_REQUEST }, /* 17 bytes */
        { S("dGhlIHNhbXBsZSBub25jZXMh"),     ERR_BAD_REQUEST }, /* 18 bytes */
        { S("dGhlIHNhbXBsZSBub25jZQ==\n"),   ERR_BAD_REQUEST },
        { S("dGhlIHNhbXBsZSBub25j Q=="),     ERR_BAD_REQUEST },
        { S("dGhlIHNhbXBsZSBub25jZR=="),     ERR_BAD_REQUEST }, /* unused bits */
        { S("dGhlIHNhbXBsZSBub25jZQ==AAAA"), ERR_BAD_REQUEST },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(ws_key_check(c->key), c->err);
}

TEST(the_answer_to_the_key_of_the_rfc_is_as_printed) /* RFC 6455 1.3 */
{
    struct buf out;

    buf_init(&out, 100);
    ws_accept_write(&out, S("dGhlIHNhbXBsZSBub25jZQ=="));
    CHECK_STR(buf_str(&out), S("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    buf_done(&out);
}
