/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deciding on what is chosen in the inbox. A verdict begins with a key, is bound to the
 * item as it was shown then, and holds only if it is the same when it is spoken; so a
 * question that is overtaken by events is taken back.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "tui/pretty.h"
#include "tui/tell.h"
#include "tui/tui_priv.h"

enum { ARENA_BYTES = 256 << 20, HOUR_MS = 3600'000 };

void tui_drop_verdict(struct tui *tui)
{
    tui->decision.question = ASK_NOTHING;
    verdict_done(&tui->decision.verdict);
    buf_clear(&tui->decision.edited);
    (void)line_set(&tui->decision.line, S("")); /* it always fits */
}

/* --- questions --- */

static void ask(struct tui *tui, enum question question)
{
    tui->decision.question = question;
    tui->decision.is_shown = false;
    (void)line_set(&tui->decision.line, S("")); /* it always fits */
}

static const struct inbox_item *item_of(const struct tui *tui)
{
    return inbox_find(&tui->inbox, str_of(tui->decision.verdict.id));
}

bool tui_runs(const struct tui *tui, const struct inbox_item *item)
{
    return item->owner || inbox_is_enough(item, moot_may(tui->moot, "mcp/approve", "{}"));
}

/* Whom to ask comes before whether. */
static void ask_to_run(struct tui *tui)
{
    const struct inbox_item *item = item_of(tui);
    bool names_nobody =
        item && !item->owner && item->to_count == 0 && tui_runs(tui, item);

    ask(tui, names_nobody && !tui->decision.verdict.to ? ASK_TO : ASK_RUN);
}

/* Nobody runs what he could not read. */
static bool is_readable(struct tui *tui)
{
    if (tui->decision.is_whole)
        return true;
    tui_notice(tui, STYLE_BAD, "it is too long to be shown whole: approve it elsewhere");
    tui_drop_verdict(tui);
    return false;
}

static bool begin(struct tui *tui, enum verdict_type type)
{
    const char *why = "";

    tui_drop_verdict(tui);
    if (verdict_begin(&tui->decision.verdict, &tui->inbox, type, clock_wall_ms(), &why)) {
        tui_notice(tui, STYLE_BAD, "%s", why);
        return false;
    }
    return type != VERDICT_RUN || is_readable(tui);
}

void tui_begin_verdict(struct tui *tui, enum verdict_type type)
{
    if (!begin(tui, type))
        return;
    switch (type) {
    case VERDICT_NONE: break;
    case VERDICT_RUN: ask_to_run(tui); break;
    case VERDICT_REJECT: ask(tui, ASK_REASON); break;
    case VERDICT_WITHDRAW: ask(tui, ASK_WITHDRAW); break;
    case VERDICT_DELEGATE: ask(tui, ASK_DELEGATE); break;
    }
}

/* What the library knows of it now; NULL: nothing. */
static enum err check(struct tui *tui, const struct verdict *v, const char **ret_why)
{
    struct moot_proposal now;
    bool is_known = moot_find_proposal(tui->moot, v->id, &now);

    return verdict_check(v, &tui->inbox, is_known ? &now : NULL, clock_wall_ms(),
                         ret_why);
}

void tui_review_verdict(struct tui *tui)
{
    const char *why = "";

    if (tui->decision.question == ASK_NOTHING)
        return;
    if (check(tui, &tui->decision.verdict, &why) == OK)
        return;
    tui_notice(tui, STYLE_BAD, "%s", why);
    tui_drop_verdict(tui);
}

void tui_consider(struct tui *tui)
{
    const struct inbox_item *item = tui->inbox.chosen;
    struct buf kind, payload;
    struct json_writer w;

    tui->decision.may_run = true;
    if (!item || item->owner || !*item->params)
        return;
    buf_init(&kind, 8192);
    buf_init(&payload, TEXT_BYTES);
    buf_putf(&kind, "mcp/request:%s", item->method);
    if (item->name)
        buf_putf(&kind, ":%s", item->name);
    json_write_init(&w, &payload);
    json_object_open(&w);
    json_put_str(&w, S("method"), str_of(item->method));
    json_key(&w, S("params"));
    json_raw(&w, str_of(item->params));
    json_object_close(&w);
    tui->decision.may_run = moot_may(tui->moot, buf_cstr(&kind), buf_cstr(&payload));
    buf_done(&payload);
    buf_done(&kind);
}

/* --- editing --- */

/* Of a call of a tool or a prompt only the arguments are edited: another name would be
 * another call. */
static bool has_arguments(const struct inbox_item *item)
{
    struct str method = str_of(item->method);

    return str_eq(method, S("tools/call")) || str_eq(method, S("prompts/get"));
}

static void put_editable(const struct inbox_item *item, struct buf *out)
{
    const struct json *params, *part;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse(str_of(item->params), &arena, &params, NULL) == OK) {
        part = has_arguments(item) ? json_find(params, S("arguments")) : params;
        (void)pretty_put(out, part ? part->raw : S("{}"), PRETTY_LINES); /* it is JSON */
    } else {
        buf_put(out, str_of(item->params));
    }
    buf_putc(out, '\n');
    arena_done(&arena);
}

