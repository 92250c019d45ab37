/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases of the Autobahn TestSuite (fuzzingclient against a server), at the level of
 * the codec: the same frames, under the numbers of the suite. How the octets are chopped
 * does not matter here, since every vector is cut everywhere. What a server answers is
 * checked over a socket by tests/conformance/autobahn.test.mjs.
 */
#include "ws/deflate.h"
#include "ws_autobahn_utf8.h"
#include "ws_vectors.h"

#define X5(text)   text text text text text
#define X125(text) X5(X5(X5(text)))
#define HELLO      "Hello, world!"
#define OCTETS     "\x00\xff\xfe\xfd\xfc\xfb\x00\xff"
#define MIXED      "Hello-\xc2\xb5@\xc3\x9f\xc3\xb6\xc3\xa4\xc3\xbc\xc3\xa0\xc3\xa1-UTF-8!!"
#define MIXED_AS \
    "Hello-\\xc2\\xb5@\\xc3\\x9f\\xc3\\xb6\\xc3\\xa4\\xc3\\xbc\\xc3\\xa0\\xc3\\xa1-UTF-8!!"
#define GREEK    "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5"
#define GREEK_AS "\\xce\\xba\\xe1\\xbd\\xb9\\xcf\\x83\\xce\\xbc\\xce\\xb5"
#define SURROGATE        \
    GREEK "\xed\xa0\x80" \
          "edited"
#define TOO_HIGH "\xf4\x90\x80\x80"

/* clang-format off */
#define TEN_PINGS \
    FRAME(0x89, "payload-0"), FRAME(0x89, "payload-1"), FRAME(0x89, "payload-2"), FRAME(0x89, "payload-3"), \
    FRAME(0x89, "payload-4"), FRAME(0x89, "payload-5"), FRAME(0x89, "payload-6"), FRAME(0x89, "payload-7"), \
    FRAME(0x89, "payload-8"), FRAME(0x89, "payload-9")
#define TEN_PINGS_AS \
    "ping:payload-0 | ping:payload-1 | ping:payload-2 | ping:payload-3 | ping:payload-4 | " \
    "ping:payload-5 | ping:payload-6 | ping:payload-7 | ping:payload-8 | ping:payload-9"

