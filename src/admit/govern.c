/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/govern.h"

#include <string.h>

#include "envelope/dialect.h"
#include "policy/holding.h"
#include "policy/rulings.h"

static const struct str request_prefix = S("mcp/request:");
static const struct str proposal_prefix = S("mcp/proposal:");

static bool is_agent(const struct admission *a)
{
    return a->sender->type == TYPE_AGENT;
}

static struct ruling_answer ask_rulings(const struct admission *a,
                                        const struct kind *kind)
{
    return rulings_judge(a->room->rulings,
                         &(struct ruling_question){ .topic = a->room->topic.name,
                                                    .from = a->sender->id,
                                                    .type = a->sender->type,
                                                    .kind = kind,
                                                    .payload = a->env.payload,
                                                    .scratch = a->scratch });
}

static bool is_braked(const struct admission *a, const struct kind *kind)
{
    return a->room->has_brake && is_agent(a) && kind->type == KIND_REQUEST &&
           !ruling_spares(kind);
}

/* --- what a person has said yes to --- */

/* The one `params` of a payload; false: there are several, or none can be told. */
static bool find_params(struct json_span payload, struct json_span *ret)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    *ret = (struct json_span){};
    json_scan_init(&scan, payload.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        if (!json_string_is(m.key, S("params")))
            continue;
        if (ret->text.ptr || m.value.type != JSON_OBJECT)
            return false;
        *ret = m.value;
    }
    return !err;
}

/* The next member that is more than an aside. */
static bool next_member(struct json_scan *scan, struct json_member *m, enum err *err)
{
    while (json_object_next(scan, m, err))
        if (!json_string_is(m->key, S("_meta")))
            return true;
    return false;
}

/* The same members in the same order, byte for byte; `_meta` aside. */
static bool are_same(struct json_span a, struct json_span b)
{
    struct json_scan left, right;
    struct json_member l, r;
    bool has_left, has_right;
    enum err err = OK;

    if (!a.text.ptr || !b.text.ptr)
        return a.text.ptr == b.text.ptr;
    json_scan_init(&left, a.text, JSON_MAX_DEPTH);
    json_scan_init(&right, b.text, JSON_MAX_DEPTH);
    if (json_object_begin(&left) || json_object_begin(&right))
        return false;
    do {
        has_left = next_member(&left, &l, &err);
        has_right = !err && next_member(&right, &r, &err);
        if (err || has_left != has_right)
            return false;
        if (has_left &&
            (!str_eq(l.key.text, r.key.text) || l.value.type != r.value.type ||
             !str_eq(l.value.text, r.value.text)))
            return false;
    } while (has_left);
    return true;
}

/* What people approved is what was proposed: others ask for that and nothing else,
 * whatever the mode of the topic is. */
static bool asks_as_proposed(const struct admission *a, const struct proposal *proposal)
{
    struct str text = { proposal->envelope, proposal->envelope_bytes };
    struct json_span proposed, asked;
    struct envelope env;

    return str_eq(a->env.kind.context, proposal->kind.context) &&
           envelope_scan(text, JSON_MAX_DEPTH, DIALECT_SLASH, a->scratch, &env, NULL) ==
               OK &&
           find_params(env.payload, &proposed) && find_params(a->env.payload, &asked) &&
           are_same(proposed, asked);
}

/* A person has said yes to just this: agents cannot wave each other's calls through. */
static bool has_a_persons_word(const struct admission *a)
{
    const struct proposal *proposal = a->effect.proposal;

    if (a->effect.type != EFFECT_FULFIL || proposal->state != PROPOSAL_OPEN)
        return false;
    return a->sender->type == TYPE_HUMAN ||
           (proposal->has_human_approval && asks_as_proposed(a, proposal));
}

/* --- judging --- */

/* PREFIX and what stands behind the first colon of the kind; in the arena. */
static struct str respell(const struct admission *a, struct str prefix)
{
    struct str kind = a->env.kind.text;
    struct str rest = str_slice(kind, str_find(kind, ':', 0) + 1, kind.len);
    char *text = arena_alloc(a->scratch, prefix.len + rest.len);

    if (!text)
        return S("");
    memcpy(text, prefix.ptr, prefix.len);
    memcpy(text + prefix.len, rest.ptr, rest.len);
    return (struct str){ text, prefix.len + rest.len };
}

/* As whoever sent it writes kinds. */
static struct str proposal_kind(const struct admission *a)
{
    struct str kind = respell(a, proposal_prefix);
    char *space;

    if (a->dialect == DIALECT_SLASH || kind.len == 0)
        return kind;
    space = arena_alloc(a->scratch, KIND_MAX_BYTES);
    return space ? kind_in(kind, a->dialect, space) : kind;
}

static enum err refuse(struct refusal *r, const char *policy, struct str message,
                       const char *what)
{
    (void)refusal_set(r, ERR_CAPABILITY_VIOLATION, S(""), what);
    r->policy = policy;
    r->message = message;
    return ERR_CAPABILITY_VIOLATION;
}

enum err govern(struct admission *a, struct refusal *r)
{
    const struct kind *kind = &a->env.kind;
    bool is_request = kind->type == KIND_REQUEST;
    struct ruling_answer answer;
    enum err err = OK;

    if (!kind_needs_capability(kind))
        return OK;
    if (is_request && !a->was_checked)
        err = admission_compare_payload(a, r);
    if (err)
        return err;
    answer = ask_rulings(a, kind);
    if (answer.ruling == RULING_DENY)
        return refuse(r, "deny", answer.message, "the policy of this server denies it");
    if (has_a_persons_word(a))
        return OK;
    if (answer.ruling == RULING_ASK)
        err = refuse(r, "ask", answer.message,
                     "the policy of this server asks for a proposal");
    else if (is_braked(a, kind))
        err = refuse(r, "brake", S(""),
                     "the brake is on here: what agents call needs a proposal");
    if (err)
        r->propose_instead = proposal_kind(a);
    return err;
}

/* Could the sender send the request, as far as capabilities go? */
static bool may_request(const struct admission *a, struct str kind)
{
    struct capset *set = admission_capabilities(a);
    struct rights_key who = { a->room->topic.name, a->sender->id };
    struct rights_use use = { kind, a->env.payload, a->scratch, NULL };

    switch (capset_may(set, kind)) {
    case VERDICT_ALLOW: return true;
    case VERDICT_INSPECT:
        if (capset_inspect(set, kind, a->env.payload, a->scratch))
            return true;
        break;
    case VERDICT_DENY: break;
    }
    return a->room->rights && rights_limited(a->room->rights, who, &use, a->wall_ms);
}

bool govern_may_propose(struct admission *a)
{
    struct kind kind;
    struct str text;

    if (a->env.kind.type != KIND_PROPOSAL)
        return false;
    text = respell(a, request_prefix);
    if (text.len == 0 || kind_parse(text, &kind) || !may_request(a, text))
        return false;
    switch (ask_rulings(a, &kind).ruling) {
    case RULING_DENY: return false;
    case RULING_ASK: break;
    case RULING_NONE:
    case RULING_ALLOW:
        if (!is_braked(a, &kind))
            return false;
        break;
    }
    a->needs_strict = true;
    a->is_asked_for = true;
    return true;
}
