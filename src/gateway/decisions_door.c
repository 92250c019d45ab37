/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided on calls like this one, for whoever is to decide on the next: from the
 * record, the newest first, with the arguments they had.
 *
 * The record is asked twice. First for what was proposed, or announced to be authorized,
 * piece by piece until there are enough; then, for each, what was said of it behind that.
 * What nobody has decided is not told.
 */
#include <stdlib.h>

#include "approval/petitions.h"
#include "audit/line.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/entrance.h"
#include "gateway/lookback.h"

enum {
    DEFAULT_LIMIT = 10,
    MAX_LIMIT = 50,
    SPARE = 10,            /* that may turn out to be undecided */
    NAME_BYTES = 256,      /* of a method or tool */
    PIECE = 100,           /* records looked at in one go, */
    PIECES = 30,           /* and how often; what lies before is not found */
    WORDS = 40,            /* about one call, of which one decides */
    BODY_BYTES = 64 << 10, /* longer ones are not looked into */
    TREE_BYTES = 1 << 20,  /* of one body */
    KEPT_BYTES = 6 << 20,  /* of all that is found */
    ANSWER_BYTES = 4 << 20,
};

/* A call that somebody was asked about. */
struct candidate {
    uint64_t seq, at_ms;
    struct str id, from, kind, body; /* in the arena; body: "" where it is not known */
};

struct decisions;

/* The two ways to be asked. */
struct asking {
    struct str name;
    struct str word; /* kind of what decides */
    bool (*is_like)(const struct decisions *d, const struct audit_record *record,
                    const struct json *body);
    /* Writes how it ended, and the rest of the object; false: that word does not. */
    bool (*put_end)(struct decisions *d, const struct candidate *c,
                    const struct audit_record *word, const struct json *body);
    void (*put_call)(struct decisions *d, const struct candidate *c,
                     const struct json *body);
};

struct decisions {
    struct lookback look;
    struct arena arena;   /* all texts that are kept */
    struct arena scratch; /* of one body */
    const struct asking *asking;
    struct str topic, method, tool; /* "": any */
    size_t limit, pieces, given;
    struct candidate candidates[MAX_LIMIT + SPARE];
    size_t count, at;         /* at: the one whose end is looked for */
    struct petition petition; /* that one, if it was to be authorized */
    struct buf out;
    struct json_writer w;
    bool is_cut; /* there may be more than was looked at */
};

static void decisions_free(struct decisions *d)
{
    lookback_done(&d->look);
    arena_done(&d->arena);
    arena_done(&d->scratch);
    buf_done(&d->out);
    free(d);
}

/* NULL: it is gone, too long, or unclear. Lives until the next. */
static const struct json *read_body(struct decisions *d, struct str body)
{
    const struct json *root;

    arena_reset(&d->scratch);
    if (!body.len || body.len > BODY_BYTES || json_parse(body, &d->scratch, &root, NULL))
        return NULL;
    return root;
}

static const struct json *params_of(const struct json *body)
{
    return json_find(json_find(body, S("payload")), S("params"));
}

/* --- proposals --- */

static struct str tool_of(const struct kind *kind, const struct json *body)
{
    return kind->context.len ? kind->context
                             : json_text(json_find(params_of(body), S("name")));
}

static bool is_wanted(struct str wanted, struct str is)
{
    return !wanted.len || str_eq(wanted, is);
}

static bool is_like_proposal(const struct decisions *d, const struct audit_record *record,
                             const struct json *body)
{
    struct kind kind;

    return !kind_parse(record->kind, &kind) && kind.type == KIND_PROPOSAL &&
           is_wanted(d->method, kind.method) && is_wanted(d->tool, tool_of(&kind, body));
}

static void put_raw(struct json_writer *w, struct str key, const struct json *value)
{
    if (!value)
        return;
    json_key(w, key);
    json_raw(w, value->raw);
}

static void put_proposal(struct decisions *d, const struct candidate *c,
                         const struct json *body)
{
    const struct json *params = params_of(body);
    struct kind kind;

    json_put_str(&d->w, S("proposer"), c->from);
    json_put_str(&d->w, S("kind"), c->kind);
    put_raw(&d->w, S("to"), json_find(body, S("to")));
    if (kind_parse(c->kind, &kind))
        return;
    json_put_given(&d->w, S("tool"), tool_of(&kind, body));
    if (str_eq(kind.method, S("tools/call")))
        params = json_find(params, S("arguments"));
    put_raw(&d->w, S("arguments"), params);
}

static bool put_proposal_end(struct decisions *d, const struct candidate *c,
                             const struct audit_record *word, const struct json *body)
{
    const struct json *payload = json_find(body, S("payload"));
    struct str state = json_text(json_find(payload, S("state")));

    if (!str_eq(word->correlation, c->id) || word->participant.len || !state.len ||
        str_eq(state, S("open")))
        return false;
    json_put_str(&d->w, S("state"), state);
    json_put_given(&d->w, S("by"), json_text(json_find(payload, S("by"))));
    json_put_given(&d->w, S("reason"), json_text(json_find(payload, S("reason"))));
    json_put_given(&d->w, S("rule"), json_text(json_find(payload, S("rule"))));
    put_raw(&d->w, S("approvals"), json_find(payload, S("approvals")));
    put_raw(&d->w, S("edited"), json_find(payload, S("edited")));
    return true;
}