void tui_begin_edit(struct tui *tui)
{
    const struct inbox_item *item = tui->inbox.chosen;
    struct buf text;

    if (tui->decision.question == ASK_EDIT_AGAIN) {
        tui_edit(tui, buf_str(&tui->decision.edited));
        return;
    }
    if (!begin(tui, VERDICT_RUN))
        return;
    if (item->owner || item->needed > 1) {
        tui_notice(tui, STYLE_BAD,
                   item->owner ? "a call that is to be allowed cannot be edited"
                               : "where several approve nobody edits it");
        tui_drop_verdict(tui);
        return;
    }
    buf_init(&text, TEXT_BYTES);
    put_editable(item, &text);
    tui_edit(tui, buf_str(&text));
    buf_done(&text);
}

/* All members as they were, but for the arguments. */
static void put_edited(const struct inbox_item *item, struct str edited, struct buf *out)
{
    const struct json *params;
    struct json_writer w;
    struct arena arena;

    if (!has_arguments(item)) {
        buf_put(out, edited);
        return;
    }
    arena_init(&arena, ARENA_BYTES);
    json_write_init(&w, out);
    json_object_open(&w);
    if (json_parse(str_of(item->params), &arena, &params, NULL) == OK)
        JSON_FOREACH(member, params)
            if (!str_eq(member->key, S("arguments"))) {
                json_key(&w, member->key);
                json_raw(&w, member->raw);
            }
    json_key(&w, S("arguments"));
    json_raw(&w, edited);
    json_object_close(&w);
    arena_done(&arena);
}

static bool is_same_json(struct str a, struct str b)
{
    struct buf one, other;
    bool is_same;

    buf_init(&one, TEXT_BYTES);
    buf_init(&other, TEXT_BYTES);
    is_same = pretty_put(&one, a, PRETTY_LINE) == OK &&
              pretty_put(&other, b, PRETTY_LINE) == OK &&
              str_eq(buf_str(&one), buf_str(&other));
    buf_done(&other);
    buf_done(&one);
    return is_same;
}

static size_t line_of(struct str text, size_t at)
{
    size_t line = 1;

    for (size_t i = 0; i < at && i < text.len; i++)
        line += text.ptr[i] == '\n';
    return line;
}

/* Is it a JSON object? What is wrong is told. */
static bool is_object(struct tui *tui, struct str text)
{
    struct json_problem problem = { .what = "too long" };
    const struct json *tree = NULL;
    struct arena arena;
    bool is_good;

    arena_init(&arena, ARENA_BYTES);
    is_good = json_parse(text, &arena, &tree, &problem) == OK;
    if (!is_good)
        tui_notice(tui, STYLE_BAD, "this is no JSON: line %zu: %s",
                   line_of(text, problem.at), problem.what);
    else if (tree->type != JSON_OBJECT)
        tui_notice(tui, STYLE_BAD, "this is JSON, but no object: { … }");
    is_good = is_good && tree->type == JSON_OBJECT;
    arena_done(&arena);
    return is_good;
}

