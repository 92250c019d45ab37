/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/journal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "rules/value.h"

static const struct str type_names[] = {
#define X(name, text) [JOURNAL_##name] = S(text),
    JOURNAL_TYPES(X)
#undef X
};

/* clang-format off */
static const struct str verdict_names[] = {
    [DECISION_APPROVED]  = S("approved"),
    [DECISION_REJECTED]  = S("rejected"),
    [DECISION_CORRECTED] = S("corrected"),
};
/* clang-format on */

/* --- writing --- */

static void put_raw(struct json_writer *w, struct str key, struct str value)
{
    if (!value.len)
        return;
    json_key(w, key);
    json_raw(w, value);
}

/* In their canonical text: that is what is learned from. */
static void put_arguments(struct json_writer *w, const struct json *arguments)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, RULE_ARGUMENTS);
    if (arguments && value_put(&text, arguments) == OK)
        put_raw(w, S("arguments"), buf_str(&text));
}

static void put_decision(struct json_writer *w, const struct decision *d)
{
    json_put_str(w, S("proposal"), d->id);
    json_put_str(w, S("proposer"), d->proposal.proposer);
    json_put_str(w, S("method"), d->proposal.method);
    json_put_given(w, S("tool"), d->proposal.tool);
    json_put_given(w, S("to"), d->proposal.to);
    put_arguments(w, d->proposal.arguments);
    json_put_str(w, S("verdict"), verdict_names[d->verdict]);
    json_put_str(w, S("by"), d->by);
}

static void put_entry(struct buf *out, const struct journal_entry *e)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_time(&w, S("at"), e->at_ms);
    json_put_given(&w, S("after"), e->after);
    json_put_str(&w, S("what"), type_names[e->type]);
    if (e->type == JOURNAL_DECIDED) {
        put_decision(&w, &e->decision);
    } else {
        json_put_given(&w, S("topic"), e->topic);
        json_put_given(&w, S("rule"), e->rule);
        json_put_given(&w, S("proposal"), e->proposal);
        put_raw(&w, S("envelope"), e->envelope);
        put_raw(&w, S("text"), e->text);
    }
    if (e->type == JOURNAL_SHADOW)
        json_put_str(
            &w, S("verdict"),
            verdict_names[e->is_approved ? DECISION_APPROVED : DECISION_REJECTED]);
    json_object_close(&w);
    buf_putc(out, '\n');
}

/* JSON that came from outside may have been written in several lines. */
static void put_on_one_line(struct buf *out, struct str line)
{
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];

        if ((c == '\n' || c == '\r') && i + 1 < line.len)
            c = ' ';
        buf_putc(out, c);
    }
}

void journal_put(struct buf *out, const struct journal_entry *entry)
{
    CLEANUP(buf_done) struct buf line;

    buf_init(&line, JOURNAL_LINE);
    put_entry(&line, entry);
    if (!line.is_full)
        put_on_one_line(out, buf_str(&line));
}

/* --- reading --- */

struct said {
    struct str at, after, what, topic, rule, proposal;
    struct str proposer, method, tool, to, verdict, by;
    const struct json *envelope, *text, *arguments;
};

#define F(member, need) JSON_FIELD(struct said, member, need)
static const struct json_field said_fields[] = {
    F(at, JSON_REQUIRED),       F(after, JSON_OPTIONAL),   F(what, JSON_REQUIRED),
    F(topic, JSON_OPTIONAL),    F(rule, JSON_OPTIONAL),    F(proposal, JSON_OPTIONAL),
    F(proposer, JSON_OPTIONAL), F(method, JSON_OPTIONAL),  F(tool, JSON_OPTIONAL),
    F(to, JSON_OPTIONAL),       F(verdict, JSON_OPTIONAL), F(by, JSON_OPTIONAL),
    F(envelope, JSON_OPTIONAL), F(text, JSON_OPTIONAL),    F(arguments, JSON_OPTIONAL),
};
#undef F

static bool find_name(const struct str *names, size_t count, struct str name, size_t *ret)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(names[i], name)) {
            *ret = i;
            return true;
        }
    return false;
}

static bool read_verdict(struct str name, enum decision_verdict *ret)
{
    size_t i;

    if (!find_name(verdict_names, COUNT(verdict_names), name, &i))
        return false;
    *ret = (enum decision_verdict)i;
    return true;
}

