/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deciding on what others proposed, or want authorized.
 */
#include "base/cleanup.h"
#include "json/json.h"
#include "participant/calls_priv.h"
#include "participant/occupant_priv.h"
#include "participant/proposals.h"

enum { TREE_FACTOR = 96 }; /* bytes of a tree for each byte of its text */

static enum err fail(enum err err, const char **ret_why, const char *why)
{
    if (ret_why)
        *ret_why = why;
    return err;
}

/* What is ours to decide. */
static enum err find_open(struct occupant *o, const struct deciding *deciding,
                          const struct proposed **ret, const char **ret_why)
{
    const struct proposed *p = occupant_find_proposal(o, deciding->id);

    if (!p)
        return fail(ERR_NOT_FOUND, ret_why, "no such proposal is known");
    if (p->state != PROPOSED_OPEN || p->expires_ms <= o->now.wall_ms)
        return fail(ERR_PROPOSAL_STATE, ret_why, "it is no longer open");
    if (p->is_mine)
        return fail(ERR_PROPOSAL_STATE, ret_why, "nobody decides on what he asked for");
    if (str_eq(p->owner, o->id))
        return fail(ERR_PROPOSAL_STATE, ret_why, "it is ourselves who ask");
    if (p->asked.len && !str_eq(p->asked, o->id))
        return fail(ERR_PROPOSAL_STATE, ret_why, "somebody else is asked to decide");
    if (!calls_have_room(o->calls))
        return fail(ERR_OVERLOAD, ret_why, "too much waits already");
    *ret = p;
    return OK;
}

/* --- a word --- */

static enum err send_word(struct occupant *o, struct draft *draft,
                          const struct deciding *deciding, const char **ret_why)
{
    struct str id = draft->head.id;
    enum err err = draft_send(o, draft);

    if (err)
        return fail(err, ret_why, draft->why);
    if (deciding->ops.on_done)
        calls_add(o, &(struct call_terms){ .stage = CALL_SENT,
                                           .id = id,
                                           .ops = deciding->ops,
                                           .user = deciding->user });
    return OK;
}

static enum err authorize(struct occupant *o, const struct proposed *p,
                          const struct deciding *deciding, struct str decision,
                          const char **ret_why)
{
    struct say_decision said = {
        .id = p->authorization_id,
        .decision = decision,
        .reason = deciding->reason,
        .valid_until_ms = deciding->valid_until_ms,
    };
    struct draft draft = {};
    struct say_head head = {
        .id = draft_id(o),
        .kind = S("mcp/request:authorization/respond"),
        .correlation_id = p->is_announced ? p->id : S(""),
        .to = &p->owner,
        .to_count = 1,
    };

    if (str_eq(decision, S("delegate")))
        said.delegate = deciding->to;
    draft_begin(o, &draft, &head);
    say_authorization(&draft.w, &said);
    return send_word(o, &draft, deciding, ret_why);
}

/* A word about a proposal, or the decision on an authorization. */
struct word {
    struct str kind;
    struct str decision;
};

static enum err decide(struct occupant *o, const struct deciding *deciding,
                       struct word word, struct moment now, const char **ret_why)
{
    struct say_head head = { .kind = word.kind };
    const struct proposed *p;
    struct draft draft = {};
    enum err err;

    o->now = now;
    err = find_open(o, deciding, &p, ret_why);
    if (err)
        return err;
    if (p->owner.len)
        return authorize(o, p, deciding, word.decision, ret_why);
    head.id = draft_id(o);
    head.correlation_id = p->id;
    draft_begin(o, &draft, &head);
    say_reason(&draft.w, deciding->reason);
    return send_word(o, &draft, deciding, ret_why);
}

enum err occupant_reject(struct occupant *o, const struct deciding *deciding,
                         struct moment now, const char **ret_why)
{
    return decide(o, deciding, (struct word){ S("mcp/reject"), S("deny") }, now, ret_why);
}

enum err occupant_approve(struct occupant *o, const struct deciding *deciding,
                          struct moment now, const char **ret_why)
{
    return decide(o, deciding, (struct word){ S("mcp/approve"), S("approve") }, now,
                  ret_why);
}

enum err occupant_delegate(struct occupant *o, const struct deciding *deciding,
                           struct moment now, const char **ret_why)
{
    const struct proposed *p;
    enum err err;

