/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>

#include "ws/deflate.h"
#include "ws_vectors.h"

#define NO_MASK  "\0\0\0\0"
#define HELLO    "Hello, world!"
#define GREEK    "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5"
#define GREEK_AS "\\xce\\xba\\xe1\\xbd\\xb9\\xcf\\x83\\xce\\xbc\\xce\\xb5"

static void check_all(const struct vector_setup *setup, const struct vector *vectors,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        test_case = (long)i;
        vector_check(setup, &vectors[i]);
    }
    test_case = -1;
}

TEST(well_formed_streams_give_their_messages_in_order)
{
    /* clang-format off */
    static const struct vector vectors[] = {
        { "text",              { FRAME(0x81, "Hello") }, "text:Hello" },
        { "binary",            { FRAME(0x82, "\x00\xff") }, "binary:\\x00\\xff" },
        { "empty",             { FRAME(0x81, ""), FRAME(0x82, "") }, "text: | binary:" },
        { "several",           { FRAME(0x81, "a"), FRAME(0x89, "b"), FRAME(0x82, "c"), FRAME(0x8a, "d") },
          "text:a | ping:b | binary:c | pong:d" },
        { "fragments",         { FRAME(0x01, "ab"), FRAME(0x00, "cd"), FRAME(0x80, "ef") }, "text:abcdef" },
        { "binary fragments",  { FRAME(0x02, "\xff"), FRAME(0x80, "\xfe") }, "binary:\\xff\\xfe" },
        { "empty fragments",   { FRAME(0x01, ""), FRAME(0x00, ""), FRAME(0x80, "") }, "text:" },
        { "split character",   { FRAME(0x01, "\xe2"), FRAME(0x00, "\x82"), FRAME(0x80, "\xac") },
          "text:\\xe2\\x82\\xac" },
        { "ping in between",   { FRAME(0x01, "a"), FRAME(0x89, "p"), FRAME(0x00, "b"), FRAME(0x8a, ""), FRAME(0x80, "c") },
          "ping:p | pong: | text:abc" },
        { "close in between",  { FRAME(0x01, "a"), FRAME(0x88, "\x03\xe8"), FRAME(0x80, "c") }, "close:1000:" },
        { "two fragmented",    { FRAME(0x01, "a"), FRAME(0x80, "b"), FRAME(0x02, "c"), FRAME(0x80, "d") },
          "text:ab | binary:cd" },
        { "after fragments",   { FRAME(0x01, "a"), FRAME(0x80, "b"), FRAME(0x81, "c") }, "text:ab | text:c" },
        { "close",             { FRAME(0x88, "") }, "close:1005:" },
        { "close with reason", { FRAME(0x88, "\x0f\xa0" "bye") }, "close:4000:bye" },
        { "bytes after close", { FRAME(0x88, "\x03\xe8"), FRAME(0x81, "late"), RAW("\xff\xff") }, "close:1000:" },
        { "zero mask",         { RAW("\x81\x85" NO_MASK "Hello") }, "text:Hello" },
        { "Greek",             { FRAME(0x81, GREEK) }, "text:" GREEK_AS },
    };
    /* clang-format on */

    check_all(&vector_server, vectors, COUNT(vectors));
}

