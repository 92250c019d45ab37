/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/regime.h"

#include "base/cleanup.h"
#include "policy/capability.h"

enum { SPACE_BYTES = 2 * KIND_MAX_BYTES };

bool regime_governs(const struct regime *regime)
{
    return regime && (regime->rulings || regime->has_brake);
}

/* Rows are those that concern the sender: whose and where is settled. */
static struct ruling_answer ask(const struct regime *regime,
                                const struct regime_case *about)
{
    return rulings_judge(regime->rulings,
                         &(struct ruling_question){ .topic = S("-"),
                                                    .from = S("-"),
                                                    .type = regime->type,
                                                    .kind = about->kind,
                                                    .payload = about->payload,
                                                    .scratch = about->arena });
}

static bool is_braked(const struct regime *regime, const struct kind *kind)
{
    return regime->has_brake && regime->type == TYPE_AGENT &&
           kind->type == KIND_REQUEST && !ruling_spares(kind);
}

static void put_proposal(const struct kind *kind, struct buf *out)
{
    struct str text = kind->text;

    buf_put(out, S("; it may be proposed: mcp/proposal:"));
    buf_put(out, str_slice(text, str_find(text, ':', 0) + 1, text.len));
    buf_put(out, S(", and a person's word lets it pass"));
}

static void put_row(const struct regime *regime, const struct ruling_answer *answer,
                    const char *verb, struct buf *out)
{
    buf_putf(out, "row %zu of policy %s", regime->numbers[answer->row], verb);
    if (answer->message.len)
        buf_putf(out, ": " STR_FMT, STR_ARG(answer->message));
}

static void put_free(const struct regime *regime, const struct ruling_answer *answer,
                     struct buf *out)
{
    if (answer->ruling == RULING_ALLOW)
        put_row(regime, answer, "allows it", out);
    else
        buf_put(out,
                regime->rulings ? S("no row of policy fits") : S("there is no policy"));
    if (regime->has_brake)
        buf_put(out, S("; the brake is on, and spares this"));
    if (answer->may_differ)
        buf_put(out, S("; with another payload that may differ: --envelope explains a "
                       "whole envelope"));
}

bool regime_explain(const struct regime *regime, const struct regime_case *about,
                    struct buf *out)
{
    struct ruling_answer answer = ask(regime, about);

    if (answer.ruling == RULING_DENY) {
        put_row(regime, &answer, "denies it", out);
        return false;
    }
    if (answer.ruling == RULING_ASK) {
        put_row(regime, &answer, "asks for a proposal", out);
        put_proposal(about->kind, out);
        return false;
    }
    if (is_braked(regime, about->kind)) {
        buf_put(out, S("the brake is on: what agents call needs a proposal"));
        put_proposal(about->kind, out);
        return false;
    }
    put_free(regime, &answer, out);
    return true;
}

static bool is_covered(struct str kind, const struct regime_case *about,
                       struct str_list capabilities)
{
    for (size_t i = 0; i < capabilities.count; i++) {
        struct capability *capability = NULL;
        bool allows;

        if (capability_new(capabilities.items[i], &capability, NULL))
            continue;
        allows = capability_is_object(capability) && !about->payload.text.ptr
                     ? false
                     : capability_allows(capability, kind, about->payload, about->arena);
        capability_free(capability);
        if (allows)
            return true;
    }
    return false;
}

bool regime_lets_propose(const struct regime *regime, const struct regime_case *about,
                         struct str_list capabilities)
{
    struct str text = about->kind->text;
    struct regime_case asked = *about;
    CLEANUP(buf_done) struct buf space = {};
    struct kind kind;
    enum ruling ruling;

    if (!regime_governs(regime) || about->kind->type != KIND_PROPOSAL)
        return false;
    buf_init(&space, SPACE_BYTES);
    buf_put(&space, S("mcp/request:"));
    buf_put(&space, str_slice(text, str_find(text, ':', 0) + 1, text.len));
    if (kind_parse(buf_str(&space), &kind) ||
        !is_covered(buf_str(&space), about, capabilities))
        return false;
    asked.kind = &kind;
    ruling = ask(regime, &asked).ruling;
    return ruling == RULING_ASK || (ruling != RULING_DENY && is_braked(regime, &kind));
}
