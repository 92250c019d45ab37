/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "tui/command.h"

TEST(a_line_is_a_chat_or_a_command)
{
    /* clang-format off */
    static const struct {
        struct str line;
        enum command_type type;
        struct str first, second, text, arguments;
    } cases[] = {
        { S("hello /you"),      COMMAND_CHAT, S(""), S(""), S("hello /you"), S("") },
        { S("//usr/bin"),       COMMAND_CHAT, S(""), S(""), S("/usr/bin"), S("") },
        { S("/help"),           COMMAND_HELP, S(""), S(""), S(""), S("") },
        { S("/quit  "),         COMMAND_QUIT, S(""), S(""), S(""), S("") },
        { S("/who"),            COMMAND_WHO,  S(""), S(""), S(""), S("") },
        { S("/who @files"),     COMMAND_WHO,  S("files"), S(""), S(""), S("") },
        { S("/who \"@files\""), COMMAND_WHO,  S("@files"), S(""), S(""), S("") },
        { S("/who \"a \\u0062\""), COMMAND_WHO, S("a b"), S(""), S(""), S("") },
        { S("/raw 17"),         COMMAND_RAW,  S("17"), S(""), S(""), S("") },
        { S("/approve  17 "),   COMMAND_APPROVE, S("17"), S(""), S(""), S("") },
        { S("/reject 17"),      COMMAND_REJECT, S("17"), S(""), S(""), S("") },
        { S("/reject 17  not on  a Friday "), COMMAND_REJECT, S("17"), S(""), S("not on  a Friday"), S("") },
        { S("/call files ls"),  COMMAND_CALL, S("files"), S("ls"), S(""), S("") },
        { S("/call @files ls a=1 b=x c=true d=null e=-1.5e3 f="), COMMAND_CALL, S("files"), S("ls"), S(""),
          S("{\"a\":1,\"b\":\"x\",\"c\":true,\"d\":null,\"e\":-1.5e3,\"f\":\"\"}") },
        { S("/call files ls a=01 b=1x c={\"x\": [1, 2]} d=\"two words\" e=[]"), COMMAND_CALL, S("files"), S("ls"), S(""),
          S("{\"a\":\"01\",\"b\":\"1x\",\"c\":{\"x\": [1, 2]},\"d\":\"two words\",\"e\":[]}") },
        { S("/call files ls  {\"a\": 1} "), COMMAND_CALL, S("files"), S("ls"), S(""), S("{\"a\": 1}") },
        { S("/call files ls a=b=c"), COMMAND_CALL, S("files"), S("ls"), S(""), S("{\"a\":\"b=c\"}") },
        { S("/propose files rm path=/tmp -- it is full"), COMMAND_PROPOSE, S("files"), S("rm"), S("it is full"),
          S("{\"path\":\"/tmp\"}") },
        { S("/propose files rm -- it is full"), COMMAND_PROPOSE, S("files"), S("rm"), S("it is full"), S("") },
        { S("/propose files rm {} --"), COMMAND_PROPOSE, S("files"), S("rm"), S(""), S("{}") },
        { S("/propose files rm {\"a\":\"x -- y\"} -- z"), COMMAND_PROPOSE, S("files"), S("rm"), S("z"),
          S("{\"a\":\"x -- y\"}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct command got = {};
        const char *why = "";
        struct arena arena;

        arena_init(&arena, 1 << 20);
        CHECK_INT(command_parse(c->line, &arena, &got, &why), OK);
        CHECK_INT(got.type, c->type);
        CHECK_STR(got.words[0], c->first);
        CHECK_STR(got.words[1], c->second);
        CHECK_STR(got.text, c->text);
        CHECK_STR(got.arguments, c->arguments);
        arena_done(&arena);
    }
}

TEST(a_command_that_cannot_be_meant_is_refused_with_a_reason)
{
    static const struct {
        struct str line, why;
    } cases[] = {
        { S("/"), S("there is no such command; /help lists them") },
        { S("/nonsense x"), S("there is no such command; /help lists them") },
        { S("/ quit"), S("there is no such command; /help lists them") },
        { S("/QUIT"), S("there is no such command; /help lists them") },
        { S("/approve"), S("/approve N") },
        { S("/approve \"17"), S("/approve N") },
        { S("/approve \"17\"x"), S("/approve N") },
        { S("/approve 17 18"), S("that is more than this command takes") },
        { S("/quit now"), S("that is more than this command takes") },
        { S("/call files"), S("/call WHO TOOL [NAME=VALUE … | {JSON}]") },
        { S("/call files ls path"), S("arguments are NAME=VALUE, or one JSON object") },
        { S("/call files ls =x"), S("arguments are NAME=VALUE, or one JSON object") },
        { S("/call files ls a={"), S("arguments are NAME=VALUE, or one JSON object") },
        { S("/call files ls a=\"x\"y"),
          S("arguments are NAME=VALUE, or one JSON object") },
        { S("/call files ls {\"a\":1} b=2"),
          S("arguments are NAME=VALUE, or one JSON object") },
        { S("/call files ls [1]"), S("arguments are NAME=VALUE, or one JSON object") },
        { S("/call files ls a=1 a=2"), S("the arguments name something twice") },
        { S("/call files ls {\"a\":1,\"a\":2}"),
          S("the arguments name something twice") },
        { S("/call files ls a=1 -- why"), S("that is more than this command takes") },
    };

    FOR_EACH_CASE(c, cases) {
        struct command got = { .text = S("untouched") };
        const char *why = "";
        struct arena arena;

        arena_init(&arena, 1 << 20);
        CHECK_INT(command_parse(c->line, &arena, &got, &why), ERR_INVALID);
        CHECK_STR(str_of(why), c->why);
        CHECK_STR(got.text, S("untouched"));
        arena_done(&arena);
    }
}

TEST(a_word_that_was_written_is_read_again)
{
    static const struct {
        struct str word, written;
    } cases[] = {
        { S("files"), S("files") },
        { S("two words"), S("\"two words\"") },
        { S("@files"), S("\"@files\"") },
        { S("\"q\""), S("\"\\\"q\\\"\"") },
        { S("日本"), S("日本") },
        { S("a\nb"), S("\"a\\nb\"") },
        { S(""), S("\"\"") },
    };

    FOR_EACH_CASE(c, cases) {
        struct str word = {};
        struct arena arena;
        struct str rest;
        struct buf out;

        arena_init(&arena, 4096);
        buf_init(&out, 4096);
        command_put_word(&out, c->word);
        CHECK_STR(buf_str(&out), c->written);
        rest = buf_str(&out);
        CHECK_INT(command_take_word(&rest, &arena, &word), OK);
        CHECK_STR(word, c->word);
        CHECK_INT(rest.len, 0);
        buf_done(&out);
        arena_done(&arena);
    }
}