/* --- authorizations --- */

#define ANNOUNCING "mcp/request:notifications/authorization/request"

static bool is_like_authorization(const struct decisions *d,
                                  const struct audit_record *record [[maybe_unused]],
                                  const struct json *body)
{
    return body && is_wanted(d->method, S("tools/call")) &&
           is_wanted(d->tool, json_text(json_find(params_of(body), S("tool"))));
}

/* Whose word counts for it. */
static void note_petition(struct decisions *d, const struct candidate *c,
                          const struct json *body)
{
    const struct json *params = params_of(body);
    const struct json *to = json_find(body, S("to"));
    struct arena *arena = &d->arena;

    d->petition = (struct petition){
        .id = c->id,
        .owner = c->from,
        .authorization_id = arena_str(arena, json_text(json_find(params, S("id")))),
        .requester = arena_str(arena, json_text(json_find(params, S("requester")))),
        .proposer = arena_str(arena, json_text(json_find(params, S("proposer")))),
        .asked = to && to->count == 1 ? arena_str(arena, json_text(to->first)) : S(""),
    };
}

static bool is_to(const struct json *body, struct str id)
{
    const struct json *to = json_find(body, S("to"));

    if (to)
        JSON_FOREACH(one, to)
            if (str_eq(json_text(one), id))
                return true;
    return false;
}

static void put_authorization(struct decisions *d, const struct candidate *c,
                              const struct json *body)
{
    const struct json *params = params_of(body);

    note_petition(d, c, body);
    json_put_str(&d->w, S("owner"), c->from);
    json_put_str(&d->w, S("proposer"), json_text(json_find(params, S("requester"))));
    json_put_str(&d->w, S("tool"), json_text(json_find(params, S("tool"))));
    put_raw(&d->w, S("arguments"), json_find(params, S("arguments")));
}

static bool put_authorization_end(struct decisions *d, const struct candidate *c,
                                  const struct audit_record *word,
                                  const struct json *body)
{
    const struct json *params = params_of(body);
    struct str decision = json_text(json_find(params, S("decision")));
    bool is_approved = str_eq(decision, S("approve"));

    if (!str_eq(word->correlation, c->id) || !is_to(body, c->from) ||
        !str_eq(json_text(json_find(params, S("authorizationId"))),
                d->petition.authorization_id) ||
        !petition_heeds(&d->petition, word->participant, c->id) ||
        (!is_approved && !str_eq(decision, S("deny"))))
        return false;
    json_put_str(&d->w, S("state"), is_approved ? S("approved") : S("denied"));
    json_put_str(&d->w, S("by"), word->participant);
    json_put_given(&d->w, S("reason"), json_text(json_find(params, S("reason"))));
    return true;
}

static const struct asking askings[] = {
    { S("proposal"), S("system/proposal"), is_like_proposal, put_proposal_end,
      put_proposal },
    { S("authorization"), S("mcp/request:authorization/respond"), is_like_authorization,
      put_authorization_end, put_authorization },
};

/* --- answering --- */

static void answer(struct decisions *d)
{
    json_array_close(&d->w);
    json_put_bool(&d->w, S("complete"), !d->is_cut);
    json_object_close(&d->w);
    if (entrance_may_still_look_back(d->look.x))
        exchange_json(d->look.x, 200, &d->out);
    decisions_free(d);
}

/* --- how each ended --- */

static void ask_end(struct decisions *d)
{
    const struct candidate *c = &d->candidates[d->at];

    if (d->at == d->count || d->given == d->limit || d->out.len > ANSWER_BYTES ||
        exchange_is_abandoned(d->look.x)) {
        d->is_cut |= d->at < d->count;
        answer(d);
        return;
    }
    d->look.read.query = (struct audit_query){ .event = S("envelope"), /* no refusals */
                                               .topic = d->topic,
                                               .thread = c->id,
                                               .kind = d->asking->word,
                                               .since_ms = c->at_ms,
                                               .order = AUDIT_OLDEST_FIRST,
                                               .after_seq = c->seq,
                                               .limit = WORDS };
    lookback_ask(&d->look);
}

/* What was written of it is taken back where nothing decides. */
static void put_decided(struct decisions *d, const struct candidate *c)
{
    struct json_writer before = d->w;
    size_t len = d->out.len, at = 0;
    struct audit_record word;

    json_object_open(&d->w);
    json_put_str(&d->w, S("id"), c->id);
    json_put_time(&d->w, S("created"), c->at_ms);
    d->asking->put_call(d, c, read_body(d, c->body));
    while (audit_batch_next(&d->look.read.page, &at, &word)) {
        const struct json *body = read_body(d, word.body);

        if (!body || !d->asking->put_end(d, c, &word, body))
            continue;
        json_put_time(&d->w, S("decided"), word.at_ms);
        json_object_close(&d->w);
        d->given++;
        return;
    }
    d->w = before;
    d->out.len = len;
}

