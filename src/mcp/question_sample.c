/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling: messages that a model is to go on with, and what it said (MCP 2025-11-25,
 * client/sampling). What an assistant wants of tools is answered in the very next
 * message, all of it and nothing else (SAMP-03).
 */
#include "base/cleanup.h"
#include "mcp/question_priv.h"

/* Who may say it: bits. */
enum { OF_USER = 1, OF_ASSISTANT = 2, OF_TOOL = 4 };

static bool tool_result_fits(struct check *c, const struct json *block);
static bool is_anything(struct check *c, const struct json *block);

static const struct member_rule text_rules[] = { { S("text"), SHAPE_TEXT, true } };
static const struct member_rule media_rules[] = {
    { S("data"), SHAPE_TEXT, true },
    { S("mimeType"), SHAPE_TEXT, true },
};
static const struct member_rule use_rules[] = {
    { S("id"), SHAPE_TEXT, true },
    { S("name"), SHAPE_TEXT, true },
    { S("input"), SHAPE_OBJECT, true },
};
static const struct member_rule result_rules[] = {
    { S("toolUseId"), SHAPE_TEXT, true },
    { S("content"), SHAPE_LIST, true },
    { S("structuredContent"), SHAPE_OBJECT, false },
    { S("isError"), SHAPE_BOOL, false },
};
static const struct member_rule link_rules[] = {
    { S("uri"), SHAPE_TEXT, true },
    { S("name"), SHAPE_TEXT, true },
};
static const struct member_rule resource_rules[] = {
    { S("resource"), SHAPE_OBJECT, true },
};

/* clang-format off */
static const struct block_kind {
    struct str type;
    int of;
    const struct member_rule *rules;
    size_t rule_count;
    bool (*fits)(struct check *c, const struct json *block);
} block_kinds[] = {
    { S("text"),          OF_USER | OF_ASSISTANT | OF_TOOL, text_rules,     COUNT(text_rules),     is_anything },
    { S("image"),         OF_USER | OF_ASSISTANT | OF_TOOL, media_rules,    COUNT(media_rules),    is_anything },
    { S("audio"),         OF_USER | OF_ASSISTANT | OF_TOOL, media_rules,    COUNT(media_rules),    is_anything },
    { S("tool_use"),      OF_ASSISTANT,                     use_rules,      COUNT(use_rules),      is_anything },
    { S("tool_result"),   OF_USER,                          result_rules,   COUNT(result_rules),   tool_result_fits },
    { S("resource_link"), OF_TOOL,                          link_rules,     COUNT(link_rules),     is_anything },
    { S("resource"),      OF_TOOL,                          resource_rules, COUNT(resource_rules), is_anything },
};
/* clang-format on */

static bool is_anything(struct check *, const struct json *)
{
    return true;
}

static struct str type_of(const struct json *block)
{
    return json_text(json_find(block, S("type")));
}

static bool block_fits(struct check *c, const struct json *block, int of)
{
    for (size_t i = 0; i < COUNT(block_kinds); i++) {
        const struct block_kind *kind = &block_kinds[i];

        if (!str_eq(type_of(block), kind->type))
            continue;
        if (!(kind->of & of))
            return check_fails(c, "a " STR_FMT " has no place here", STR_ARG(kind->type));
        return members_fit(c, block, kind->rules, kind->rule_count) &&
               kind->fits(c, block);
    }
    return check_fails(c, "content is of no type that is known");
}

static bool tool_result_fits(struct check *c, const struct json *block)
{
    JSON_FOREACH(item, json_find(block, S("content")))
        if (!block_fits(c, item, OF_TOOL))
            return false;
    return true;
}

/* --- one message --- */

/* Content is one block, or a list of them. */
static const struct json *first_block(const struct json *content)
{
    return content->type == JSON_ARRAY ? content->first : content;
}

static const struct json *next_block(const struct json *content, const struct json *block)
{
    return content->type == JSON_ARRAY ? block->next : NULL;
}

#define FOREACH_BLOCK(var, content)                          \
    for (const struct json *var = first_block(content); var; \
         var = next_block(content, var))

static size_t count_of(const struct json *content, struct str type)
{
    size_t count = 0;

    FOREACH_BLOCK(block, content)
    count += str_eq(type_of(block), type);
    return count;
}

static bool content_fits(struct check *c, const struct json *content, int of)
{
    if (content->type != JSON_ARRAY && content->type != JSON_OBJECT)
        return check_fails(c, "content is neither an object nor a list");
    FOREACH_BLOCK(block, content)
    if (!block_fits(c, block, of))
        return false;
    return true;
}

static int role_of(const struct json *message)
{
    struct str role = json_text(json_find(message, S("role")));

    if (str_eq(role, S("user")))
        return OF_USER;
    return str_eq(role, S("assistant")) ? OF_ASSISTANT : 0;
}

static bool message_fits(struct check *c, const struct json *message)
{
    const struct json *content = json_find(message, S("content"));
    int role = role_of(message);

    if (!role)
        return check_fails(c, "role is neither user nor assistant");
    if (!content)
        return check_fails(c, "content is missing");
    return content_fits(c, content, role);
}

/* --- one after the other --- */

static const struct json *use_named(const struct json *content, struct str id)
{
    FOREACH_BLOCK(block, content)
    if (str_eq(type_of(block), S("tool_use")) &&
        str_eq(json_text(json_find(block, S("id"))), id))
        return block;
    return NULL;
}