static const struct vector framing[] = { /* sections 2 to 5 */
    { "2.1",  { FRAME(0x89, "") }, "ping:" },
    { "2.2",  { FRAME(0x89, HELLO) }, "ping:" HELLO },
    { "2.3",  { FRAME(0x89, OCTETS) }, "ping:\\x00\\xff\\xfe\\xfd\\xfc\\xfb\\x00\\xff" },
    { "2.4",  { FRAME(0x89, X125("\xfe")) }, "ping:125#f046f9d1" },
    { "2.5",  { FRAME(0x89, X125("\xfe") "\xfe") }, "fail:1002" },
    { "2.6",  { FRAME(0x89, X125("\xfe")) }, "ping:125#f046f9d1" },
    { "2.7",  { FRAME(0x8a, ""), FRAME(0x88, "\x03\xe8") }, "pong: | close:1000:" },
    { "2.8",  { FRAME(0x8a, "unsolicited pong payload"), FRAME(0x88, "\x03\xe8") },
      "pong:unsolicited pong payload | close:1000:" },
    { "2.9",  { FRAME(0x8a, "unsolicited pong payload"), FRAME(0x89, "ping payload") },
      "pong:unsolicited pong payload | ping:ping payload" },
    { "2.10", { TEN_PINGS }, TEN_PINGS_AS },
    { "2.11", { TEN_PINGS }, TEN_PINGS_AS },

    { "3.1",   { FRAME(0x91, HELLO) }, "fail:1002" },
    { "3.2",   { FRAME(0x81, HELLO), FRAME(0xa1, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "3.3",   { FRAME(0x81, HELLO), FRAME(0xb1, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "3.4",   { FRAME(0x81, HELLO), FRAME(0xc1, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "3.5",   { FRAME(0xd2, OCTETS) }, "fail:1002" },
    { "3.6",   { FRAME(0xe2, HELLO) }, "fail:1002" },
    { "3.7",   { FRAME(0xf8, "") }, "fail:1002" },

    { "4.1.1", { FRAME(0x83, "") }, "fail:1002" },
    { "4.1.2", { FRAME(0x84, "reserved opcode payload") }, "fail:1002" },
    { "4.1.3", { FRAME(0x81, HELLO), FRAME(0x85, ""), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "4.1.4", { FRAME(0x81, HELLO), FRAME(0x86, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "4.1.5", { FRAME(0x81, HELLO), FRAME(0x87, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "4.2.1", { FRAME(0x8b, "") }, "fail:1002" },
    { "4.2.2", { FRAME(0x8c, "reserved opcode payload") }, "fail:1002" },
    { "4.2.3", { FRAME(0x81, HELLO), FRAME(0x8d, ""), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "4.2.4", { FRAME(0x81, HELLO), FRAME(0x8e, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },
    { "4.2.5", { FRAME(0x81, HELLO), FRAME(0x8f, HELLO), FRAME(0x89, "") }, "text:" HELLO " | fail:1002" },

    { "5.1",   { FRAME(0x09, "fragment1"), FRAME(0x80, "fragment2") }, "fail:1002" },
    { "5.2",   { FRAME(0x0a, "fragment1"), FRAME(0x80, "fragment2") }, "fail:1002" },
    { "5.3",   { FRAME(0x01, "fragment1"), FRAME(0x80, "fragment2") }, "text:fragment1fragment2" },
    { "5.4",   { FRAME(0x01, "fragment1"), FRAME(0x80, "fragment2") }, "text:fragment1fragment2" },
    { "5.5",   { FRAME(0x01, "fragment1"), FRAME(0x80, "fragment2") }, "text:fragment1fragment2" },
    { "5.6",   { FRAME(0x01, "fragment1"), FRAME(0x89, "ping payload"), FRAME(0x80, "fragment2") },
      "ping:ping payload | text:fragment1fragment2" },
    { "5.7",   { FRAME(0x01, "fragment1"), FRAME(0x89, "ping payload"), FRAME(0x80, "fragment2") },
      "ping:ping payload | text:fragment1fragment2" },
    { "5.8",   { FRAME(0x01, "fragment1"), FRAME(0x89, "ping payload"), FRAME(0x80, "fragment2") },
      "ping:ping payload | text:fragment1fragment2" },
    { "5.9",   { FRAME(0x80, "non-continuation payload"), FRAME(0x81, HELLO) }, "fail:1002" },
    { "5.10",  { FRAME(0x80, "non-continuation payload"), FRAME(0x81, HELLO) }, "fail:1002" },
    { "5.11",  { FRAME(0x80, "non-continuation payload"), FRAME(0x81, HELLO) }, "fail:1002" },
    { "5.12",  { FRAME(0x00, "non-continuation payload"), FRAME(0x81, HELLO) }, "fail:1002" },
    { "5.13",  { FRAME(0x00, "non-continuation payload"), FRAME(0x81, HELLO) }, "fail:1002" },
    { "5.14",  { FRAME(0x00, "non-continuation payload"), FRAME(0x81, HELLO) }, "fail:1002" },
    { "5.15",  { FRAME(0x01, "fragment1"), FRAME(0x80, "fragment2"), FRAME(0x00, "fragment3"), FRAME(0x81, "fragment4") },
      "text:fragment1fragment2 | fail:1002" },
    { "5.16",  { FRAME(0x00, "fragment1"), FRAME(0x01, "fragment2"), FRAME(0x80, "fragment3") }, "fail:1002" },
    { "5.17",  { FRAME(0x80, "fragment1"), FRAME(0x01, "fragment2"), FRAME(0x80, "fragment3") }, "fail:1002" },
    { "5.18",  { FRAME(0x01, "fragment1"), FRAME(0x81, "fragment2") }, "fail:1002" },
    { "5.19",  { FRAME(0x01, "fragment1"), FRAME(0x00, "fragment2"), FRAME(0x89, "pongme 1!"), FRAME(0x00, "fragment3"),
                 FRAME(0x00, "fragment4"), FRAME(0x89, "pongme 2!"), FRAME(0x80, "fragment5") },
      "ping:pongme 1! | ping:pongme 2! | text:fragment1fragment2fragment3fragment4fragment5" },
    { "5.20",  { FRAME(0x01, "fragment1"), FRAME(0x00, "fragment2"), FRAME(0x89, "pongme 1!"), FRAME(0x00, "fragment3"),
                 FRAME(0x00, "fragment4"), FRAME(0x89, "pongme 2!"), FRAME(0x80, "fragment5") },
      "ping:pongme 1! | ping:pongme 2! | text:fragment1fragment2fragment3fragment4fragment5" },
};

static const struct vector texts[] = { /* sections 6.1 to 6.4 */
    { "6.1.1", { FRAME(0x81, "") }, "text:" },
    { "6.1.2", { FRAME(0x01, ""), FRAME(0x00, ""), FRAME(0x80, "") }, "text:" },
    { "6.1.3", { FRAME(0x01, ""), FRAME(0x00, "middle frame payload"), FRAME(0x80, "") }, "text:middle frame payload" },
    { "6.2.1", { FRAME(0x81, MIXED) }, "text:" MIXED_AS },
    { "6.2.2", { FRAME(0x01, "Hello-\xc2\xb5@\xc3\x9f\xc3\xb6\xc3\xa4"), FRAME(0x80, "\xc3\xbc\xc3\xa0\xc3\xa1-UTF-8!!") },
      "text:" MIXED_AS },
    { "6.2.3", { FRAME(0x01, "Hello-\xc2"), FRAME(0x00, "\xb5"), FRAME(0x00, "@\xc3"), FRAME(0x00, "\x9f\xc3"),
                 FRAME(0x00, "\xb6\xc3\xa4\xc3"), FRAME(0x00, "\xbc\xc3\xa0"), FRAME(0x00, "\xc3"), FRAME(0x80, "\xa1-UTF-8!!") },
      "text:" MIXED_AS },
    { "6.2.4", { FRAME(0x01, "\xce"), FRAME(0x00, "\xba"), FRAME(0x00, "\xe1"), FRAME(0x00, "\xbd"), FRAME(0x00, "\xb9"),
                 FRAME(0x00, "\xcf"), FRAME(0x00, "\x83"), FRAME(0x00, "\xce"), FRAME(0x00, "\xbc"), FRAME(0x00, "\xce"),
                 FRAME(0x80, "\xb5") },
      "text:" GREEK_AS },
    { "6.3.1", { FRAME(0x81, SURROGATE) }, "fail:1007" },
    { "6.3.2", { FRAME(0x01, GREEK), FRAME(0x00, "\xed"), FRAME(0x00, "\xa0"), FRAME(0x00, "\x80"), FRAME(0x80, "edited") },
      "fail:1007" },
    { "6.4.1", { FRAME(0x01, GREEK), FRAME(0x00, TOO_HIGH), FRAME(0x80, "edited") }, "fail:1007" },
    { "6.4.2", { FRAME(0x01, GREEK "\xf4"), FRAME(0x00, "\x90"), FRAME(0x80, "\x80\x80" "edited") }, "fail:1007" },
    { "6.4.3", { FRAME(0x81, GREEK TOO_HIGH "edited") }, "fail:1007" },
    { "6.4.4", { FRAME(0x81, GREEK TOO_HIGH "edited") }, "fail:1007" },
};

static const struct vector closes[] = { /* sections 7.1 to 7.5 */
    { "7.1.1", { FRAME(0x81, "Hello World!"), FRAME(0x88, "\x03\xe8") }, "text:Hello World! | close:1000:" },
    { "7.1.2", { FRAME(0x88, "\x03\xe8"), FRAME(0x88, "") }, "close:1000:" },
    { "7.1.3", { FRAME(0x88, "\x03\xe8"), FRAME(0x89, "") }, "close:1000:" },
    { "7.1.4", { FRAME(0x88, "\x03\xe8"), FRAME(0x81, "Hello World!") }, "close:1000:" },
    { "7.1.5", { FRAME(0x01, "fragment1"), FRAME(0x88, "\x03\xe8"), FRAME(0x80, "fragment2") }, "close:1000:" },
    { "7.1.6", { FRAME(0x81, X125("BAsd7&jh23")), FRAME(0x81, "Hello World!"), FRAME(0x88, "\x03\xe8"), FRAME(0x89, "") },
      "text:1250#a45bbd73 | text:Hello World! | close:1000:" },
    { "7.3.1", { FRAME(0x88, "") }, "close:1005:" },
    { "7.3.2", { FRAME(0x88, "a") }, "fail:1002" },
    { "7.3.3", { FRAME(0x88, "\x03\xe8") }, "close:1000:" },
    { "7.3.4", { FRAME(0x88, "\x03\xe8" "Hello World!") }, "close:1000:Hello World!" },
    { "7.3.5", { FRAME(0x88, "\x03\xe8" X5(X5("****")) X5("****") "***") },
      "close:1000:123#d083a28d" },
    { "7.3.6", { FRAME(0x88, "\x03\xe8" X5(X5("****")) X5("****") "****") },
      "fail:1002" },
    { "7.5.1", { FRAME(0x88, "\x03\xe8" SURROGATE) }, "fail:1007" },
};

static const struct { const char *id; uint16_t code; bool is_valid; } close_codes[] = {
    { "7.7.1",  1000, true  }, { "7.7.2",  1001, true  }, { "7.7.3",  1002, true  },
    { "7.7.4",  1003, true  }, { "7.7.5",  1007, true  }, { "7.7.6",  1008, true  },
    { "7.7.7",  1009, true  }, { "7.7.8",  1010, true  }, { "7.7.9",  1011, true  },
    { "7.7.10", 3000, true  }, { "7.7.11", 3999, true  }, { "7.7.12", 4000, true  },
    { "7.7.13", 4999, true  },
    { "7.9.1",  0,    false }, { "7.9.2",  999,  false }, { "7.9.3",  1004, false },
    { "7.9.4",  1005, false }, { "7.9.5",  1006, false }, { "7.9.6",  1016, false },
    { "7.9.7",  1100, false }, { "7.9.8",  2000, false }, { "7.9.9",  2999, false },
    { "7.13.1", 5000, false }, { "7.13.2", 65535, false },
};

/* Sections 1, 9 and 10: one message, its length, the size of its fragments (0: none) and of
 * the chops it arrives in (0: all at once). */
static const struct limit_case {
    const char *id;
    uint8_t opcode;
    struct str pattern;
    size_t length, fragment, chop;
} limits[] = {
    { "1.1.1", 1, S("*"), 0,     0, 0 }, { "1.2.1", 2, S("\xfe"), 0,     0, 0 },
    { "1.1.2", 1, S("*"), 125,   0, 0 }, { "1.2.2", 2, S("\xfe"), 125,   0, 0 },
    { "1.1.3", 1, S("*"), 126,   0, 0 }, { "1.2.3", 2, S("\xfe"), 126,   0, 0 },
    { "1.1.4", 1, S("*"), 127,   0, 0 }, { "1.2.4", 2, S("\xfe"), 127,   0, 0 },
    { "1.1.5", 1, S("*"), 128,   0, 0 }, { "1.2.5", 2, S("\xfe"), 128,   0, 0 },
    { "1.1.6", 1, S("*"), 65535, 0, 0 }, { "1.2.6", 2, S("\xfe"), 65535, 0, 0 },
    { "1.1.7", 1, S("*"), 65536, 0, 0 }, { "1.2.7", 2, S("\xfe"), 65536, 0, 0 },
    { "1.1.8", 1, S("*"), 65536, 0, 997 }, { "1.2.8", 2, S("\xfe"), 65536, 0, 997 },

    { "9.1.1", 1, S("BAsd7&jh23"), 64 << 10,  0, 0 }, { "9.2.1", 2, S("\x00\xfe\x23\xfa\xf0"), 64 << 10,  0, 0 },
    { "9.1.2", 1, S("BAsd7&jh23"), 256 << 10, 0, 0 }, { "9.2.2", 2, S("\x00\xfe\x23\xfa\xf0"), 256 << 10, 0, 0 },
    { "9.1.3", 1, S("BAsd7&jh23"), 1 << 20,   0, 0 }, { "9.2.3", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20,   0, 0 },
    { "9.1.4", 1, S("BAsd7&jh23"), 4 << 20,   0, 0 }, { "9.2.4", 2, S("\x00\xfe\x23\xfa\xf0"), 4 << 20,   0, 0 },
    { "9.1.5", 1, S("BAsd7&jh23"), 8 << 20,   0, 0 }, { "9.2.5", 2, S("\x00\xfe\x23\xfa\xf0"), 8 << 20,   0, 0 },
    { "9.1.6", 1, S("BAsd7&jh23"), 16 << 20,  0, 0 }, { "9.2.6", 2, S("\x00\xfe\x23\xfa\xf0"), 16 << 20,  0, 0 },

    { "9.3.1", 1, S("*"), 4 << 20, 64,        0 }, { "9.4.1", 2, S("\xfe"), 4 << 20, 64,        0 },
    { "9.3.2", 1, S("*"), 4 << 20, 256,       0 }, { "9.4.2", 2, S("\xfe"), 4 << 20, 256,       0 },
    { "9.3.3", 1, S("*"), 4 << 20, 1 << 10,   0 }, { "9.4.3", 2, S("\xfe"), 4 << 20, 1 << 10,   0 },
    { "9.3.4", 1, S("*"), 4 << 20, 4 << 10,   0 }, { "9.4.4", 2, S("\xfe"), 4 << 20, 4 << 10,   0 },
    { "9.3.5", 1, S("*"), 4 << 20, 16 << 10,  0 }, { "9.4.5", 2, S("\xfe"), 4 << 20, 16 << 10,  0 },
    { "9.3.6", 1, S("*"), 4 << 20, 64 << 10,  0 }, { "9.4.6", 2, S("\xfe"), 4 << 20, 64 << 10,  0 },
    { "9.3.7", 1, S("*"), 4 << 20, 256 << 10, 0 }, { "9.4.7", 2, S("\xfe"), 4 << 20, 256 << 10, 0 },
    { "9.3.8", 1, S("*"), 4 << 20, 1 << 20,   0 }, { "9.4.8", 2, S("\xfe"), 4 << 20, 1 << 20,   0 },
    { "9.3.9", 1, S("*"), 4 << 20, 4 << 20,   0 }, { "9.4.9", 2, S("\xfe"), 4 << 20, 4 << 20,   0 },

    { "9.5.1", 1, S("BAsd7&jh23"), 1 << 20, 0, 64 },   { "9.6.1", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20, 0, 64 },
    { "9.5.2", 1, S("BAsd7&jh23"), 1 << 20, 0, 128 },  { "9.6.2", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20, 0, 128 },
    { "9.5.3", 1, S("BAsd7&jh23"), 1 << 20, 0, 256 },  { "9.6.3", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20, 0, 256 },
    { "9.5.4", 1, S("BAsd7&jh23"), 1 << 20, 0, 512 },  { "9.6.4", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20, 0, 512 },
    { "9.5.5", 1, S("BAsd7&jh23"), 1 << 20, 0, 1024 }, { "9.6.5", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20, 0, 1024 },
    { "9.5.6", 1, S("BAsd7&jh23"), 1 << 20, 0, 2048 }, { "9.6.6", 2, S("\x00\xfe\x23\xfa\xf0"), 1 << 20, 0, 2048 },

    { "9.7.1", 1, S("*"), 0,    0, 0 }, { "9.8.1", 2, S("\xfe"), 0,    0, 0 },
    { "9.7.2", 1, S("*"), 16,   0, 0 }, { "9.8.2", 2, S("\xfe"), 16,   0, 0 },
    { "9.7.3", 1, S("*"), 64,   0, 0 }, { "9.8.3", 2, S("\xfe"), 64,   0, 0 },
    { "9.7.4", 1, S("*"), 256,  0, 0 }, { "9.8.4", 2, S("\xfe"), 256,  0, 0 },
    { "9.7.5", 1, S("*"), 1024, 0, 0 }, { "9.8.5", 2, S("\xfe"), 1024, 0, 0 },
    { "9.7.6", 1, S("*"), 4096, 0, 0 }, { "9.8.6", 2, S("\xfe"), 4096, 0, 0 },

    { "10.1.1", 1, S("*"), 65536, 1300, 0 },
};

/* Sections 12 and 13: every kind of payload and every offer with each of these sizes. */
static const struct { size_t length, fragment; } deflate_sizes[] = {
    { 16, 0 },     { 64, 0 },      { 256, 0 },     { 1024, 0 },    { 4096, 0 },     { 8192, 0 },
    { 16384, 0 },  { 32768, 0 },   { 65536, 0 },   { 131072, 0 },  { 8192, 256 },   { 16384, 256 },
    { 32768, 256 }, { 65536, 256 }, { 131072, 256 }, { 131072, 1024 }, { 131072, 4096 }, { 131072, 32768 },
};

enum sample { SAMPLE_JSON, SAMPLE_BITMAP, SAMPLE_PROSE, SAMPLE_HTML, SAMPLE_PDF };

static const struct { const char *id; enum sample sample; bool is_binary; } deflate_samples[] = {
    { "12.1", SAMPLE_JSON,   false },
    { "12.2", SAMPLE_BITMAP, true  },
    { "12.3", SAMPLE_PROSE,  true  },
    { "12.4", SAMPLE_HTML,   false },
    { "12.5", SAMPLE_PDF,    true  },
};

#define PMD "permessage-deflate"

static const struct { const char *id, *offers; int server_bits; } deflate_offers[] = {
    { "13.1", PMD "; client_no_context_takeover; client_max_window_bits", 15 },
    { "13.2", PMD "; client_no_context_takeover; client_max_window_bits; server_no_context_takeover", 15 },
    { "13.3", PMD "; client_no_context_takeover; client_max_window_bits; server_max_window_bits=9", 9 },
    { "13.4", PMD "; client_no_context_takeover; client_max_window_bits; server_max_window_bits=15", 15 },
    { "13.5", PMD "; client_no_context_takeover; client_max_window_bits; server_no_context_takeover; server_max_window_bits=9", 9 },
    { "13.6", PMD "; client_no_context_takeover; client_max_window_bits; server_no_context_takeover; server_max_window_bits=15", 15 },
    { "13.7", PMD "; client_no_context_takeover; client_max_window_bits; server_no_context_takeover; server_max_window_bits=9, "
              PMD "; client_no_context_takeover; client_max_window_bits; server_no_context_takeover, "
              PMD "; client_no_context_takeover; client_max_window_bits", 9 },
};
/* clang-format on */

TEST(all_517_cases_of_the_suite_have_a_row)
{
    size_t count = COUNT(framing) + COUNT(texts) + COUNT(utf8_cases) + COUNT(closes) +
                   COUNT(close_codes) + COUNT(limits);

    count += COUNT(deflate_sizes) * (COUNT(deflate_samples) + COUNT(deflate_offers));
    CHECK_INT(count, 517);
}

TEST(frames_are_read_as_sections_2_to_5_ask)
{
    FOR_EACH_CASE(c, framing)
        vector_check(&vector_server, c);
}

TEST(texts_are_read_as_sections_6_1_to_6_4_ask)
{
    FOR_EACH_CASE(c, texts)
        vector_check(&vector_server, c);
}

TEST(utf8_is_judged_as_sections_6_5_to_6_23_ask)
{
    FOR_EACH_CASE(c, utf8_cases) {
        struct buf bytes, events;

        buf_init(&bytes, 1000);
        buf_init(&events, 1000);
        vector_put(&bytes, 0x81, c->text);
        if (c->is_valid) {
            buf_put(&events, S("text:"));
            vector_show(&events, c->text);
        } else {
            buf_put(&events, S("fail:1007"));
        }
        vector_check_bytes(&vector_server, buf_str(&bytes), buf_str(&events));
        buf_done(&bytes);
        buf_done(&events);
    }
}

TEST(closes_are_read_as_sections_7_1_to_7_5_ask)
{
    FOR_EACH_CASE(c, closes)
        vector_check(&vector_server, c);
}

TEST(close_codes_are_judged_as_sections_7_7_to_7_13_ask)
{
    FOR_EACH_CASE(c, close_codes) {
        char payload[2] = { (char)(c->code >> 8), (char)c->code };
        struct buf bytes, events;

        buf_init(&bytes, 1000);
        buf_init(&events, 1000);
        vector_put(&bytes, 0x88, (struct str){ payload, 2 });
        if (c->is_valid)
            buf_putf(&events, "close:%d:", c->code);
        else
            buf_put(&events, S("fail:1002"));
        vector_check_bytes(&vector_server, buf_str(&bytes), buf_str(&events));
        buf_done(&bytes);
        buf_done(&events);
    }
}

/* Appends a message as one frame, or in fragments of that size. */
static void put_message(struct buf *out, uint8_t first, struct str message,
                        size_t fragment)
{
    size_t step = fragment ? fragment : message.len + 1;

    for (size_t at = 0; at == 0 || at < message.len; at += step) {
        uint8_t bits = at + step >= message.len ? 0x80 : 0;

        vector_put(out, bits | (at ? 0 : first), str_slice(message, at, at + step));
    }
}

static void check_limit(const struct limit_case *c)
{
    struct buf message, bytes, events, out;

    buf_init(&message, c->length + c->pattern.len);
    buf_init(&bytes, 32 << 20);
    buf_init(&events, 1000);
    buf_init(&out, 1000);
    while (message.len < c->length)
        buf_put(&message, c->pattern);
    message.len = c->length;
    put_message(&bytes, c->opcode, buf_str(&message), c->fragment);
    buf_put(&events, str_of(c->opcode == 1 ? "text:" : "binary:"));
    vector_show(&events, buf_str(&message));
    vector_run(&vector_server, buf_str(&bytes), 0, c->chop ? c->chop : bytes.len, &out);
    CHECK_STR(buf_str(&out), buf_str(&events));
    vector_run(&vector_server, buf_str(&bytes), bytes.len / 3, 65536, &out);
    CHECK_STR(buf_str(&out), buf_str(&events));
    buf_done(&message);
    buf_done(&bytes);
    buf_done(&events);
    buf_done(&out);
}

TEST(messages_of_every_size_arrive_as_sections_1_and_9_and_10_ask)
{
    FOR_EACH_CASE(c, limits)
        check_limit(c);
}

/* Payloads of the same character as those of the suite: repetitive text, a picture with
 * smooth areas, prose, markup, and bytes that are compressed already. */
static void put_sample(struct buf *out, enum sample sample, size_t length)
{
    static const char *const words[] = { "Habe",       "nun", "ach",     "Philosophie",
                                         "Juristerei", "und", "Medizin", "studiert" };
    uint32_t seed = 2463534242;

    while (out->len < length) {
        seed = seed * 1664525 + 1013904223;
        switch (sample) {
        case SAMPLE_JSON:
            buf_putf(out, "{\"id\": %u, \"is\": true}, ", seed >> 16);
            break;
        case SAMPLE_BITMAP:
            buf_putc(out, (char)(out->len % 512 / 8 + (seed >> 31)));
            break;
        case SAMPLE_PROSE: buf_putf(out, "%s ", words[seed >> 29]); break;
        case SAMPLE_HTML:
            buf_putf(out, "<td class=\"x%u\">\xc3\xa9</td>", seed >> 28);
            break;
        case SAMPLE_PDF: buf_putc(out, (char)(seed >> 24)); break;
        }
    }
    out->len = length;
}

struct deflate_case {
    enum sample sample;
    bool is_binary;
    size_t length, fragment;
};

/* Three messages in a row: what the peer compresses, with the window agreed on, arrives.
 */
static void check_deflate(struct ws_deflater *deflater, const struct vector_setup *setup,
                          const struct deflate_case *c)
{
    struct buf message, bytes, events, out;

    buf_init(&message, c->length + 100);
    buf_init(&bytes, 4 << 20);
    buf_init(&events, 1000);
    buf_init(&out, 1 << 20);
    put_sample(&message, c->sample, c->length);
    while (!c->is_binary && !utf8_is_valid(buf_str(&message)))
        message.len--;
    for (int i = 0; i < 3; i++) {
        buf_clear(&out);
        CHECK_INT(ws_deflate(deflater, buf_str(&message), &out), OK);
        put_message(&bytes, c->is_binary ? 0x42 : 0x41, buf_str(&out), c->fragment);
        buf_put(&events, str_of(i ? " | " : ""));
        buf_put(&events, str_of(c->is_binary ? "binary:" : "text:"));
        vector_show(&events, buf_str(&message));
    }
    vector_run(setup, buf_str(&bytes), bytes.len, 1, &out);
    CHECK_STR(buf_str(&out), buf_str(&events));
    vector_run(setup, buf_str(&bytes), bytes.len / 5, 1000, &out);
    CHECK_STR(buf_str(&out), buf_str(&events));
    buf_done(&message);
    buf_done(&bytes);
    buf_done(&events);
    buf_done(&out);
}

TEST(compressed_messages_of_every_kind_arrive_as_section_12_asks)
{
    struct ws_deflater *deflater = ws_deflater_new(15);
    struct vector_setup setup = vector_server;

    setup.shared.inflater = ws_inflater_new();
    FOR_EACH_CASE(kind, deflate_samples)
        for (size_t i = 0; i < COUNT(deflate_sizes); i++)
            check_deflate(deflater, &setup,
                          &(struct deflate_case){ kind->sample, kind->is_binary,
                                                  deflate_sizes[i].length,
                                                  deflate_sizes[i].fragment });
    ws_inflater_free(setup.shared.inflater);
    ws_deflater_free(deflater);
}

TEST(compressed_messages_arrive_under_every_offer_of_section_13)
{
    struct vector_setup setup = vector_server;

    setup.shared.inflater = ws_inflater_new();
    FOR_EACH_CASE(offer, deflate_offers) {
        struct ws_extension ext;
        struct ws_deflater *deflater;

        CHECK_INT(ws_extension_choose(str_of(offer->offers), 9, &ext), OK);
        CHECK(ext.is_on);
        CHECK_INT(ext.server_bits, offer->server_bits);
        deflater = ws_deflater_new(ext.server_bits);
        for (size_t i = 0; i < COUNT(deflate_sizes); i++)
            check_deflate(deflater, &setup,
                          &(struct deflate_case){ SAMPLE_JSON, false,
                                                  deflate_sizes[i].length,
                                                  deflate_sizes[i].fragment });
        ws_deflater_free(deflater);
    }
    ws_inflater_free(setup.shared.inflater);
}
