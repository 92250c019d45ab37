/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "harness.h"

TEST(a_buffer_refuses_what_exceeds_its_maximum_and_keeps_what_it_had)
{
    struct buf buf;

    buf_init(&buf, 100);
    for (int i = 0; i < 10; i++)
        CHECK_INT(buf_append(&buf, S("0123456789")), OK);
    CHECK_INT(buf_append(&buf, S("x")), ERR_TOO_BIG);
    CHECK_INT(buf_reserve(&buf, SIZE_MAX), ERR_TOO_BIG);
    CHECK_INT(buf.len, 100);
    CHECK(!buf.is_full);
    buf_putc(&buf, 'x');
    CHECK(buf.is_full);
    CHECK_INT(buf.len, 100);
    buf_done(&buf);
}

TEST(numbers_and_formats_are_appended)
{
    struct buf buf;

    buf_init(&buf, 1000);
    buf_putu(&buf, 0);
    buf_putc(&buf, ' ');
    buf_putu(&buf, UINT64_MAX);
    buf_putf(&buf, " %s-%d", "x", -5);
    CHECK_STR(buf_str(&buf), S("0 18446744073709551615 x--5"));
    buf_drop(&buf, 2);
    CHECK_STR(str_slice(buf_str(&buf), 0, 4), S("1844"));
    CHECK(buf_cstr(&buf)[buf.len] == '\0');
    buf_done(&buf);
}