    o->now = now;
    err = find_open(o, deciding, &p, ret_why);
    if (err)
        return err;
    if (!p->owner.len)
        return fail(ERR_PROPOSAL_STATE, ret_why, "only an authorization is delegated");
    if (!deciding->to.len)
        return fail(ERR_INVALID, ret_why, "it is not said who is to decide");
    if (str_eq(deciding->to, p->proposer) || str_eq(deciding->to, p->owner) ||
        str_eq(deciding->to, o->id))
        return fail(ERR_INVALID, ret_why, "it is to be decided by somebody else");
    return authorize(o, p, deciding, S("delegate"), ret_why);
}

/* --- the call --- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The bytes that mean something: all but white space outside of strings. */
struct reader {
    struct str text;
    size_t at;
    bool is_inside;  /* of a string */
    bool is_escaped; /* the next byte of it */
};

static int next_byte(struct reader *r)
{
    char c;

    while (!r->is_inside && r->at < r->text.len && is_space(r->text.ptr[r->at]))
        r->at++;
    if (r->at == r->text.len)
        return -1;
    c = r->text.ptr[r->at++];
    if (c == '"' && !r->is_escaped)
        r->is_inside = !r->is_inside;
    r->is_escaped = r->is_inside && c == '\\' && !r->is_escaped;
    return (unsigned char)c;
}

/* The same JSON but for white space. */
static bool says_the_same(struct str a, struct str b)
{
    struct reader left = { .text = a };
    struct reader right = { .text = b };

    for (;;) {
        int byte = next_byte(&left);

        if (byte != next_byte(&right))
            return false;
        if (byte < 0)
            return true;
    }
}

/* A name that stands twice means different things to different readers: what runs would
 * not be what somebody was shown. */
static bool is_plain(struct str params)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *tree;

    arena_init(&arena, params.len * TREE_FACTOR + OCCUPANT_SCRATCH);
    return json_parse(params, &arena, &tree, NULL) == OK;
}

/* Whom and what to ask: as proposed, as far as that was said. */
static enum err read_terms(struct occupant *o, const struct proposed *p,
                           const struct deciding *deciding, struct call_terms *ret,
                           const char **ret_why)
{
    bool names = p->to_count;

    if (!names && !deciding->to.len)
        return fail(ERR_INVALID, ret_why, "it is not said who is asked");
    if (names && deciding->to.len &&
        (p->to_count != 1 || !str_eq(p->to[0], deciding->to)))
        return fail(ERR_INVALID, ret_why, "the proposal says who is asked");
    if (deciding->rule.len && deciding->params.len)
        return fail(ERR_INVALID, ret_why, "a rule allows what is proposed, unedited");
    if (deciding->params.len && !draft_is_object(o, deciding->params))
        return fail(ERR_INVALID, ret_why, "params is not a JSON object");
    if (!p->params.len)
        return fail(ERR_PROPOSAL_STATE, ret_why, "what is proposed is not known in full");
    if (!is_plain(deciding->params.len ? deciding->params : p->params))
        return fail(ERR_INVALID, ret_why, "a name stands twice in params, or too deeply");
    *ret = (struct call_terms){
        .stage = CALL_ASKED,
        .method = p->method,
        .name = p->name,
        .to = names ? p->to : &deciding->to,
        .to_count = names ? p->to_count : 1,
        .params = deciding->params.len ? deciding->params : p->params,
        .timeout_ms = deciding->timeout_ms,
        .ops = deciding->ops,
        .user = deciding->user,
    };
    return OK;
}

enum err occupant_fulfil(struct occupant *o, const struct deciding *deciding,
                         struct moment now, const char **ret_why)
{
    const struct proposed *p;
    struct call_terms terms;
    enum err err;

    o->now = now;
    err = find_open(o, deciding, &p, ret_why);
    if (err)
        return err;
    if (p->owner.len && deciding->rule.len)
        return fail(ERR_PROPOSAL_STATE, ret_why, "rules are for proposals");
    if (p->owner.len)
        return authorize(o, p, deciding, S("approve"), ret_why);
    if (deciding->rule.len && !occupant_may(o, S("rule/use"), (struct json_span){}))
        return fail(ERR_FORBIDDEN, ret_why, "we may not use rules");
    err = read_terms(o, p, deciding, &terms, ret_why);
    if (err)
        return err;
    terms.id = draft_id(o);
    err = calls_send_request(
        o, &terms,
        &(struct say_head){ .correlation_id = p->id,
                            .rule = deciding->rule,
                            .is_edited = !says_the_same(terms.params, p->params) },
        ret_why);
    if (!err)
        calls_add(o, &terms);
    return err;
}