static bool is_answered(const struct json *results, struct str id)
{
    size_t count = 0;

    FOREACH_BLOCK(block, results)
    count += str_eq(json_text(json_find(block, S("toolUseId"))), id);
    return count == 1;
}

/* `asked`: the content of the message before, NULL where there is none. */
static bool results_fit(struct check *c, const struct json *content,
                        const struct json *asked)
{
    size_t uses = asked ? count_of(asked, S("tool_use")) : 0;
    size_t results = count_of(content, S("tool_result"));

    if (!results)
        return !uses || check_fails(c, "a tool_use before it has no tool_result here");
    FOREACH_BLOCK(block, content)
    if (!str_eq(type_of(block), S("tool_result")))
        return check_fails(c, "a tool_result stands beside something else");
    if (!uses)
        return check_fails(c, "a tool_result answers no tool_use before it");
    FOREACH_BLOCK(block, asked)
    if (str_eq(type_of(block), S("tool_use")) &&
        !is_answered(content, json_text(json_find(block, S("id")))))
        return check_fails(c, "a tool_use before it has not one tool_result here");
    FOREACH_BLOCK(block, content)
    if (!use_named(asked, json_text(json_find(block, S("toolUseId")))))
        return check_fails(c, "a tool_result answers no tool_use before it");
    return true;
}

static bool messages_fit(struct check *c, const struct json *messages)
{
    const struct json *asked = NULL;

    c->list = "messages";
    c->index = 0;
    JSON_FOREACH(message, messages) {
        const struct json *content = json_find(message, S("content"));

        if (!message_fits(c, message) || !results_fit(c, content, asked))
            return false;
        asked = role_of(message) == OF_ASSISTANT ? content : NULL;
        c->index++;
    }
    c->list = NULL;
    if (asked && count_of(asked, S("tool_use")))
        return check_fails(c, "messages end with a tool_use that has no tool_result");
    return true;
}

/* --- the rest --- */

static bool preferences_fit(struct check *c, const struct json *preferences)
{
    static const struct member_rule rules[] = {
        { S("hints"), SHAPE_LIST, false },
        { S("costPriority"), SHAPE_SHARE, false },
        { S("speedPriority"), SHAPE_SHARE, false },
        { S("intelligencePriority"), SHAPE_SHARE, false },
    };
    const struct json *hints = json_find(preferences, S("hints"));

    if (!preferences)
        return true;
    if (!MEMBERS_FIT(c, preferences, rules))
        return false;
    if (hints)
        JSON_FOREACH(hint, hints)
            if (hint->type != JSON_OBJECT)
                return check_fails(c, "a hint is not an object");
    return true;
}

static bool tools_fit(struct check *c, const struct json *tools)
{
    static const struct member_rule rules[] = {
        { S("name"), SHAPE_TEXT, true },
        { S("inputSchema"), SHAPE_OBJECT, true },
    };

    if (!tools)
        return true;
    c->list = "tools";
    c->index = 0;
    JSON_FOREACH(tool, tools) {
        if (tool->type != JSON_OBJECT)
            return check_fails(c, "it is not an object");
        if (!MEMBERS_FIT(c, tool, rules))
            return false;
        c->index++;
    }
    c->list = NULL;
    return true;
}

static bool choice_fits(struct check *c, const struct json *choice)
{
    static const struct str modes[] = { S("auto"), S("required"), S("none") };
    const struct json *mode = json_find(choice, S("mode"));

    return !mode || text_is_among(json_text(mode), modes, COUNT(modes)) ||
           check_fails(c, "toolChoice.mode is none of auto, required, none");
}

static bool context_fits(struct check *c, const struct json *context)
{
    static const struct str known[] = { S("none"), S("thisServer"), S("allServers") };

    return !context || text_is_among(context->text, known, COUNT(known)) ||
           check_fails(c, "includeContext is none of none, thisServer, allServers");
}

bool sample_fits(struct check *c, const struct json *params)
{
    static const struct member_rule rules[] = {
        { S("messages"), SHAPE_LIST, true },
        { S("maxTokens"), SHAPE_COUNT, true },
        { S("modelPreferences"), SHAPE_OBJECT, false },
        { S("systemPrompt"), SHAPE_TEXT, false },
        { S("includeContext"), SHAPE_TEXT, false },
        { S("temperature"), SHAPE_NUMBER, false },
        { S("stopSequences"), SHAPE_TEXTS, false },
        { S("metadata"), SHAPE_OBJECT, false },
        { S("tools"), SHAPE_LIST, false },
        { S("toolChoice"), SHAPE_OBJECT, false },
    };

    return MEMBERS_FIT(c, params, rules) &&
           messages_fit(c, json_find(params, S("messages"))) &&
           preferences_fit(c, json_find(params, S("modelPreferences"))) &&
           tools_fit(c, json_find(params, S("tools"))) &&
           choice_fits(c, json_find(params, S("toolChoice"))) &&
           context_fits(c, json_find(params, S("includeContext")));
}

bool sample_answer_fits(struct check *c, const struct json *params,
                        const struct json *result)
{
    static const struct member_rule rules[] = {
        { S("model"), SHAPE_TEXT, true },
        { S("stopReason"), SHAPE_TEXT, false },
    };
    const struct json *content = json_find(result, S("content"));

    if (!message_fits(c, result) || !MEMBERS_FIT(c, result, rules))
        return false;
    if (count_of(content, S("tool_result")))
        return check_fails(c, "a tool_result has no place here");
    return !count_of(content, S("tool_use")) || json_find(params, S("tools")) ||
           check_fails(c, "a tool_use, where no tools were offered");
}