TEST(every_breach_of_the_framing_rules_fails_the_connection) /* RFC 6455 5 */
{
    /* clang-format off */
    static const struct vector vectors[] = {
        { "RSV1 without extension",    { FRAME(0xc1, HELLO) }, "fail:1002" },
        { "RSV2",                      { FRAME(0xa1, HELLO) }, "fail:1002" },
        { "RSV3",                      { FRAME(0x91, HELLO) }, "fail:1002" },
        { "RSV on a ping",             { FRAME(0xc9, "") }, "fail:1002" },
        { "RSV on a continuation",     { FRAME(0x01, "a"), FRAME(0xc0, "b") }, "fail:1002" },
        { "opcode 3",                  { FRAME(0x83, "") }, "fail:1002" },
        { "opcode 7",                  { FRAME(0x87, "x") }, "fail:1002" },
        { "opcode 11",                 { FRAME(0x8b, "") }, "fail:1002" },
        { "opcode 15",                 { FRAME(0x8f, "x") }, "fail:1002" },
        { "unmasked",                  { RAW("\x81\x05Hello") }, "fail:1002" },
        { "unmasked ping",             { RAW("\x89\x00") }, "fail:1002" },
        { "unmasked close",            { RAW("\x88\x02\x03\xe8") }, "fail:1002" },
        { "fragmented ping",           { FRAME(0x09, "") }, "fail:1002" },
        { "fragmented close",          { FRAME(0x08, "") }, "fail:1002" },
        { "ping of 126 in 16 bits",    { RAW("\x89\xfe\x00\x7e" NO_MASK) }, "fail:1002" },
        { "ping of 2^16 in 64 bits",   { RAW("\x89\xff\0\0\0\0\0\1\0\0" NO_MASK) }, "fail:1002" },
        { "stray continuation",        { FRAME(0x80, "x") }, "fail:1002" },
        { "stray open continuation",   { FRAME(0x00, "x") }, "fail:1002" },
        { "continuation after end",    { FRAME(0x01, "a"), FRAME(0x80, "b"), FRAME(0x80, "c") },
          "text:ab | fail:1002" },
        { "message in message",        { FRAME(0x01, "a"), FRAME(0x81, "b") }, "fail:1002" },
        { "binary in text",            { FRAME(0x01, "a"), FRAME(0x02, "b") }, "fail:1002" },
        { "125 in 16 bits",            { RAW("\x81\xfe\x00\x7d" NO_MASK) }, "fail:1002" },
        { "0 in 16 bits",              { RAW("\x81\xfe\x00\x00" NO_MASK) }, "fail:1002" },
        { "65535 in 64 bits",          { RAW("\x81\xff\0\0\0\0\0\0\xff\xff" NO_MASK) }, "fail:1002" },
        { "1 in 64 bits",              { RAW("\x81\xff\0\0\0\0\0\0\0\1" NO_MASK "x") }, "fail:1002" },
        { "top bit of the length",     { RAW("\x81\xff\x80\0\0\0\0\1\0\0" NO_MASK) }, "fail:1002" },
        { "close of one byte",         { FRAME(0x88, "\x03") }, "fail:1002" },
        { "close code 1005",           { FRAME(0x88, "\x03\xed") }, "fail:1002" },
        { "close code 0",              { FRAME(0x88, "\x00\x00") }, "fail:1002" },
        { "close reason not UTF-8",    { FRAME(0x88, "\x03\xe8\xff") }, "fail:1007" },
        { "close reason cut",          { FRAME(0x88, "\x03\xe8\xe2\x82") }, "fail:1007" },
        { "text not UTF-8",            { FRAME(0x81, "a\xff" "b") }, "fail:1007" },
        { "text ends in a character",  { FRAME(0x81, "a\xe2\x82") }, "fail:1007" },
        { "fragments end in one",      { FRAME(0x01, "a"), FRAME(0x80, "\xe2\x82") }, "fail:1007" },
        { "surrogate over fragments",  { FRAME(0x01, "\xed"), FRAME(0x00, "\xa0"), FRAME(0x80, "\x80") }, "fail:1007" },
        { "nothing after a violation", { FRAME(0x81, "a"), FRAME(0x83, ""), FRAME(0x89, "") }, "text:a | fail:1002" },
    };
    /* clang-format on */

    check_all(&vector_server, vectors, COUNT(vectors));
}

