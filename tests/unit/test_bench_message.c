/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/arena.h"
#include "bench/message.h"
#include "harness.h"
#include "json/json.h"

static const struct stamp stamp = {
    .run = 0x89abcdef, .client = 17, .seq = UINT32_MAX, .sent_ns = 0x0123456789abcdef
};

static struct str member(const struct json *root, struct str key)
{
    const struct json *found = json_find(root, key);

    return found ? found->text : (struct str){};
}

TEST(a_stamp_is_found_again_in_any_kind_of_message)
{
    static const enum message_kind kinds[] = { MESSAGE_CHAT, MESSAGE_REQUEST,
                                               MESSAGE_RESPONSE };

    FOR_EACH_CASE(kind, kinds) {
        struct message message;
        struct stamp found = {};
        struct str text;

        CHECK_INT(message_init(&message, *kind, MESSAGE_SLASH, S("a"), S("b"), 400), OK);
        text = message_stamp(&message, &stamp, &stamp);
        CHECK_INT(text.len, 400);
        CHECK(stamp_find(text, stamp.run, &found));
        CHECK_INT(found.client, stamp.client);
        CHECK_INT(found.seq, stamp.seq);
        CHECK_INT(found.sent_ns, stamp.sent_ns);
        CHECK(!stamp_find(text, stamp.run + 1, &found));
        message_done(&message);
    }
}

TEST(a_message_is_json_whatever_its_sender_is_called)
{
    struct message message;
    const struct json *root = NULL;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    CHECK_INT(message_init(&message, MESSAGE_CHAT, MESSAGE_SLASH, S("a\"b\\c"), S(""), 0),
              OK);
    CHECK_INT(json_parse(message_stamp(&message, &stamp, NULL), &arena, &root, NULL), OK);
    CHECK_STR(member(root, S("from")), S("a\"b\\c"));
    CHECK_STR(member(root, S("kind")), S("chat"));
    message_done(&message);
    arena_done(&arena);
}

TEST(a_message_is_spelt_as_its_sender_speaks)
{
    static const struct {
        enum message_kind kind;
        enum message_dialect dialect;
        struct str protocol, spelt;
    } cases[] = {
        { MESSAGE_CHAT, MESSAGE_SLASH, S("mcpx/v0.1"), S("chat") },
        { MESSAGE_CHAT, MESSAGE_DOTTED, S("mcpx/draft"), S("chat.message") },
        { MESSAGE_REQUEST, MESSAGE_DOTTED, S("mcpx/draft"), S("mcp.request.tools/call") },
        { MESSAGE_RESPONSE, MESSAGE_DOTTED, S("mcpx/draft"),
          S("mcp.response.tools/call") },
    };

    FOR_EACH_CASE(c, cases) {
        const struct json *root = NULL;
        struct message message;
        struct arena arena;

        arena_init(&arena, 1 << 20);
        CHECK_INT(message_init(&message, c->kind, c->dialect, S("a"), S("b"), 300), OK);
        CHECK_INT(
            json_parse(message_stamp(&message, &stamp, &stamp), &arena, &root, NULL), OK);
        CHECK_STR(member(root, S("protocol")), c->protocol);
        CHECK_STR(member(root, S("kind")), c->spelt);
        message_done(&message);
        arena_done(&arena);
    }
}

TEST(a_response_names_the_request_it_answers)
{
    struct message request;
    struct message response;
    const struct json *asked = NULL;
    const struct json *told = NULL;
    struct stamp cause = stamp;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    cause.client = 3;
    CHECK_INT(message_init(&request, MESSAGE_REQUEST, MESSAGE_SLASH, S("a"), S("b"), 300),
              OK);
    CHECK_INT(
        message_init(&response, MESSAGE_RESPONSE, MESSAGE_SLASH, S("b"), S("a"), 300),
        OK);
    CHECK_INT(json_parse(message_stamp(&request, &cause, NULL), &arena, &asked, NULL),
              OK);
    CHECK_INT(json_parse(message_stamp(&response, &stamp, &cause), &arena, &told, NULL),
              OK);
    CHECK_STR(member(told, S("correlation_id")), member(asked, S("id")));
    message_done(&request);
    message_done(&response);
    arena_done(&arena);
}

TEST(texts_of_others_have_no_stamp)
{
    static const struct str texts[] = {
        S(""),
        S("@"),
        S("@@"),
        S("{}"),
        S("{\"kind\":\"system/presence\"}"),
        S("@AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@"),
    };
    struct stamp found;

    FOR_EACH_CASE(text, texts)
        CHECK(!stamp_find(*text, 0x89abcdef, &found));
}
