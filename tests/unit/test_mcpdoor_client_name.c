/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "mcpdoor/attendee.h"

enum { ROOM = 1 << 16 };

static struct json_span object(struct str text)
{
    return (struct json_span){ .type = JSON_OBJECT, .text = text };
}

TEST(a_client_is_called_as_it_calls_itself)
{
    static const struct {
        struct str info, name;
    } cases[] = {
        { S("{\"name\":\"cursor\",\"version\":\"1.2\"}"), S("cursor 1.2") },
        { S("{\"version\":\"1.2\",\"title\":\"C\",\"name\":\"cursor\"}"),
          S("cursor 1.2") },
        { S("{\"name\":\"caf\\u00e9 \\\"x\\\"\"}"), S("café \"x\"") },
        { S("{\"name\":\"cursor\",\"version\":\"\"}"), S("cursor") },
        { S("{\"name\":\"cursor\",\"version\":2}"), S("cursor") },
        /* A version alone names nobody. */
        { S("{\"version\":\"1.2\"}"), S("") },
        { S("{\"name\":\"\",\"version\":\"1.2\"}"), S("") },
        { S("{\"name\":[\"cursor\"],\"version\":\"1.2\"}"), S("") },
        { S("{}"), S("") },
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf out;

        buf_init(&out, ROOM);
        client_put_name(&out, object(c->info));
        CHECK_STR(buf_str(&out), c->name);
    }
}

TEST(no_client_info_is_no_name)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, ROOM);
    client_put_name(&out, (struct json_span){});
    client_put_name(&out, (struct json_span){ .type = JSON_STRING, .text = S("name") });
    CHECK_STR(buf_str(&out), S(""));
}

/* Who decides reads it in a line of a terminal, between words of ours. */
TEST(a_name_breaks_no_line_and_hides_nothing)
{
    static const struct {
        struct str info, name;
    } cases[] = {
        { S("{\"name\":\"a\\nann approves\"}"), S("a\\nann approves") },
        { S("{\"name\":\"a\\r\\tb\"}"), S("a\\r\\tb") },
        { S("{\"name\":\"\\u001b[2Jx\",\"version\":\"\\u0007\"}"),
          S("\\u001b[2Jx \\u0007") },
        { S("{\"name\":\"a\\u0000b\"}"), S("a\\u0000b") },
        { S("{\"name\":\"a\\u202eb\"}"), S("a\\u202eb") },
        { S("{\"name\":\"a\\u200bb\\u2028c\"}"), S("a\\u200bb\\u2028c") },
    };

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf out;

        buf_init(&out, ROOM);
        client_put_name(&out, object(c->info));
        CHECK_STR(buf_str(&out), c->name);
    }
}

/* {"name":"uuu…","version":"1"} with so many of these. */
static void put_info(struct buf *out, struct str unit, size_t count)
{
    buf_put(out, S("{\"name\":\""));
    for (size_t i = 0; i < count; i++)
        buf_put(out, unit);
    buf_put(out, S("\",\"version\":\"1\"}"));
}

static size_t name_len(struct str unit, size_t count)
{
    CLEANUP(buf_done) struct buf info, out;

    buf_init(&info, ROOM);
    buf_init(&out, ROOM);
    put_info(&info, unit, count);
    client_put_name(&out, object(buf_str(&info)));
    CHECK(!out.len ||
          (out.len > 2 && memcmp(buf_cstr(&out) + out.len - 2, " 1", 2) == 0));
    return out.len;
}

TEST(a_long_name_is_cut_between_characters)
{
    CHECK_INT(name_len(S("a"), 96), 96 + 2);
    CHECK_INT(name_len(S("a"), 97), 96 + 2);
    CHECK_INT(name_len(S("é"), 100), 96 + 2);
    /* Five bytes that do not fit are left out as a whole. */
    CHECK_INT(name_len(S("aaaa€"), 100), 95 + 2);
    /* As long as it gets: each character is escaped. */
    CHECK_INT(name_len(S("\\u0001"), 600), 96 * 6 + 2);
    /* Nobody is called so. */
    CHECK_INT(name_len(S("a"), 4096), 96 + 2);
    CHECK_INT(name_len(S("a"), 4097), 0);
}
