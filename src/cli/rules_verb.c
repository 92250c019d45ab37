/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rules_verb.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "cli/cell.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/rules_room.h"

enum { VERBS = RULE_SUSPEND + 1, SHOWN_BYTES = 1 << 20 };

/* clang-format off */
static const struct { const char *kind, *done; } verbs[VERBS] = {
    [RULE_SUGGEST] = { "rule/suggest", "suggested" },
    [RULE_ADD]     = { "rule/add",     "added" },
    [RULE_ACCEPT]  = { "rule/accept",  "accepted" },
    [RULE_DECLINE] = { "rule/decline", "declined" },
    [RULE_DISABLE] = { "rule/disable", "disabled" },
    [RULE_ENABLE]  = { "rule/enable",  "enabled" },
    [RULE_REMOVE]  = { "rule/remove",  "removed" },
    [RULE_SUSPEND] = { "mcp/reject",   "suspended" },
};

/* What helps instead: a verb, and what it does; or nothing, for it is so already. */
static const struct { enum rule_verb verb; struct str state; const char *instead, *then; } hints[] = {
    { RULE_ACCEPT,  S("active"),    NULL,      NULL },
    { RULE_ACCEPT,  S("shadow"),    NULL,      NULL },
    { RULE_ACCEPT,  S("suspended"), "enable",  "lets it act again" },
    { RULE_ACCEPT,  S("disabled"),  "enable",  "lets it act again" },
    { RULE_DECLINE, S("active"),    "disable", "stops it" },
    { RULE_DECLINE, S("shadow"),    "disable", "stops it" },
    { RULE_DECLINE, S("suspended"), "disable", "keeps it from acting" },
    { RULE_DECLINE, S("declined"),  NULL,      NULL },
    { RULE_DECLINE, S("disabled"),  "remove",  "takes it away" },
    { RULE_ENABLE,  S("active"),    NULL,      NULL },
    { RULE_ENABLE,  S("suggested"), "accept",  "lets it act" },
    { RULE_ENABLE,  S("declined"),  "accept",  "takes it after all" },
    { RULE_DISABLE, S("disabled"),  NULL,      NULL },
    { RULE_DISABLE, S("suggested"), "decline", "says no to it" },
    { RULE_DISABLE, S("declined"),  NULL,      NULL },
};
/* clang-format on */

const char *rules_kind(enum rule_verb verb)
{
    return verbs[verb].kind;
}

/* --- why not --- */

static void put_command(struct buf *out, const struct rules_refusal *r, const char *verb)
{
    buf_putf(out, "`moot rules %s ", verb);
    plain_put(out, r->topic, PLAIN_LINE);
    buf_putc(out, ' ');
    plain_put(out, r->id, PLAIN_LINE);
    buf_putc(out, '`');
}

static bool put_hint(struct buf *out, const struct rules_refusal *r)
{
    for (size_t i = 0; i < COUNT(hints); i++) {
        if (hints[i].verb != r->verb || !str_eq(hints[i].state, r->state))
            continue;
        plain_put(out, r->id, PLAIN_LINE);
        buf_putf(out, " is %s" STR_FMT, str_eq(r->state, S("shadow")) ? "in " : "",
                 STR_ARG(r->state));
        if (!hints[i].instead) {
            buf_put(out, S(" already"));
            return true;
        }
        buf_put(out, S("; "));
        put_command(out, r, hints[i].instead);
        buf_putf(out, " %s", hints[i].then);
        return true;
    }
    return false;
}

static void put_forbidden(struct buf *out, const struct rules_refusal *r)
{
    if (str_eq(r->proposer, str_of(r->me))) {
        buf_put(out, S("it is about your own proposals; somebody else decides"));
        return;
    }
    plain_put(out, str_of(r->message), PLAIN_LINE);
    buf_put(out, S("; --token-file takes the token of a person"));
}

static void put_incapable(struct buf *out, const struct rules_refusal *r)
{
    buf_putf(out, "you may not send %s in ", rules_kind(r->verb));
    plain_put(out, r->topic, PLAIN_LINE);
    buf_put(out, r->verb == RULE_REMOVE || r->verb == RULE_SUGGEST
                     ? S("; admin.token may (--token-file)")
                     : S("; --token-file takes the token of somebody who may"));
}

/* "narrow: is not within what was suggested"; the gateway names a member of the payload,
 * which nobody has seen. */
static void put_message(struct buf *out, struct str message)
{
    static const struct str inside[] = { S("`payload.rule."), S("`payload.") };
    size_t end = str_find(message, '`', 1);

    for (size_t i = 0; i < COUNT(inside); i++)
        if (str_starts(message, inside[i]) && end < message.len) {
            plain_put(out, str_slice(message, inside[i].len, end), PLAIN_LINE);
            message = str_slice(message, end + 1, message.len);
        }
    plain_put(out, message, PLAIN_LINE);
}

void rules_put_refusal(struct buf *out, const struct rules_refusal *r)
{
    if (strcmp(r->error, "capability_violation") == 0) {
        put_incapable(out, r);
    } else if (strcmp(r->error, "forbidden") == 0) {
        put_forbidden(out, r);
    } else if (strcmp(r->error, "not_found") == 0) {
        plain_put(out, r->id, PLAIN_LINE);
        buf_put(out, S(" is not there any more; `moot rules list "));
        plain_put(out, r->topic, PLAIN_LINE);
        buf_put(out, S("` shows what is"));
    } else if (strcmp(r->error, "rule_state") != 0 || !put_hint(out, r)) {
        plain_put(out, r->id, PLAIN_LINE);
        buf_putf(out, " was not %s: ", verbs[r->verb].done);
        put_message(out, str_of(*r->message ? r->message : r->error));
    }
}

struct str rules_refused_state(const struct moot_outcome *outcome, struct arena *arena)
{
    const struct json *details;

    if (json_parse((struct str){ outcome->json.ptr, outcome->json.len }, arena, &details,
                   NULL))
        return S("");
    return json_text(json_find(details, S("state")));
}

/* --- asking --- */

bool rules_ask(struct str shown, const char *question, bool is_sure)
{
    struct buf out;

    if (is_sure || !cli_can_ask())
        return true;
    buf_init(&out, SHOWN_BYTES);
    rules_put_wrapped(&out, shown, progress_columns(STDERR_FILENO));
    fputs(buf_cstr(&out), stderr);
    buf_done(&out);
    return cli_ask(question);
}
