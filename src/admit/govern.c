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

/* A person has said yes to just this, whatever the mode of the topic is: agents cannot
 * wave each other's calls through. */
static bool has_a_persons_word(const struct admission *a)
{
    const struct proposal *proposal = a->effect.proposal;

    if (a->effect.type != EFFECT_FULFIL || proposal->state != PROPOSAL_OPEN)
        return false;
    return a->sender->type == TYPE_HUMAN ||
           a->env.rule.ptr || /* it was judged, and a person has accepted it */
           (proposal->has_human_approval && ledger_is_as_proposed(proposal, &a->env));
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