void tui_edited(struct tui *tui, struct str text)
{
    struct verdict *v = &tui->decision.verdict;
    const struct inbox_item *item = item_of(tui);
    struct buf params;

    tui->decision.question = ASK_RUN; /* so that it is reviewed */
    tui_review_verdict(tui);
    if (tui->decision.question == ASK_NOTHING || !item)
        return;
    if (!is_object(tui, text)) {
        buf_clear(&tui->decision.edited);
        buf_put(&tui->decision.edited, text);
        ask(tui, ASK_EDIT_AGAIN);
        return;
    }
    buf_init(&params, TEXT_BYTES);
    put_edited(item, str_trim(text), &params);
    free(TAKE(v->params));
    if (is_same_json(buf_str(&params), str_of(item->params)))
        tui_notice(tui, STYLE_DIM, "nothing was changed");
    else
        v->params = str_dup(buf_str(&params));
    buf_done(&params);
    tui->inbox.scroll = 0;
    ask_to_run(tui);
}

/* --- speaking --- */

static size_t count_open(const struct inbox *inbox)
{
    struct inbox_item *item = NULL;
    size_t count = 0;

    while ((item = inbox_next(inbox, item)) != NULL)
        count += inbox_waits(item) && !item->is_decided;
    return count;
}

/* Said; or why not. What is left to decide keeps the reader here. */
static void said(struct tui *tui, enum moot_err err, const char *done)
{
    struct inbox_item *item = inbox_find(&tui->inbox, str_of(tui->decision.verdict.id));
    struct buf why;

    if (err == MOOT_OK) {
        if (item)
            item->is_decided = true;
        tui_notice(tui, STYLE_GOOD, "%s", done);
    } else {
        buf_init(&why, NOTICE_BYTES);
        plain_put(&why, str_of(moot_why(tui->moot)), PLAIN_LINE);
        tui_notice(tui, STYLE_BAD, "nothing was done: %s",
                   why.len ? buf_cstr(&why) : moot_strerror(err));
        buf_done(&why);
    }
    tui_drop_verdict(tui);
    if (err == MOOT_OK && count_open(&tui->inbox) == 0)
        tui_set_view(tui, VIEW_ROOM);
}

/* One approval of several. */
static void vote(struct tui *tui, const struct inbox_item *item)
{
    struct buf done;

    buf_init(&done, 128);
    buf_putf(&done, "approved: %u of %u, it runs when others approve it, too",
             item->given + 1, item->needed);
    said(tui,
         moot_approve(tui->moot, &(struct moot_decision){ .id = item->id,
                                                          .on_done = tui_on_done,
                                                          .user = tui }),
         buf_cstr(&done));
    buf_done(&done);
}

static void allow(struct tui *tui)
{
    const struct verdict *v = &tui->decision.verdict;
    uint64_t until_ms = v->valid_ms ? clock_wall_ms() + v->valid_ms : 0;
    const char *done = "allowed, this once";

    if (v->valid_ms)
        done = v->valid_ms > HOUR_MS ? "allowed, and the same call for a day"
                                     : "allowed, and the same call for an hour";
    said(tui,
         moot_approve(tui->moot, &(struct moot_decision){ .id = v->id,
                                                          .valid_until_ms = until_ms,
                                                          .on_done = tui_on_done,
                                                          .user = tui }),
         done);
}

static void run(struct tui *tui)
{
    const struct verdict *v = &tui->decision.verdict;
    const struct inbox_item *item = item_of(tui);
    bool is_edited = v->params;

    if (item && item->owner) {
        allow(tui);
        return;
    }
    if (item && !tui_runs(tui, item)) {
        vote(tui, item);
        return;
    }
    free(tui->decision.tried);
    tui->decision.tried = is_edited ? NULL : xstrdup(v->id);
    said(tui,
         moot_fulfil(tui->moot, &(struct moot_decision){ .id = v->id,
                                                         .to = v->to,
                                                         .params = v->params,
                                                         .on_done = tui_on_done,
                                                         .user = tui }),
         is_edited ? "approved, as you edited it" : "approved");
}