TEST(limits_are_kept_from_the_head_on)
{
    static const struct vector_setup setup = {
        .shared = { .message_bytes = 10, .fragments = 3, .refuses_binary = true },
    };
    /* clang-format off */
    static const struct vector vectors[] = {
        { "just fits",            { FRAME(0x81, "0123456789") }, "text:0123456789" },
        { "one too many",         { RAW("\x81\x8b" NO_MASK) }, "fail:1009" },
        { "sum just fits",        { FRAME(0x01, "01234"), FRAME(0x80, "56789") }, "text:0123456789" },
        { "sum one too many",     { FRAME(0x01, "01234"), RAW("\x80\x86" NO_MASK) }, "fail:1009" },
        { "16 bits",              { RAW("\x81\xfe\xff\xff" NO_MASK) }, "fail:1009" },
        { "64 bits",              { RAW("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" NO_MASK) }, "fail:1009" },
        { "64 bits, continued",   { FRAME(0x01, "0"), RAW("\x80\xff\x7f\xff\xff\xff\xff\xff\xff\xff" NO_MASK) },
          "fail:1009" },
        { "fragments just fit",   { FRAME(0x01, "0"), FRAME(0x00, "1"), FRAME(0x80, "2") }, "text:012" },
        { "too many fragments",   { FRAME(0x01, ""), FRAME(0x00, ""), FRAME(0x00, ""), FRAME(0x00, "") }, "fail:1009" },
        { "pings do not count",   { FRAME(0x01, ""), FRAME(0x89, "0123456789abc"), FRAME(0x89, ""), FRAME(0x89, ""), FRAME(0x80, "") },
          "ping:0123456789abc | ping: | ping: | text:" },
        { "binary",               { RAW("\x82\x81" NO_MASK) }, "fail:1003" },
        { "fragmented binary",    { RAW("\x02\x81" NO_MASK) }, "fail:1003" },
        { "broken binary",        { RAW("\x92\x81" NO_MASK) }, "fail:1002" },
    };
    /* clang-format on */

    check_all(&setup, vectors, COUNT(vectors));
}

TEST(a_client_takes_unmasked_frames_only)
{
    static const struct vector_setup setup = {
        .role = WS_CLIENT,
        .shared = { .message_bytes = 1000, .fragments = 3 },
    };
    /* clang-format off */
    static const struct vector vectors[] = {
        { "text",         { RAW("\x81\x05Hello") }, "text:Hello" },
        { "fragments",    { RAW("\x01\x03Hel"), RAW("\x89\x01p"), RAW("\x80\x02lo") }, "ping:p | text:Hello" },
        { "close",        { RAW("\x88\x05\x03\xe8" "bye") }, "close:1000:bye" },
        { "masked",       { FRAME(0x81, "Hello") }, "fail:1002" },
        { "masked close", { FRAME(0x88, "") }, "fail:1002" },
        { "not UTF-8",    { RAW("\x81\x01\xff") }, "fail:1007" },
    };
    /* clang-format on */

    check_all(&setup, vectors, COUNT(vectors));
}

TEST(compressed_messages_are_inflated_and_checked) /* RFC 7692 7.2.3 */
{
    struct ws_inflater *inflater = ws_inflater_new();
    const struct vector_setup setup = {
        .shared = { .message_bytes = 10, .fragments = 5, .inflater = inflater },
    };
    /* clang-format off */
    static const struct vector vectors[] = {
        { "Hello",               { FRAME(0xc1, "\xf2\x48\xcd\xc9\xc9\x07\x00") }, "text:Hello" },
        { "in two fragments",    { FRAME(0x41, "\xf2\x48\xcd"), FRAME(0x80, "\xc9\xc9\x07\x00") }, "text:Hello" },
        { "ping in between",     { FRAME(0x41, "\xf2\x48\xcd"), FRAME(0x89, "x"), FRAME(0x80, "\xc9\xc9\x07\x00") },
          "ping:x | text:Hello" },
        { "no compression",      { FRAME(0xc1, "\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00") }, "text:Hello" },
        { "final block",         { FRAME(0xc1, "\xf3\x48\xcd\xc9\xc9\x07\x00\x00") }, "text:Hello" },
        { "two blocks",          { FRAME(0xc1, "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00") }, "text:Hello" },
        { "empty message",       { FRAME(0xc1, "\x00"), FRAME(0xc2, "") }, "text: | binary:" },
        { "plain besides",       { FRAME(0x81, "a"), FRAME(0xc1, "\xf2\x48\xcd\xc9\xc9\x07\x00"), FRAME(0x81, "b") },
          "text:a | text:Hello | text:b" },
        { "binary",              { FRAME(0xc2, "\x00\x02\x00\xfd\xff\xff\xfe\x00") }, "binary:\\xff\\xfe" },
        { "not UTF-8 inside",    { FRAME(0xc1, "\x00\x02\x00\xfd\xff\xff\xfe\x00") }, "fail:1007" },
        { "not deflate",         { FRAME(0xc1, "\xff\xff\xff") }, "fail:1007" },
        { "cut",                 { FRAME(0xc1, "\xf2\x48\xcd\xc9") }, "fail:1007" },
        { "too big inside",      { FRAME(0xc1, "\x4a\x4c\x44\x05\x00") }, "fail:1009" },
        { "too big outside",     { RAW("\xc1\xcb" NO_MASK) }, "fail:1009" },
        { "RSV1 on a fragment",  { FRAME(0x41, "\xf2\x48\xcd"), FRAME(0xc0, "\xc9\xc9\x07\x00") }, "fail:1002" },
        { "RSV1 on a ping",      { FRAME(0xc9, "") }, "fail:1002" },
        { "RSV2 all the same",   { FRAME(0xe1, "") }, "fail:1002" },
    };
    /* clang-format on */

    check_all(&setup, vectors, COUNT(vectors));
    ws_inflater_free(inflater);
}