/* --- what was asked --- */

static void keep(struct decisions *d, const struct audit_record *record)
{
    struct candidate *c = &d->candidates[d->count];
    bool has_body = record->body.ptr && record->body.len <= BODY_BYTES;

    *c = (struct candidate){
        .seq = record->seq,
        .at_ms = record->at_ms,
        .id = arena_str(&d->arena, record->id),
        .from = arena_str(&d->arena, record->participant),
        .kind = arena_str(&d->arena, record->kind),
        .body = has_body ? arena_str(&d->arena, record->body) : S(""),
    };
    if (c->id.len)
        d->count++;
}

static void take_candidates(struct decisions *d)
{
    size_t max = d->limit + SPARE;
    struct audit_record record;
    size_t at = 0;

    while (d->count < max && audit_batch_next(&d->look.read.page, &at, &record))
        if (d->asking->is_like(d, &record, read_body(d, record.body)))
            keep(d, &record);
}

static void take_piece(struct decisions *d)
{
    take_candidates(d);
    if (d->look.read.has_more && d->count < d->limit + SPARE && ++d->pieces < PIECES &&
        !exchange_is_abandoned(d->look.x)) {
        lookback_go_on(&d->look);
        return;
    }
    d->is_cut = d->look.read.has_more;
    d->pieces = PIECES;
    ask_end(d);
}

static void on_page(struct lookback *look)
{
    struct decisions *d = CONTAINER_OF(look, struct decisions, look);

    if (d->pieces < PIECES) {
        take_piece(d);
    } else {
        put_decided(d, &d->candidates[d->at++]);
        ask_end(d);
    }
}

static void on_over(struct lookback *look)
{
    decisions_free(CONTAINER_OF(look, struct decisions, look));
}

/* --- the question --- */

static bool read_name(struct exchange *x, struct str name, struct str *ret)
{
    return !exchange_param(x, name, ret) && ret->len <= NAME_BYTES &&
           !envelope_has_control(*ret);
}

static bool read_type(struct exchange *x, const struct asking **ret)
{
    struct str type;

    if (exchange_param(x, S("type"), &type))
        return false;
    for (size_t i = 0; i < COUNT(askings); i++)
        if (!type.ptr || str_eq(type, askings[i].name)) {
            *ret = &askings[i];
            return true;
        }
    return false;
}

static bool read_limit(struct exchange *x, size_t *ret)
{
    struct str text;
    uint64_t limit = DEFAULT_LIMIT;

    if (exchange_param(x, S("limit"), &text) ||
        (text.ptr && (str_to_u64(text, MAX_LIMIT, &limit) || limit == 0)))
        return false;
    *ret = limit;
    return true;
}

/* The kind narrows it, and the words of the tool's name. */
static void put_question(struct decisions *d)
{
    struct audit_query *query = &d->look.read.query;
    struct audit_terms terms;
    struct buf kind;

    buf_init(&kind, KIND_MAX_BYTES + NAME_BYTES);
    if (d->asking == &askings[0])
        buf_putf(&kind, "mcp/proposal:" STR_FMT "*", STR_ARG(d->method));
    else
        buf_put(&kind, S(ANNOUNCING));
    *query = (struct audit_query){ .event = S("envelope"),
                                   .topic = d->topic,
                                   .kind = arena_str(&d->arena, buf_str(&kind)),
                                   .order = AUDIT_NEWEST_FIRST,
                                   .limit = PIECE };
    if (d->tool.len && audit_terms_parse(d->tool, &terms) == OK)
        query->text = d->tool;
    buf_done(&kind);
}

void decisions_get(struct exchange *x)
{
    struct str method, tool;
    const struct asking *asking;
    struct decisions *d;
    enum dialect dialect;
    size_t limit;

    if (!entrance_visit(x, &dialect) || !entrance_may_look_back(x))
        return;
    if (!read_name(x, S("method"), &method) || !read_name(x, S("tool"), &tool) ||
        !read_type(x, &asking) || !read_limit(x, &limit)) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "`method` and `tool` are names, `type` is proposal or "
                      "authorization, `limit` a number from 1 to 50; each at most once.");
        return;
    }
    d = xcalloc(1, sizeof(*d));
    d->asking = asking;
    d->limit = limit;
    lookback_init(&d->look, x, on_page, on_over);
    arena_init(&d->arena, KEPT_BYTES);
    arena_init(&d->scratch, TREE_BYTES);
    d->topic = arena_str(&d->arena, x->topic);
    d->method = arena_str(&d->arena, method);
    d->tool = arena_str(&d->arena, tool);
    buf_init(&d->out, SIZE_MAX / 2);
    json_write_init(&d->w, &d->out);
    json_object_open(&d->w);
    json_key(&d->w, S("decisions"));
    json_array_open(&d->w);
    put_question(d);
    lookback_start(&d->look);
}
