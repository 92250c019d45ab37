/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/orchestrate_tools.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "json/json.h"
#include "orchestrate/orchestrator.h"

enum { ANSWER_BYTES = 8 << 20, WHY_BYTES = 4096, ID_BYTES = 256 };

/* --- answers --- */

static struct str raw_of(const struct moot_json *json)
{
    struct moot_str raw = json ? moot_raw(json) : (struct moot_str){};

    return (struct str){ raw.ptr, raw.len };
}

/* The same as a text, for those who read no structures. */
static void reply(struct moot_call *call, struct str json)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, 8 * (size_t)ANSWER_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("content"));
    json_array_open(&w);
    json_object_open(&w);
    json_put_str(&w, S("type"), S("text"));
    json_put_str(&w, S("text"), json);
    json_object_close(&w);
    json_array_close(&w);
    json_key(&w, S("structuredContent"));
    json_raw(&w, json);
    json_object_close(&w);
    (void)moot_reply_json(call, buf_cstr(&out));
}

static void finish(struct moot_call *call, enum err err, struct buf *json,
                   struct buf *why)
{
    if (err || json->is_full)
        (void)moot_reply_failure(call, err ? buf_cstr(why) : "there is too much of it");
    else
        reply(call, buf_str(json));
    buf_done(json);
    buf_done(why);
}

/* --- the tools --- */

static void add_rule(struct moot *m [[maybe_unused]], void *user, struct moot_call *call)
{
    struct orchestrate_desk *desk = user;
    struct buf json, why;
    enum err err;

    buf_init(&json, ANSWER_BYTES);
    buf_init(&why, WHY_BYTES);
    err = orchestrator_add_rule(desk->orchestrator,
                                raw_of(moot_call_argument(call, "rule")),
                                str_of(moot_call_from(call)), clock_wall_ms(),
                                &(struct tool_answer){ &json, &why });
    finish(call, err, &json, &why);
    desk->on_asked(desk->user);
}

static void list_rules(struct moot *m [[maybe_unused]], void *user,
                       struct moot_call *call)
{
    struct orchestrate_desk *desk = user;
    const struct moot_json *state = moot_call_argument(call, "state");
    struct buf json, why;
    enum err err;

    buf_init(&json, ANSWER_BYTES);
    buf_init(&why, WHY_BYTES);
    err = orchestrator_list_rules(desk->orchestrator,
                                  str_of(state ? moot_text(state) : NULL),
                                  &(struct tool_answer){ &json, &why });
    finish(call, err, &json, &why);
}

static void get_stats(struct moot *m [[maybe_unused]], void *user, struct moot_call *call)
{
    struct orchestrate_desk *desk = user;
    struct buf json, why;

    buf_init(&json, ANSWER_BYTES);
    buf_init(&why, WHY_BYTES);
    orchestrator_stats(desk->orchestrator, clock_wall_ms(), &json);
    finish(call, OK, &json, &why);
}

/* "ann asks that rule r-1 be removed: it is too wide" */
static void put_request(struct buf *out, struct str asker, struct str id,
                        struct str reason)
{
    plain_put(out, asker, PLAIN_LINE);
    buf_put(out, S(" asks that rule "));
    plain_put(out, id, PLAIN_LINE);
    buf_put(out, S(" be removed"));
    if (reason.len)
        buf_put(out, S(": "));
    plain_put(out, reason, PLAIN_LINE);
}

static enum moot_err disable(struct moot *m, struct str id, struct str request)
{
    CLEANUP(buf_done) struct buf payload;
    struct json_writer w;

    buf_init(&payload, ANSWER_BYTES);
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_str(&w, S("rule"), id);
    json_put_str(&w, S("reason"), request);
    json_object_close(&w);
    return moot_send(
        m,
        &(struct moot_envelope){ .kind = "rule/disable", .payload = buf_cstr(&payload) },
        NULL);
}

/* Whoever may take a rule away does it; else people are asked. */
static enum moot_err ask_removal(struct moot *m, const struct orchestrate_desk *desk,
                                 struct str id, struct buf *request, const char **ret_how)
{
    bool may = moot_may(m, "rule/disable", "{}");

    *ret_how = may ? "disabled" : "asked";
    if (desk->is_dry)
        return MOOT_OK;
    return may ? disable(m, id, buf_str(request)) : moot_chat(m, buf_cstr(request));
}

static void remove_rule(struct moot *m, void *user, struct moot_call *call)
{
    struct orchestrate_desk *desk = user;
    const struct moot_json *named = moot_call_argument(call, "rule");
    const struct moot_json *said = moot_call_argument(call, "reason");
    struct str id = str_of(named ? moot_text(named) : NULL);
    struct str reason = str_of(said ? moot_text(said) : NULL);
    CLEANUP(buf_done) struct buf request;
    struct buf json, why;
    struct json_writer w;
    const char *how = "";
    enum err err = OK;

    buf_init(&request, WHY_BYTES);
    buf_init(&json, ANSWER_BYTES);
    buf_init(&why, WHY_BYTES);
    put_request(&request, str_of(moot_call_from(call)), str_slice(id, 0, ID_BYTES),
                str_slice(reason, 0, 4 * (size_t)ID_BYTES));
    if (!orchestrator_find_rule(desk->orchestrator, id)) {
        buf_put(&why, S("there is no rule of this id; list_rules tells which there are"));
        err = ERR_NOT_FOUND;
    } else if (ask_removal(m, desk, id, &request, &how)) {
        buf_put(&why, S("it cannot be said in the room now"));
        err = ERR_UNAVAILABLE;
    }
    json_write_init(&w, &json);
    json_object_open(&w);
    json_put_str(&w, S("rule"), id);
    json_put_str(&w, S("done"), str_of(how));
    json_object_close(&w);
    finish(call, err, &json, &why);
}

