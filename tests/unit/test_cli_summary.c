/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/summary.h"
#include "harness.h"

enum { TO_MAX = 12 };

#define TIME "2026-11-15T12:03:44.5Z"

/* "alice>bob,carol kind id correlation_id payload"; "-" where there is none. */
static void summarise(const char *line, const struct summary_look *look, struct buf *out)
{
    char *text = strdup(line);
    char *payload = text;
    char *words[4];
    const char *to[TO_MAX];
    struct moot_message m = { .ts = TIME, .to = to };

    for (size_t i = 0; i < 4; i++)
        words[i] = strsep(&payload, " ");
    m.to_count = 0;
    m.from = strsep(&words[0], ">");
    while (words[0])
        to[m.to_count++] = strsep(&words[0], ",");
    m.kind = words[1];
    m.id = words[2];
    m.correlation_id = strcmp(words[3], "-") == 0 ? NULL : words[3];
    m.payload = (struct moot_str){ payload, strlen(payload) };
    summary_put(out, &m, look);
    free(text);
}

static void check(const char *line, const struct summary_look *look, struct str want)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    summarise(line, look, &out);
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

static void set_zone(const char *zone)
{
    CHECK_INT(setenv("TZ", zone, 1), 0);
    tzset();
}

#define LONG_ID "0123456789abcdefghij-1"