TEST(a_whole_frame_is_handed_out_where_it_lies)
{
    struct ws_decoder d;
    struct ws_event ev;
    struct str bytes;
    struct buf buf;

    buf_init(&buf, 1000);
    vector_put(&buf, 0x81, S("Hello"));
    bytes = buf_str(&buf);
    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    ev = ws_decode(&d, &bytes);
    CHECK_INT(ev.type, WS_MESSAGE);
    CHECK(ev.is_masked);
    CHECK(!ev.is_checked);
    CHECK_INT(ev.mask, vector_mask);
    CHECK(ev.body.ptr == buf.ptr + 6);
    CHECK(d.assembly == NULL);
    CHECK(ws_decoder_is_idle(&d));
    ws_decoder_done(&d);
    buf_done(&buf);
}

TEST(an_assembled_message_is_checked_and_its_memory_freed_by_the_next_call)
{
    struct ws_decoder d;
    struct ws_event ev;
    struct str bytes;
    struct buf buf;

    buf_init(&buf, 1000);
    vector_put(&buf, 0x01, S("Hel"));
    vector_put(&buf, 0x80, S("lo"));
    bytes = buf_str(&buf);
    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    CHECK(ws_decoder_is_idle(&d));
    ev = ws_decode(&d, &bytes);
    CHECK_INT(ev.type, WS_MESSAGE);
    CHECK(!ev.is_masked);
    CHECK(ev.is_checked);
    CHECK_STR(ev.body, S("Hello"));
    CHECK(ws_decoder_is_idle(&d));
    CHECK_INT(ws_decode(&d, &bytes).type, WS_NEED_MORE);
    CHECK(d.assembly == NULL);
    ws_decoder_done(&d);
    buf_done(&buf);
}

TEST(a_decoder_is_idle_between_messages_only)
{
    struct buf bytes, out;
    struct ws_decoder d;

    buf_init(&bytes, 1000);
    buf_init(&out, 1000);
    vector_put(&bytes, 0x01, S("ab"));
    vector_put(&bytes, 0x89, S("p"));
    vector_put(&bytes, 0x80, S("c"));
    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    for (size_t i = 0; i < bytes.len; i++) {
        CHECK_INT(ws_decoder_is_idle(&d), i == 0);
        CHECK(vector_feed(&d, str_slice(buf_str(&bytes), i, i + 1), &out));
    }
    CHECK(ws_decoder_is_idle(&d));
    CHECK(d.assembly == NULL);
    ws_decoder_done(&d);
    buf_done(&bytes);
    buf_done(&out);
}

TEST(a_ping_in_two_pieces_leaves_nothing_behind)
{
    struct buf bytes, out;
    struct ws_decoder d;

    buf_init(&bytes, 1000);
    buf_init(&out, 1000);
    vector_put(&bytes, 0x89, S("ping"));
    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    CHECK(vector_feed(&d, str_slice(buf_str(&bytes), 0, 8), &out));
    CHECK(d.assembly != NULL);
    CHECK(vector_feed(&d, str_slice(buf_str(&bytes), 8, bytes.len), &out));
    CHECK_STR(buf_str(&out), S("ping:ping"));
    CHECK(d.assembly == NULL);
    CHECK(ws_decoder_is_idle(&d));
    ws_decoder_done(&d);
    buf_done(&bytes);
    buf_done(&out);
}