static bool read_decision(const struct said *said, struct str topic, uint64_t at_ms,
                          struct decision *ret)
{
    *ret = (struct decision){
        .id = said->proposal,
        .proposal = { .topic = topic,
                      .proposer = said->proposer,
                      .method = said->method,
                      .tool = said->tool,
                      .to = said->to,
                      .arguments = said->arguments },
        .origin = DECIDED_BY_PERSON,
        .by = said->by,
        .at_ms = at_ms,
    };
    return said->proposal.len && said->proposer.len && said->method.len && said->by.len &&
           (!said->arguments || said->arguments->type == JSON_OBJECT) &&
           read_verdict(said->verdict, &ret->verdict);
}

static bool is_object(const struct json *json)
{
    return json && json->type == JSON_OBJECT;
}

/* What each must say. */
static bool is_complete(const struct said *said, enum journal_type type)
{
    switch (type) {
    case JOURNAL_TOPIC: return said->topic.len;
    case JOURNAL_PROPOSED:
        return said->proposal.len && is_object(said->envelope) &&
               said->envelope->raw.len <= JOURNAL_ENVELOPE;
    case JOURNAL_ENDED: return said->proposal.len;
    case JOURNAL_SUGGESTED: return said->rule.len;
    case JOURNAL_UNWANTED: return is_object(said->text);
    case JOURNAL_WOULD:
    case JOURNAL_USED:
    case JOURNAL_SHADOW: return said->rule.len && said->proposal.len;
    case JOURNAL_HEARD: return said->after.len;
    case JOURNAL_DECIDED:
    case JOURNAL_TYPE_COUNT: break;
    }
    return true;
}

static enum err understand(const struct said *said, struct str topic,
                           struct journal_entry *ret)
{
    struct journal_entry e = { .after = said->after,
                               .topic = said->topic,
                               .rule = said->rule,
                               .proposal = said->proposal };
    enum decision_verdict verdict = DECISION_NOTHING;
    size_t type;

    if (clock_parse(said->at, &e.at_ms) ||
        !find_name(type_names, COUNT(type_names), said->what, &type))
        return ERR_INVALID;
    e.type = (enum journal_type)type;
    if (!is_complete(said, e.type))
        return ERR_INVALID;
    if (e.type == JOURNAL_DECIDED && !read_decision(said, topic, e.at_ms, &e.decision))
        return ERR_INVALID;
    if (e.type == JOURNAL_SHADOW && !read_verdict(said->verdict, &verdict))
        return ERR_INVALID;
    e.is_approved = verdict == DECISION_APPROVED;
    if (e.type == JOURNAL_PROPOSED)
        e.envelope = said->envelope->raw;
    if (e.type == JOURNAL_UNWANTED)
        e.text = said->text->raw;
    *ret = e;
    return OK;
}

enum err journal_read(struct str line, struct str topic, struct arena *arena,
                      struct journal_entry *ret)
{
    const struct json *root;
    struct said said = {};

    if (line.len > JOURNAL_LINE || json_parse(line, arena, &root, NULL) ||
        json_read(root, said_fields, COUNT(said_fields), arena, &said, NULL))
        return ERR_INVALID;
    return understand(&said, topic, ret);
}

struct str journal_whole(struct str text)
{
    while (text.len && text.ptr[text.len - 1] != '\n')
        text.len--;
    return text;
}

enum err journal_replay(struct str text, const struct journal_reading *reading,
                        size_t *ret_line)
{
    CLEANUP(arena_done) struct arena arena;
    struct str rest = journal_whole(text);
    struct journal_entry entry;

    arena_init(&arena, JOURNAL_TREE);
    for (*ret_line = 1; rest.len; (*ret_line)++) {
        struct str line = str_cut(&rest, '\n');

        arena_reset(&arena);
        if (journal_read(line, reading->topic, &arena, &entry) ||
            (entry.type == JOURNAL_TOPIC) != (*ret_line == 1))
            return ERR_INVALID;
        if (entry.type == JOURNAL_TOPIC && !str_eq(entry.topic, reading->topic))
            return ERR_CONFLICT;
        reading->on_entry(reading->user, &entry);
    }
    return OK;
}