TEST(an_envelope_becomes_a_line_that_says_who_does_what)
{
    /* clang-format off */
    static const struct { const char *envelope; struct str want; } cases[] = {
        { "alice chat c1 - {\"text\":\"hello\",\"format\":\"plain\"}",
          S("12:03:44 alice  hello\n") },
        { "alice>bob,carol chat c1 c0 {\"text\":\"hello\"}",
          S("12:03:44 alice -> bob, carol  hello  [c1 re c0]\n") },
        { "a>1,2,3,4,5,6,7,8,9,10 chat c1 - {\"text\":\"all\"}",
          S("12:03:44 a -> 1, 2, 3, 4, 5, 6, 7, 8 and 2 more  all\n") },
        { "alice chat c1 - {\"text\":\"two\\r\\nlines \\u001b[2J\\u202e\"}",
          S("12:03:44 alice  two\\r\\nlines \\u001b[2J\\u202e\n") },
        { "human>worker mcp/request:tools/call:rm f1 p1 {\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{\"path\": \"/x\"}}}",
          S("12:03:44 human -> worker  calls rm {\"path\": \"/x\"}  [f1 re p1]\n") },
        { "human>worker mcp/request:tools/call f1 - {\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{}}}",
          S("12:03:44 human -> worker  calls rm  [f1]\n") },
        { "human>worker mcp/request:tools/list " LONG_ID " - {\"method\":\"tools/list\"}",
          S("12:03:44 human -> worker  asks tools/list  [0123..efghij-1]\n") },
        { "human>w mcp/request:resources/read:file:///x f1 - {\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///x\"}}",
          S("12:03:44 human -> w  asks resources/read file:///x {\"uri\":\"file:///x\"}  [f1]\n") },
        { "w mcp/request:notifications/progress n1 - {\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}",
          S("12:03:44 w  notifies notifications/progress {\"progress\":1}  [n1]\n") },
        { "w>human mcp/response:tools/call:rm r1 f1 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"gone\\nfor good\"}]}}",
          S("12:03:44 w -> human  result of rm: gone ... (8 more bytes)  [r1 re f1]\n") },
        { "w>human mcp/response:tools/call:rm r1 f1 {\"id\":1,\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}}",
          S("12:03:44 w -> human  failure of rm: no  [r1 re f1]\n") },
        { "w>human mcp/response:tools/list r1 f1 {\"id\":1,\"result\":{\"tools\":[{},{}]}}",
          S("12:03:44 w -> human  result of tools/list: 2 tools  [r1 re f1]\n") },
        { "w>human mcp/response:ping r1 f1 {\"id\":1,\"result\":{\"tools\":1}}",
          S("12:03:44 w -> human  result of ping: {\"tools\":1}  [r1 re f1]\n") },
        { "w>human mcp/response:tools/call:rm r1 f1 {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"unknown\\ntool\"}}",
          S("12:03:44 w -> human  error of rm: unknown ... (4 more bytes) (-32602)  [r1 re f1]\n") },
        { "w>human mcp/response:tools/call:rm r1 f1 {\"id\":1,\"error\":{\"code\":-32001,\"message\":\"m\",\"data\":{\"authorizationRequest\":{\"id\":\"x\"}}}}",
          S("12:03:44 w -> human  asks for authorization of rm  [r1 re f1]\n") },
        { "bot>w mcp/proposal:tools/call:rm " LONG_ID " - {\"method\":\"tools/call\",\"params\":{\"name\":\"rm\",\"arguments\":{\"p\":1}},\"reason\":\"old\"}",
          S("12:03:44 bot -> w  proposes rm {\"p\":1}: old  [" LONG_ID "]\n") },
        { "human mcp/reject d1 p1 {\"reason\":\"too\\u0007 dangerous\"}",
          S("12:03:44 human  rejects: too\\u0007 dangerous  [d1 re p1]\n") },
        { "human mcp/approve d1 p1 {}",
          S("12:03:44 human  approves  [d1 re p1]\n") },
        { "bot mcp/withdraw d1 p1 {}",
          S("12:03:44 bot  withdraws  [d1 re p1]\n") },
        { "bot participant/status s1 - {\"busy\":true}",
          S("12:03:44 bot  participant/status {\"busy\":true}  [s1]\n") },
        { "bot chat c1 - {\"text\":\"a\",\"text\":\"b\"}",
          S("12:03:44 bot  chat {\"text\":\"a\",\"text\":\"b\"}\n") },
        { "system:gateway system/presence s1 - {\"event\":\"join\",\"participant\":{\"id\":\"bob\",\"moot\":{\"type\":\"agent\"}}}",
          S("12:03:44 bob joins (agent)\n") },
        { "system:gateway system/presence s1 - {\"event\":\"batch\",\"participants\":[{\"event\":\"join\",\"id\":\"a\"},{\"event\":\"leave\",\"id\":\"b\",\"moot\":{\"type\":\"human\"}}]}",
          S("12:03:44 a joins, b leaves\n") },
        { "system:gateway system/notice s1 - {\"notice\":\"x\",\"message\":\"Agents talk.\"}",
          S("12:03:44 notice: Agents talk.\n") },
        { "system:gateway system/violation s1 - {\"participant\":\"eve\",\"error\":\"from_mismatch\",\"attempted_kind\":\"chat\"}",
          S("12:03:44 eve was refused chat: from_mismatch\n") },
        { "system:gateway>me system/error s1 x {\"error\":\"paused\",\"message\":\"you are paused\"}",
          S("12:03:44 refused: you are paused\n") },
        { "system:gateway>me system/welcome s1 - {\"you\":{\"id\":\"me\"},\"participants\":[{\"id\":\"a\"}],\"moot\":{\"topic\":\"room\"}}",
          S("12:03:44 you are me in room, with 1 other\n") },
        { "system:gateway>me system/gap s1 - {\"message\":\"…\"}",
          S("12:03:44 some envelopes were missed\n") },
        { "system:gateway system/topic s1 - {\"brake\":\"on\",\"by\":\"ann\"}",
          S("12:03:44 the brake is on, by ann\n") },
        { "system:gateway system/topic s1 - {\"automation\":\"off\",\"by\":\"ann\"}",
          S("12:03:44 automation is off, by ann\n") },
        { "system:gateway system/rule s1 a1 {\"rule\":\"r-1\",\"state\":\"suspended\",\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"write\",\"by\":\"ann\",\"reason\":\"too\\nmuch\"}",
          S("12:03:44 the rule r-1 (bot: write) is suspended, by ann: too ... (4 more bytes)\n") },
        { "system:gateway system/rule s1 a1 {\"rule\":\"r-1\",\"state\":\"active\",\"proposer\":\"bot\",\"method\":\"resources/read\",\"by\":\"ann\"}",
          S("12:03:44 the rule r-1 (bot: resources/read) is active, by ann\n") },
        { "system:gateway system/proposal s1 - {\"proposal\":\"p1\",\"state\":\"open\",\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}",
          S("12:03:44 p1 has 1 of 2 approvals\n") },
        { "system:gateway system/proposal s1 - {\"proposal\":\"p1\",\"state\":\"rejected\",\"by\":\"ann\",\"reason\":\"no\"}",
          S("12:03:44 p1 was rejected by ann: no\n") },
        { "system:gateway system/proposal s1 - {\"proposal\":\"p1\",\"state\":\"expired\"}",
          S("12:03:44 p1 has expired\n") },
        { "ops mcp/request:notifications/authorization/request n1 q1 {\"params\":{\"id\":\"a1\",\"tool\":\"rm\",\"requester\":\"bot\",\"arguments\":{\"f\":1},\"reason\":\"\\u001b\"}}",
          S("12:03:44 ops  asks whether bot may call rm {\"f\":1} (a1): \\u001b  [n1 re q1]\n") },
        { "ann>ops mcp/request:authorization/respond d1 n1 {\"params\":{\"authorizationId\":\"a1\",\"decision\":\"approve\",\"validUntil\":\"2026-11-16T13:00:00Z\",\"reason\":\"go\"}}",
          S("12:03:44 ann -> ops  allows a1, and the same call until 13:00:00: go  [d1 re n1]\n") },
        { "ann>ops mcp/request:authorization/respond d1 n1 {\"params\":{\"authorizationId\":\"a1\",\"decision\":\"deny\"}}",
          S("12:03:44 ann -> ops  denies a1  [d1 re n1]\n") },
        { "ann>ops mcp/request:authorization/respond d1 n1 {\"params\":{\"authorizationId\":\"a1\",\"decision\":\"delegate\",\"delegate\":\"bob\"}}",
          S("12:03:44 ann -> ops  leaves a1 to bob  [d1 re n1]\n") },
        { "system:gateway system/other s1 - {\"a\":1}",
          S("12:03:44 system:gateway  system/other {\"a\":1}  [s1]\n") },
    };
    /* clang-format on */
    struct summary_look look = { .palette = palette_none() };

    set_zone("UTC");
    FOR_EACH_CASE(c, cases)
        check(c->envelope, &look, c->want);
}

