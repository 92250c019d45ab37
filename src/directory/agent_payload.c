/* SPDX-License-Identifier: Apache-2.0 */
/* What the messages of agents say: a table of fields for each payload, then what a table
 * cannot say. */
#include "base/cleanup.h"
#include "directory/agent_message.h"
#include "directory/resource.h"
#include "envelope/envelope.h"

enum { SHOWN_KEY = 64, FIELD = 512 };

/* One payload while it is read. */
struct inner {
    struct arena *arena;
    struct agent_problem *problem;
    const char *path; /* "payload", "payload.filters" */
};

static enum err bad(const struct inner *in, struct str name, size_t item,
                    const char *what)
{
    struct buf field;

    buf_init(&field, FIELD + SHOWN_KEY);
    buf_put(&field, str_of(in->path));
    if (name.len) {
        buf_putc(&field, '.');
        buf_put(&field, str_slice(name, 0, SHOWN_KEY));
    }
    if (item)
        buf_putf(&field, "[%zu]", item - 1);
    *in->problem = (struct agent_problem){ S("INVALID_PAYLOAD"),
                                           arena_str(in->arena, buf_str(&field)),
                                           {} };
    buf_putf(&field, " %s.", what);
    in->problem->what = arena_str(in->arena, buf_str(&field));
    buf_done(&field);
    return ERR_INVALID;
}

static enum err read_object(const struct inner *in, const struct json *object,
                            const struct json_field *fields, size_t count, void *ret)
{
    struct json_problem problem = {};
    enum err err = json_read(object, fields, count, in->arena, ret, &problem);

    return err ? bad(in, problem.field, 0, problem.what) : OK;
}

static enum err open_payload(const struct inner *in, const struct agent_message *message,
                             const struct json **ret)
{
    struct json_problem problem = {};

    if (message->payload.len > AGENT_PAYLOAD)
        return bad(in, S(""), 0, "is larger than 64 KiB");
    switch (json_parse(message->payload, in->arena, ret, &problem)) {
    case OK: return OK;
    case ERR_TOO_BIG: return bad(in, S(""), 0, "has too many parts");
    default: return bad(in, S(""), 0, problem.what ? problem.what : "is malformed");
    }
}

/* `what` for a text of 1 to max bytes; 0: it may be empty. */
static const char *text_fault(struct str text, size_t max)
{
    if (text.len > max)
        return max == AGENT_QUERY_TEXT ? "is longer than 4096 bytes"
               : max == AGENT_TOKEN    ? "is longer than 8192 bytes"
               : max == AGENT_CURSOR   ? "is longer than 1024 bytes"
                                       : "is longer than 256 bytes";
    return text.ptr && envelope_has_control(text) ? "contains a control character" : NULL;
}

/* A text that was given is not empty. */
static const char *word_fault(struct str text, size_t max)
{
    if (text.ptr && text.len == 0)
        return "is empty";
    return text_fault(text, max);
}

static enum err check_list(const struct inner *in, struct str name, struct str_list list)
{
    if (list.count > AGENT_LIST)
        return bad(in, name, 0, "has more than 256 entries");
    for (size_t i = 0; i < list.count; i++) {
        const char *what = word_fault(list.items[i], AGENT_WORD);

        if (list.items[i].len == 0)
            what = "is empty";
        for (size_t j = 0; j < i && !what; j++)
            if (str_eq(list.items[i], list.items[j]))
                what = "stands there twice";
        if (what)
            return bad(in, name, i + 1, what);
    }
    return OK;
}

/* clang-format off */
struct said_since {
    struct str epoch;
    uint64_t sequence;
};
static const struct json_field since_fields[] = {
    JSON_FIELD(struct said_since, epoch,    JSON_REQUIRED),
    JSON_FIELD(struct said_since, sequence, JSON_REQUIRED),
};

struct said_subscription {
    struct str authentication_token;
    struct str_list topics, teams, event_types;
    const struct json *since;
};
static const struct json_field subscription_fields[] = {
    JSON_FIELD(struct said_subscription, authentication_token, JSON_REQUIRED),
    JSON_FIELD(struct said_subscription, topics,               JSON_OPTIONAL),
    JSON_FIELD(struct said_subscription, teams,                JSON_OPTIONAL),
    JSON_FIELD(struct said_subscription, event_types,          JSON_OPTIONAL),
    JSON_FIELD(struct said_subscription, since,                JSON_OPTIONAL),
};