TEST(a_head_in_two_pieces_leaves_nothing_behind)
{
    struct buf bytes, out;
    struct ws_decoder d;

    buf_init(&bytes, 1000);
    buf_init(&out, 1000);
    vector_put(&bytes, 0x81, S("Hello"));
    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    CHECK(vector_feed(&d, str_slice(buf_str(&bytes), 0, 3), &out));
    CHECK(!ws_decoder_is_idle(&d));
    CHECK(vector_feed(&d, str_slice(buf_str(&bytes), 3, bytes.len), &out));
    CHECK_STR(buf_str(&out), S("text:Hello"));
    CHECK(d.assembly == NULL);
    CHECK(ws_decoder_is_idle(&d));
    ws_decoder_done(&d);
    buf_done(&bytes);
    buf_done(&out);
}

TEST(a_head_that_announces_a_gigabyte_allocates_next_to_nothing)
{
    static const struct ws_shared shared = { .message_bytes = (size_t)4 << 30,
                                             .fragments = 10 };
    char head[] = "\x82\xff\0\0\0\0\x40\0\0\0\1\2\3\4payload";
    struct str bytes = { head, sizeof(head) - 1 };
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    struct ws_decoder d;

    ws_decoder_init(&d, WS_SERVER, &shared, false);
    CHECK_INT(ws_decode(&d, &bytes).type, WS_NEED_MORE);
    CHECK(!ws_decoder_is_idle(&d));
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd - before < 4096);
    ws_decoder_done(&d);
}

TEST(after_the_end_all_bytes_are_swallowed)
{
    /* clang-format off */
    static const struct { struct str bytes; enum ws_event_type type; } cases[] = {
        { S("\x81\x05Hello and more"),                          WS_VIOLATION },
        { S("\x88\x80" NO_MASK "\x89\x80" NO_MASK),             WS_CLOSE },
        { S("\x88\x82" NO_MASK "\x03\xe8" "\x81\x81" NO_MASK "a"), WS_CLOSE },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct ws_decoder d;
        char text[64];
        struct str bytes = { text, c->bytes.len };

        memcpy(text, c->bytes.ptr, c->bytes.len);
        ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
        CHECK_INT(ws_decode(&d, &bytes).type, c->type);
        CHECK(d.has_closed);
        CHECK(bytes.len > 0);
        CHECK_INT(ws_decode(&d, &bytes).type, WS_NEED_MORE);
        CHECK_INT(bytes.len, 0);
        ws_decoder_done(&d);
    }
}

TEST(no_bytes_at_all_are_no_event)
{
    struct ws_decoder d;
    struct str bytes = {};

    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    CHECK_INT(ws_decode(&d, &bytes).type, WS_NEED_MORE);
    CHECK(ws_decoder_is_idle(&d));
    ws_decoder_done(&d);
}

/* The number of bytes after which the text fails, or 0. */
static size_t fails_after(struct str bytes)
{
    struct ws_decoder d;
    struct buf out;
    size_t at = 0;

    buf_init(&out, 1000);
    ws_decoder_init(&d, WS_SERVER, &vector_server.shared, false);
    while (at < bytes.len && vector_feed(&d, str_slice(bytes, at, at + 1), &out))
        at++;
    CHECK_STR(buf_str(&out), S("fail:1007"));
    ws_decoder_done(&d);
    buf_done(&out);
    return at + 1;
}

TEST(bad_text_fails_at_its_first_bad_byte)
{
    struct buf buf;

    buf_init(&buf, 1000);
    vector_put(&buf, 0x81, S(GREEK "\xf4\x90\x80\x80 edited"));
    CHECK_INT(fails_after(buf_str(&buf)), 6 + 13);
    buf_clear(&buf);
    vector_put(&buf, 0x01, S(GREEK "\xf4"));
    vector_put(&buf, 0x00, S("\x90"));
    vector_put(&buf, 0x80, S("\x80\x80 edited"));
    CHECK_INT(fails_after(buf_str(&buf)), 6 + 12 + 6 + 1);
    buf_done(&buf);
}