/* An envelope of player's, whole. */
static void check_replay(const char *kind, const char *member, struct str want)
{
    static const char payload[] =
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\","
        "\"arguments\":{\"path\":\"a\"}},\"text\":\"hi\"}";
    char text[512];
    struct moot_message m = { .id = LONG_ID, .from = "player", .kind = kind, .ts = TIME };
    struct buf out;

    m.payload = (struct moot_str){ payload, strlen(payload) };
    m.text.ptr = text;
    m.text.len = (size_t)snprintf(
        text, sizeof(text), "{\"kind\":\"%s\",%s,\"payload\":%s}", kind, member, payload);
    buf_init(&out, 1 << 20);
    summary_put(&out, &m, &(struct summary_look){ .palette = palette_none() });
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

TEST(a_replay_says_whose_it_was_and_never_looks_like_the_real_thing)
{
    set_zone("UTC");
    check_replay("replay/mcp/proposal",
                 "\"replay_of\":{\"from\":\"bot\",\"to\":[\"files\",\"bob\"],"
                 "\"kind\":\"mcp/proposal:tools/call:rm\"}",
                 S("12:03:44 player replays bot -> files, bob  proposes rm "
                   "{\"path\":\"a\"}  [0123..efghij-1]\n"));
    check_replay("chat", "\"replay_of\":{\"from\":\"al\\u001bice\"}",
                 S("12:03:44 player replays al\\u001bice  hi\n"));
    /* Only what nobody executes may call itself one. */
    check_replay("mcp/proposal:tools/call:rm", "\"replay_of\":{\"from\":\"bot\"}",
                 S("12:03:44 player  proposes rm {\"path\":\"a\"}  [" LONG_ID "]\n"));
    check_replay(
        "replay/mcp/reject", "\"replay_of\":\"bot\"",
        S("12:03:44 player  replay/mcp/reject {\"method\":\"tools/call\",\"params\":"
          "{\"name\":\"rm\",\"arguments\":{\"path\":\"a\"}},\"text\":\"hi\"}  "
          "[0123..efghij-1]\n"));
}

TEST(on_a_terminal_a_chat_keeps_its_lines_behind_a_mark_of_ours)
{
    struct summary_look look = { .palette = palette_none(), .has_lines = true };

    set_zone("UTC");
    check("a chat c1 - {\"text\":\"one\\n12:00:00 eve  two\\r\\n\\n\\tthree\"}", &look,
          S("12:03:44 a  one\n         | 12:00:00 eve  two\n         | \n"
            "         | \\tthree\n"));
    check("a chat c1 - {\"text\":\"\"}", &look, S("12:03:44 a  \n"));
}

TEST(colours_end_where_they_began_and_foreign_ones_are_not_obeyed)
{
    struct summary_look look = { .palette = palette_ansi() };
    struct buf out;
    bool is_on = false;

    buf_init(&out, 4096);
    summarise(
        "bot>w mcp/proposal:tools/call:rm p1 - {\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"rm\"},\"reason\":\"\\u001b[31mred\"}",
        &look, &out);
    for (size_t i = 0; i < out.len; i++)
        if (out.ptr[i] == '\033')
            is_on = !str_starts(str_slice(buf_str(&out), i, out.len), S("\033[0m"));
    CHECK(!is_on);
    CHECK(memmem(out.ptr, out.len, "\\u001b[31mred", 13));
    CHECK(memmem(out.ptr, out.len, "\033[33mproposes\033[0m", 17));
    buf_done(&out);
}

TEST(long_texts_are_cut_between_characters_and_say_so)
{
    struct summary_look look = { .palette = palette_none() };
    struct buf line, want;

    buf_init(&line, 1 << 20);
    buf_init(&want, 1 << 20);
    buf_put(&line, S("a chat c1 - {\"text\":\""));
    buf_put(&want, S("12:03:44 a  "));
    for (size_t i = 0; i < SUMMARY_TEXT; i++)
        buf_put(&line, S("\xe2\x82\xac"));
    for (size_t i = 0; i < SUMMARY_TEXT / 3; i++)
        buf_put(&want, S("\xe2\x82\xac"));
    buf_put(&line, S("\"}"));
    buf_putf(&want, "... (%d more bytes)\n", SUMMARY_TEXT * 3 - SUMMARY_TEXT / 3 * 3);
    set_zone("UTC");
    check(buf_cstr(&line), &look, buf_str(&want));
    buf_done(&line);
    buf_done(&want);
}

TEST(times_are_those_of_the_reader_and_not_what_a_sender_says_now)
{
    struct summary_look now = { .palette = palette_none(), .now_ms = 3'661'000 };
    struct summary_look ts = { .palette = palette_none() };
    struct moot_message m = { .id = "c1",
                              .from = "a",
                              .kind = "chat",
                              .ts = TIME,
                              .payload = { "{\"text\":\"x\"}", 12 } };
    struct buf out;

    set_zone("XYZ-2");
    buf_init(&out, 256);
    summary_put(&out, &m, &ts);
    summary_put(&out, &m, &now);
    m.is_replay = true;
    summary_put(&out, &m, &now);
    m.ts = NULL;
    summary_put(&out, &m, &now);
    CHECK_STR(buf_str(&out), S("14:03:44 a  x\n03:01:01 a  x\n14:03:44 a  x\n"
                               "--:--:-- a  x\n"));
    buf_done(&out);
}