struct said_query {
    struct str query, cursor;
    const struct json *filters;
    uint64_t limit;
};
static const struct json_field query_fields[] = {
    JSON_FIELD(struct said_query, query,   JSON_REQUIRED),
    JSON_FIELD(struct said_query, filters, JSON_OPTIONAL),
    JSON_FIELD(struct said_query, limit,   JSON_OPTIONAL),
    JSON_FIELD(struct said_query, cursor,  JSON_OPTIONAL),
};

struct said_filters {
    struct str_list skills;
    struct str availability, kind, location, team, currency;
    const struct json *max_rate;
};
static const struct json_field filter_fields[] = {
    JSON_FIELD(struct said_filters, skills,       JSON_OPTIONAL),
    JSON_FIELD(struct said_filters, availability, JSON_OPTIONAL),
    JSON_FIELD(struct said_filters, kind,         JSON_OPTIONAL),
    JSON_FIELD(struct said_filters, location,     JSON_OPTIONAL),
    JSON_FIELD(struct said_filters, max_rate,     JSON_OPTIONAL),
    JSON_FIELD(struct said_filters, currency,     JSON_OPTIONAL),
    JSON_FIELD(struct said_filters, team,         JSON_OPTIONAL),
};

struct said_team {
    struct str team_name, contract_id;
    struct str_list member_resource_ids;
};
static const struct json_field team_fields[] = {
    JSON_FIELD(struct said_team, team_name,           JSON_REQUIRED),
    JSON_FIELD(struct said_team, member_resource_ids, JSON_REQUIRED),
    JSON_FIELD(struct said_team, contract_id,         JSON_OPTIONAL),
};

struct said_team_id {
    struct str team_id;
};
static const struct json_field team_id_fields[] = {
    JSON_FIELD(struct said_team_id, team_id, JSON_REQUIRED),
};
/* clang-format on */

static enum err read_since(const struct inner *outer, const struct json *since,
                           struct agent_subscription *ret)
{
    struct inner in = { outer->arena, outer->problem, "payload.since" };
    struct said_since said = {};
    const char *what;
    enum err err;

    if (!since)
        return OK;
    err = read_object(&in, since, since_fields, COUNT(since_fields), &said);
    if (err)
        return err;
    what = word_fault(said.epoch, AGENT_WORD);
    if (what)
        return bad(&in, S("epoch"), 0, what);
    ret->has_since = true;
    ret->since_epoch = said.epoch;
    ret->since_sequence = said.sequence;
    return OK;
}

static enum err check_interest(const struct inner *in,
                               const struct agent_interest *interest)
{
    enum err err = check_list(in, S("topics"), interest->topics);

    if (!err)
        err = check_list(in, S("teams"), interest->teams);
    if (!err)
        err = check_list(in, S("event_types"), interest->event_types);
    for (size_t i = 0; i < interest->event_types.count && !err; i++)
        if (!agent_event_is_known(interest->event_types.items[i]))
            err = bad(in, S("event_types"), i + 1,
                      "must be TEAM_STATUS_UPDATED, RESOURCE_UPDATED or "
                      "MEMBER_STATUS_CHANGED");
    return err;
}

enum err agent_subscription_read(const struct agent_message *message, struct arena *arena,
                                 struct agent_subscription *ret,
                                 struct agent_problem *problem)
{
    struct inner in = { arena, problem, "payload" };
    struct said_subscription said = {};
    struct agent_subscription s = {};
    const struct json *payload;
    const char *what;
    enum err err = open_payload(&in, message, &payload);

    if (!err)
        err = read_object(&in, payload, subscription_fields, COUNT(subscription_fields),
                          &said);
    if (err)
        return err;
    what = word_fault(said.authentication_token, AGENT_TOKEN);
    if (what)
        return bad(&in, S("authentication_token"), 0, what);
    s.token = said.authentication_token;
    s.interest = (struct agent_interest){ said.topics, said.teams, said.event_types };
    err = check_interest(&in, &s.interest);
    if (!err)
        err = read_since(&in, said.since, &s);
    if (!err)
        *ret = s;
    return err;
}

static const char *rate_fault(const struct json *rate)
{
    if (rate->type != JSON_NUMBER)
        return "must be a number";
    if (rate->text.len > RESOURCE_AMOUNT)
        return "is longer than 32 characters";
    for (size_t i = 0; i < rate->text.len; i++)
        if (rate->text.ptr[i] == '-' || (rate->text.ptr[i] | 0x20) == 'e')
            return "must not be below 0, and is written without an exponent";
    return NULL;
}

