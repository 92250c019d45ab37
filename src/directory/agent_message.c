/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope is scanned, which takes no memory however odd it is; only a payload of
 * bounded size becomes a tree. */
#include "directory/agent_message.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "envelope/envelope.h"

enum { SENTENCE = 512 };

static const struct str performatives[] = {
    [AGENT_CONTEXT_SUBSCRIBE] = S("CONTEXT_SUBSCRIBE"),
    [AGENT_RESOURCE_QUERY] = S("RESOURCE_QUERY"),
    [AGENT_TEAM_CREATE] = S("TEAM_CREATE"),
    [AGENT_TEAM_GET_STATUS] = S("TEAM_GET_STATUS"),
    [AGENT_CONTEXT_EVENT] = S("CONTEXT_EVENT"),
};

static const struct str event_types[] = {
    S("TEAM_STATUS_UPDATED"),
    S("RESOURCE_UPDATED"),
    S("MEMBER_STATUS_CHANGED"),
};

struct str agent_performative_name(enum agent_performative performative)
{
    return performatives[performative];
}

struct str_list agent_event_types(void)
{
    return (struct str_list){ event_types, COUNT(event_types) };
}

bool agent_event_is_known(struct str event_type)
{
    for (size_t i = 0; i < COUNT(event_types); i++)
        if (str_eq(event_types[i], event_type))
            return true;
    return false;
}

/* --- the envelope --- */

enum field {
    PROTOCOL_VERSION,
    MESSAGE_ID,
    TIMESTAMP,
    SOURCE_AGENT_ID,
    PERFORMATIVE,
    PAYLOAD,
    FIELDS,
};

static const struct str field_names[FIELDS] = {
    S("protocol_version"), S("message_id"),   S("timestamp"),
    S("source_agent_id"),  S("performative"), S("payload"),
};

/* What is read, and what came of it. */
struct reading {
    struct arena *arena;
    struct agent_message *message;
    struct agent_problem *problem;
    struct json_span spans[FIELDS];
    struct str texts[FIELDS]; /* of those that are strings */
    bool has[FIELDS];
};

static enum err fail_with(struct agent_problem *problem, struct str code,
                          struct str field, struct str what)
{
    *problem = (struct agent_problem){ code, field, what };
    return ERR_INVALID;
}

static enum err malformed(struct reading *r, enum field field, struct str what)
{
    return fail_with(r->problem, S("MALFORMED_MESSAGE"), field_names[field], what);
}

/* "The payload is missing." */
static struct str sentence(struct arena *arena, enum field field, const char *what)
{
    struct buf text;
    struct str kept;

    buf_init(&text, SENTENCE);
    buf_putf(&text, "The " STR_FMT " %s.", STR_ARG(field_names[field]), what);
    kept = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return kept;
}

bool agent_uuid_is_valid(struct str text)
{
    if (text.len != AGENT_UUID)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (is_dash ? text.ptr[i] != '-' : str_hex_digit(text.ptr[i]) < 0)
            return false;
    }
    return true;
}

static enum err check_version(struct reading *r)
{
    if (!str_eq(r->texts[PROTOCOL_VERSION], S("1.0")))
        return fail_with(r->problem, S("UNSUPPORTED_VERSION"),
                         field_names[PROTOCOL_VERSION],
                         S("The only protocol_version spoken here is \"1.0\"."));
    return OK;
}

static enum err check_message_id(struct reading *r)
{
    if (!agent_uuid_is_valid(r->texts[MESSAGE_ID]))
        return malformed(r, MESSAGE_ID, S("The message_id must be a UUID."));
    return OK;
}

/* Other offsets than none are times as well, but not UTC. */
static enum err check_timestamp(struct reading *r)
{
    struct str text = r->texts[TIMESTAMP];

    if ((!str_ends(text, S("Z")) && !str_ends(text, S("+00:00"))) ||
        str_find(text, 'T', 0) == text.len || clock_parse(text, &r->message->sent_ms))
        return malformed(r, TIMESTAMP,
                         S("The timestamp must be an ISO 8601 time in UTC, such as "
                           "2026-11-15T05:06:07Z."));
    return OK;
}

static enum err check_source(struct reading *r)
{
    struct str id = r->texts[SOURCE_AGENT_ID];

    if (id.len == 0 || id.len > AGENT_ID || envelope_has_control(id))
        return malformed(r, SOURCE_AGENT_ID,
                         S("The source_agent_id has 1 to 256 bytes, without control "
                           "characters."));
    if (str_eq(id, AGENT_SERVER))
        return fail_with(r->problem, S("SOURCE_MISMATCH"), field_names[SOURCE_AGENT_ID],
                         S("The source_agent_id \"moot\" is the gateway's own."));
    r->message->source_agent_id = id;
    return OK;
}

static enum err check_performative(struct reading *r)
{
    for (size_t i = 0; i < COUNT(performatives); i++)
        if (str_eq(performatives[i], r->texts[PERFORMATIVE])) {
            r->message->performative = (enum agent_performative)i;
            return OK;
        }
    return fail_with(r->problem, S("UNKNOWN_PERFORMATIVE"), field_names[PERFORMATIVE],
                     S("The performative must be CONTEXT_SUBSCRIBE, RESOURCE_QUERY, "
                       "TEAM_CREATE or TEAM_GET_STATUS."));
}