/* How many are needed is told with the first approval, or with this. */
bool tui_approve_instead(struct tui *tui, const struct moot_outcome *outcome)
{
    CLEANUP(xfreep) char *id = TAKE(tui->decision.tried);
    const struct inbox_item *item;
    struct moot_proposal p;

    if (!id || outcome->type != MOOT_REFUSED ||
        !str_eq(str_of(outcome->error), S("proposal_state")) ||
        !moot_find_proposal(tui->moot, id, &p) || p.state != MOOT_OPEN || p.needed < 2)
        return false;
    (void)inbox_update(&tui->inbox, &p); /* what counted as run has gone from it */
    item = inbox_find(&tui->inbox, str_of(id));
    if (!item || tui_runs(tui, item) || item->is_approved)
        return false;
    if (moot_approve(tui->moot, &(struct moot_decision){
                                    .id = id, .on_done = tui_on_done, .user = tui }))
        return false;
    tui_notice(tui, STYLE_GOOD, "approved: %u of %u, it runs when others approve it, too",
               item->given + 1, item->needed);
    return true;
}

static void delegate(struct tui *tui)
{
    struct str name = str_trim(line_text(&tui->decision.line));
    CLEANUP(xfreep) char *text = str_dup(name);
    struct moot_participant who;
    struct buf done;

    if (str_starts(name, S("@")))
        memmove(text, text + 1, name.len);
    if (!moot_find_participant(tui->moot, text, &who)) {
        tui_notice(tui, STYLE_BAD, "nobody of that name is here");
        return;
    }
    buf_init(&done, NOTICE_BYTES);
    buf_put(&done, S("left to "));
    tell_put_name(&done, str_of(text));
    said(tui,
         moot_delegate(tui->moot, &(struct moot_decision){ .id = tui->decision.verdict.id,
                                                           .to = text,
                                                           .on_done = tui_on_done,
                                                           .user = tui }),
         buf_cstr(&done));
    buf_done(&done);
}

static void reject(struct tui *tui, struct str reason)
{
    CLEANUP(xfreep) char *text = reason.len ? str_dup(reason) : NULL;

    said(tui,
         moot_reject(tui->moot, &(struct moot_decision){ .id = tui->decision.verdict.id,
                                                         .reason = text,
                                                         .on_done = tui_on_done,
                                                         .user = tui }),
         item_of(tui) && item_of(tui)->owner ? "denied" : "rejected");
}

static void choose_addressee(struct tui *tui)
{
    struct str name = str_trim(line_text(&tui->decision.line));
    CLEANUP(xfreep) char *text = str_dup(name);
    struct moot_participant who;

    if (str_starts(name, S("@")))
        memmove(text, text + 1, name.len);
    if (!moot_find_participant(tui->moot, text, &who)) {
        tui_notice(tui, STYLE_BAD, "nobody of that name is here");
        return;
    }
    free(tui->decision.verdict.to);
    tui->decision.verdict.to = TAKE(text);
    ask_to_run(tui);
}

void tui_conclude(struct tui *tui)
{
    enum question question = tui->decision.question;
    CLEANUP(xfreep) char *reason = str_dup(str_trim(line_text(&tui->decision.line)));

    tui_review_verdict(tui);
    if (tui->decision.question == ASK_NOTHING)
        return;
    switch (question) {
    case ASK_NOTHING:
    case ASK_EDIT_AGAIN: break;
    case ASK_RUN:
        if (is_readable(tui))
            run(tui);
        break;
    case ASK_TO: choose_addressee(tui); break;
    case ASK_REASON: reject(tui, str_of(reason)); break;
    case ASK_DELEGATE: delegate(tui); break;
    case ASK_WITHDRAW:
        said(tui, moot_cancel(tui->moot, tui->decision.verdict.id, NULL), "withdrawn");
        break;
    }
}

void tui_conclude_for(struct tui *tui, uint64_t valid_ms)
{
    tui->decision.verdict.valid_ms = valid_ms;
    tui_conclude(tui);
}

void tui_reject(struct tui *tui, struct str id, struct str reason)
{
    if (!inbox_choose(&tui->inbox, id)) {
        tui_notice(tui, STYLE_BAD, "no such proposal is open");
        return;
    }
    if (!begin(tui, VERDICT_REJECT))
        return;
    ask(tui, ASK_REASON);
    tui_review_verdict(tui);
    if (tui->decision.question == ASK_REASON)
        reject(tui, reason);
}