static enum err read_filters(const struct inner *outer, const struct json *filters,
                             struct agent_query *ret)
{
    struct inner in = { outer->arena, outer->problem, "payload.filters" };
    struct said_filters said = {};
    enum err err;

    if (!filters)
        return OK;
    err = read_object(&in, filters, filter_fields, COUNT(filter_fields), &said);
    if (!err)
        err = check_list(&in, S("skills"), said.skills);
    if (err)
        return err;
    if (said.kind.ptr && !str_eq(said.kind, S("human")) && !str_eq(said.kind, S("agent")))
        return bad(&in, S("kind"), 0, "must be human or agent");
    if (said.currency.ptr && said.currency.len != 3)
        return bad(&in, S("currency"), 0, "must be three letters, such as EUR");
    const struct {
        struct str name;
        const char *what;
    } faults[] = {
        { S("availability"), word_fault(said.availability, AGENT_WORD) },
        { S("location"), word_fault(said.location, AGENT_WORD) },
        { S("team"), word_fault(said.team, AGENT_WORD) },
        { S("currency"), word_fault(said.currency, AGENT_WORD) },
        { S("max_rate"), said.max_rate ? rate_fault(said.max_rate) : NULL },
    };
    for (size_t i = 0; i < COUNT(faults); i++)
        if (faults[i].what)
            return bad(&in, faults[i].name, 0, faults[i].what);
    ret->skills = said.skills;
    ret->availability = said.availability;
    ret->kind = said.kind;
    ret->location = said.location;
    ret->team = said.team;
    ret->currency = said.currency;
    if (said.max_rate)
        ret->max_rate = said.max_rate->text;
    return OK;
}

enum err agent_query_read(const struct agent_message *message, struct arena *arena,
                          struct agent_query *ret, struct agent_problem *problem)
{
    struct inner in = { arena, problem, "payload" };
    struct said_query said = { .limit = AGENT_LIMIT_DEFAULT };
    struct agent_query q = {};
    const struct json *payload;
    const char *what;
    enum err err = open_payload(&in, message, &payload);

    if (!err)
        err = read_object(&in, payload, query_fields, COUNT(query_fields), &said);
    if (!err)
        err = read_filters(&in, said.filters, &q);
    if (err)
        return err;
    what = text_fault(said.query, AGENT_QUERY_TEXT);
    if (what)
        return bad(&in, S("query"), 0, what);
    what = word_fault(said.cursor, AGENT_CURSOR);
    if (what)
        return bad(&in, S("cursor"), 0, what);
    if (said.limit < 1 || said.limit > AGENT_LIMIT)
        return bad(&in, S("limit"), 0, "must be from 1 to 100");
    q.text = said.query;
    q.cursor = said.cursor;
    q.limit = (size_t)said.limit;
    *ret = q;
    return OK;
}

enum err agent_team_read(const struct agent_message *message, struct arena *arena,
                         struct agent_team *ret, struct agent_problem *problem)
{
    struct inner in = { arena, problem, "payload" };
    struct said_team said = {};
    const struct json *payload;
    const char *what;
    enum err err = open_payload(&in, message, &payload);

    if (!err)
        err = read_object(&in, payload, team_fields, COUNT(team_fields), &said);
    if (err)
        return err;
    what = word_fault(said.team_name, AGENT_WORD);
    if (what)
        return bad(&in, S("team_name"), 0, what);
    what = word_fault(said.contract_id, AGENT_WORD);
    if (what)
        return bad(&in, S("contract_id"), 0, what);
    if (said.member_resource_ids.count == 0)
        return bad(&in, S("member_resource_ids"), 0, "is empty");
    err = check_list(&in, S("member_resource_ids"), said.member_resource_ids);
    if (!err)
        *ret = (struct agent_team){ said.team_name, said.member_resource_ids,
                                    said.contract_id };
    return err;
}

enum err agent_team_id_read(const struct agent_message *message, struct arena *arena,
                            struct str *ret, struct agent_problem *problem)
{
    struct inner in = { arena, problem, "payload" };
    struct said_team_id said = {};
    const struct json *payload;
    const char *what;
    enum err err = open_payload(&in, message, &payload);

    if (!err)
        err = read_object(&in, payload, team_id_fields, COUNT(team_id_fields), &said);
    if (err)
        return err;
    what = word_fault(said.team_id, AGENT_WORD);
    if (what)
        return bad(&in, S("team_id"), 0, what);
    *ret = said.team_id;
    return OK;
}