/* --- what they are --- */

/* clang-format off */
#define SHADOW \
    "\"shadow\":{\"type\":\"object\",\"properties\":{\"would\":{\"type\":\"integer\"}," \
    "\"agreed\":{\"type\":\"integer\"},\"disagreed\":{\"type\":\"integer\"}}," \
    "\"required\":[\"would\",\"agreed\",\"disagreed\"]}"

static const struct moot_tool tools[] = {
    {
        .name = "add_rule",
        .title = "Suggest a rule",
        .description = "Suggests a rule: which proposals of one participant people agree to in advance. "
                       "It does nothing until a person accepts it (moot rules accept).",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"rule\":{\"type\":\"object\",\"description\":"
                        "\"as in a file of rules: proposer, method, tool, to, arguments, budget, expires_at\","
                        "\"properties\":{\"proposer\":{\"type\":\"string\"},\"method\":{\"type\":\"string\"},"
                        "\"tool\":{\"type\":\"string\"},\"to\":{\"type\":\"string\"},\"arguments\":{\"type\":\"object\"},"
                        "\"budget\":{\"type\":\"integer\"},\"expires_at\":{\"type\":\"string\"}},"
                        "\"required\":[\"proposer\",\"method\",\"to\",\"arguments\"]}},"
                        "\"required\":[\"rule\"],\"additionalProperties\":false}",
        .output_schema = "{\"type\":\"object\",\"properties\":{\"rule\":{\"type\":\"string\"},"
                         "\"state\":{\"type\":\"string\"}},\"required\":[\"rule\",\"state\"]}",
        .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":false,\"openWorldHint\":false}",
        .call = add_rule,
    },
    {
        .name = "list_rules",
        .title = "List the rules",
        .description = "The rules of this topic, with their state, evidence and uses.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"state\":{\"type\":\"string\",\"enum\":"
                        "[\"suggested\",\"shadow\",\"active\",\"suspended\",\"disabled\",\"declined\"]}},"
                        "\"additionalProperties\":false}",
        .output_schema = "{\"type\":\"object\",\"properties\":{\"automation\":{\"type\":\"string\"},"
                         "\"rules\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
                         "\"id\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},\"uses\":{\"type\":\"integer\"},"
                         SHADOW "},\"required\":[\"id\",\"state\",\"uses\",\"shadow\"]}}},"
                         "\"required\":[\"automation\",\"rules\"]}",
        .annotations = "{\"readOnlyHint\":true,\"openWorldHint\":false}",
        .call = list_rules,
    },
    {
        .name = "remove_rule",
        .title = "Ask for a rule to be removed",
        .description = "Disables a rule where the orchestrator may do that; otherwise asks the people in the room to.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"rule\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"}},"
                        "\"required\":[\"rule\"],\"additionalProperties\":false}",
        .output_schema = "{\"type\":\"object\",\"properties\":{\"rule\":{\"type\":\"string\"},\"done\":{\"type\":\"string\","
                         "\"enum\":[\"disabled\",\"asked\"]}},\"required\":[\"rule\",\"done\"]}",
        .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":false,\"openWorldHint\":false}",
        .call = remove_rule,
    },
    {
        .name = "get_stats",
        .title = "What was learned",
        .description = "How many decisions of people were learned from, and of each rule its uses, its bound and "
                       "how far it agreed with people while in shadow.",
        .input_schema = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
        .output_schema = "{\"type\":\"object\",\"properties\":{\"topic\":{\"type\":\"string\"},\"automation\":{\"type\":\"string\"},"
                         "\"learned\":{\"type\":\"object\",\"properties\":{\"approved\":{\"type\":\"integer\"},"
                         "\"rejected\":{\"type\":\"integer\"},\"groups\":{\"type\":\"integer\"},\"is_full\":{\"type\":\"boolean\"}}},"
                         "\"needs\":{\"type\":\"object\"},\"open\":{\"type\":\"integer\"},\"suggested\":{\"type\":\"integer\"},"
                         "\"rules\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"rule\":{\"type\":\"string\"},"
                         "\"state\":{\"type\":\"string\"},\"uses\":{\"type\":\"integer\"},\"uses_seen\":{\"type\":\"integer\"},"
                         "\"expired\":{\"type\":\"boolean\"},\"resting\":{\"type\":\"boolean\"},\"bound\":{\"type\":\"number\"},"
                         SHADOW "}}}},\"required\":[\"topic\",\"automation\",\"learned\",\"rules\"]}",
        .annotations = "{\"readOnlyHint\":true,\"openWorldHint\":false}",
        .call = get_stats,
    },
};
/* clang-format on */

enum moot_err orchestrate_tools_add(struct moot *m, struct orchestrate_desk *desk)
{
    enum moot_err err = MOOT_OK;

    for (size_t i = 0; i < COUNT(tools) && !err; i++) {
        struct moot_tool tool = tools[i];

        tool.user = desk;
        err = moot_add_tool(m, &tool);
    }
    return err;
}