static enum err check_payload(struct reading *r)
{
    r->message->payload = r->spans[PAYLOAD].text;
    return OK;
}

static enum err (*const checks[FIELDS])(struct reading *r) = {
    [PROTOCOL_VERSION] = check_version,  [MESSAGE_ID] = check_message_id,
    [TIMESTAMP] = check_timestamp,       [SOURCE_AGENT_ID] = check_source,
    [PERFORMATIVE] = check_performative, [PAYLOAD] = check_payload,
};

static enum err take_member(struct reading *r, const struct json_member *member)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (!json_string_is(member->key, field_names[i]))
            continue;
        if (r->has[i])
            return malformed(r, (enum field)i,
                             sentence(r->arena, (enum field)i, "stands there twice"));
        r->has[i] = true;
        r->spans[i] = member->value;
        return OK;
    }
    return OK;
}

/* The text of a field, or what is wrong with its type. */
static enum err take_text(struct reading *r, enum field field)
{
    enum json_type wanted = field == PAYLOAD ? JSON_OBJECT : JSON_STRING;

    if (!r->has[field])
        return malformed(r, field, sentence(r->arena, field, "is missing"));
    if (r->spans[field].type != wanted)
        return malformed(
            r, field,
            sentence(r->arena, field,
                     field == PAYLOAD ? "must be an object" : "must be a string"));
    if (field == PAYLOAD)
        return OK;
    if (json_unescape(r->spans[field], r->arena, &r->texts[field]))
        return malformed(r, field, sentence(r->arena, field, "is too long"));
    return OK;
}

/* Whatever is wrong elsewhere: who sent it wants to know which message it was. */
static void find_message_id(struct reading *r)
{
    struct str text;

    if (r->has[MESSAGE_ID] && r->spans[MESSAGE_ID].type == JSON_STRING &&
        r->spans[MESSAGE_ID].text.len <= (size_t)AGENT_UUID * 6 &&
        json_unescape(r->spans[MESSAGE_ID], r->arena, &text) == OK &&
        agent_uuid_is_valid(text))
        r->message->message_id = text;
}

static void tell_where(struct reading *r, const struct json_scan *scan)
{
    struct buf text;

    buf_init(&text, SENTENCE);
    buf_putf(&text, "The message is not a JSON object: %s at byte %zu.",
             scan->what ? scan->what : "too deep", scan->at);
    (void)fail_with(r->problem, S("MALFORMED_MESSAGE"), S(""),
                    arena_str(r->arena, buf_str(&text)));
    buf_done(&text);
}

static enum err scan(struct reading *r, struct str text, size_t max_depth)
{
    struct json_scan scan;
    struct json_member member;
    enum err err;

    json_scan_init(&scan, text, max_depth);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err)) {
        err = take_member(r, &member);
        if (err)
            return err;
    }
    if (!err)
        err = json_scan_end(&scan);
    if (err)
        tell_where(r, &scan);
    return err;
}

enum err agent_message_read(struct str text, size_t max_depth, struct arena *arena,
                            struct agent_message *ret, struct agent_problem *problem)
{
    struct reading r = { .arena = arena, .message = ret, .problem = problem };
    enum err err;

    *ret = (struct agent_message){};
    err = scan(&r, text, max_depth);
    if (err && !utf8_is_valid(text))
        return ERR_UTF8; /* perhaps behind the fault where the scan ended */
    find_message_id(&r);
    for (size_t i = 0; i < FIELDS && !err; i++) {
        err = take_text(&r, (enum field)i);
        if (!err)
            err = checks[i](&r);
    }
    return err;
}

/* --- events --- */

void agent_event_begin(struct json_writer *w, struct buf *out,
                       const struct agent_event_head *head)
{
    json_write_init(w, out);
    json_object_open(w);
    json_put_str(w, S("protocol_version"), S("1.0"));
    json_put_str(w, S("message_id"), str_of(head->message_id));
    json_put_time(w, S("timestamp"), head->wall_ms);
    json_put_str(w, S("source_agent_id"), AGENT_SERVER);
    json_put_str(w, S("performative"), performatives[AGENT_CONTEXT_EVENT]);
    json_key(w, S("payload"));
    json_object_open(w);
    json_put_str(w, S("event_type"), head->event_type);
    json_key(w, S("data"));
    json_object_open(w);
}

void agent_event_end(struct json_writer *w)
{
    json_object_close(w);
    json_object_close(w);
    json_object_close(w);
}

void agent_uuid_write(const uint8_t random[static 16], char ret[static AGENT_UUID + 1])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < 16; i++) {
        uint8_t byte = random[i];

        if (i == 6)
            byte = (byte & 0x0f) | 0x40; /* version 4 (RFC 9562 5.4) */
        if (i == 8)
            byte = (byte & 0x3f) | 0x80;
        if (i == 4 || i == 6 || i == 8 || i == 10)
            ret[at++] = '-';
        ret[at++] = digits[byte >> 4];
        ret[at++] = digits[byte & 0x0f];
    }
    ret[at] = '\0';
}
