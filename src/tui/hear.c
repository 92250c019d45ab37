/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library tells becomes what is shown.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "json/json.h"
#include "tui/tell.h"
#include "tui/tui_priv.h"

enum { ADDRESSEES = 64, HOOK_BYTES = 32 << 20 };

static struct str str_from(struct moot_str text)
{
    return (struct str){ text.ptr, text.len };
}

/* A sentence of ours in the timeline; words of others in it are plain already. */
static void note(struct tui *tui, enum entry_type type, struct str about,
                 const struct buf *text)
{
    (void)timeline_note(&tui->timeline, type, about, buf_str(text), clock_wall_ms());
}

/* --- messages --- */

/* Those that have a handler of their own, or fill the inbox. */
static bool is_told_elsewhere(struct str kind)
{
    static const struct str kinds[] = { S("system/welcome"),
                                        S("system/presence"),
                                        S("system/error"),
                                        S("system/gap"),
                                        S("system/proposal"),
                                        S("mcp/request:authorization/list"),
                                        S("mcp/response:authorization/list") };

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (str_eq(kinds[i], kind))
            return true;
    return false;
}

static bool is_quiet(const struct tui *tui, const char *id)
{
    for (size_t i = 0; id && *id && i < QUIET_IDS; i++)
        if (strcmp(tui->quiet[i], id) == 0)
            return true;
    return false;
}

/* What was said while we were away has the time that its sender wrote, if any. */
static uint64_t time_of(const struct moot_message *m)
{
    uint64_t now = clock_wall_ms();
    uint64_t said;

    if (m->is_replay && m->ts && clock_parse(str_of(m->ts), &said) == OK && said < now)
        return said;
    return now;
}

static void on_message(struct moot *, void *user, const struct moot_message *m)
{
    struct tui *tui = user;
    struct str to[ADDRESSEES];
    size_t count = 0;
    struct telling telling;

    tui->needs_drawing = true;
    if (is_told_elsewhere(str_of(m->kind)) || is_quiet(tui, m->id) ||
        is_quiet(tui, m->correlation_id))
        return;
    if (str_eq(str_of(m->kind), S("mcp/request:notifications/tools/list_changed")))
        tools_forget(&tui->tools, str_of(m->from));
    for (; count < m->to_count && count < ADDRESSEES; count++)
        to[count] = str_of(m->to[count]);
    tell_init(&telling);
    tell(&telling, &(struct tell_envelope){ str_of(m->kind), str_from(m->payload), to,
                                            count, str_from(m->text) });
    (void)timeline_say(&tui->timeline,
                       &(struct said){ .id = str_of(m->id),
                                       .from = str_of(m->from),
                                       .correlation_id = str_of(m->correlation_id),
                                       .raw = str_from(m->text),
                                       .to = to,
                                       .to_count = count,
                                       .when_ms = time_of(m),
                                       .is_mine = m->is_mine },
                       &telling);
    tell_done(&telling);
}

/* --- the connection --- */

static void on_state(struct moot *, void *user, enum moot_state state, const char *why)
{
    struct tui *tui = user;

    tui->needs_drawing = true;
    tui->status.state = state;
    if (state == MOOT_CONNECTING)
        return; /* why the last one broke is still worth knowing */
    buf_clear(&tui->status.why);
    plain_put(&tui->status.why, str_slice(str_of(why), 0, 512), PLAIN_LINE);
}

static void put_first_words(struct tui *tui, struct buf *out)
{
    buf_put(out, S("You are "));
    tell_put_name(out, str_of(moot_id(tui->moot)));
    buf_put(out, S(". F1 or /help tells what can be done here."));
}

static void on_proposal(struct moot *m, void *user, const struct moot_proposal *p);

static void on_welcome(struct moot *m, void *user, bool resumed)
{
    struct tui *tui = user;
    struct moot_proposal proposal;
    size_t at = 0;
    struct buf text;

    tui->needs_drawing = true;
    tui->people_are_stale = true;
    if (!tui->status.has_joined) {
        buf_init(&text, 1024);
        put_first_words(tui, &text);
        note(tui, ENTRY_NOTE, S(""), &text);
        buf_done(&text);
    }
    tui->status.has_joined = true;
    inbox_know(&tui->inbox, moot_id(m));
    while (moot_next_proposal(m, &at, &proposal))
        on_proposal(m, tui, &proposal);
    if (!resumed)
        tui_ask_pending(tui);
}

static void on_gap(struct moot *, void *user, uint64_t missed)
{
    struct tui *tui = user;
    struct buf text;

    tui->needs_drawing = true;
    tui->status.has_gap = true;
    tui->status.missed = missed;
    buf_init(&text, 128);
    if (missed)
        buf_putf(&text, "%llu messages were missed here", (unsigned long long)missed);
    else
        buf_put(&text, S("some messages were missed here"));
    note(tui, ENTRY_WARNING, S(""), &text);
    buf_done(&text);
}

/* --- who is here --- */

static void on_presence(struct moot *, void *user, enum moot_presence change,
                        const struct moot_participant *who)
{
    struct tui *tui = user;

    tui->needs_drawing = true;
    tui->people_are_stale = true;
    switch (change) {
    case MOOT_IS_HERE: break;
    case MOOT_JOINS:
        timeline_presence(&tui->timeline, S("joined"), str_of(who->id), clock_wall_ms());
        break;
    case MOOT_LEAVES:
        timeline_presence(&tui->timeline, S("left"), str_of(who->id), clock_wall_ms());
        tools_forget(&tui->tools, str_of(who->id));
        break;
    case MOOT_CHANGES:
        timeline_presence(&tui->timeline, S("may do something else now"), str_of(who->id),
                          clock_wall_ms());
        break;
    }
}

void tui_refresh_people(struct tui *tui)
{
    struct str me = str_of(moot_id(tui->moot));
    struct moot_participant who;
    size_t at = 0;

    if (!tui->people_are_stale)
        return;
    tui->people_are_stale = false;
    people_clear(&tui->people);
    if (me.len)
        people_add(&tui->people, me, S(""), str_from(moot_capabilities(tui->moot)));
    while (moot_next_participant(tui->moot, &at, &who))
        if (!str_eq(str_of(who.id), me))
            people_add(&tui->people, str_of(who.id), str_of(who.type),
                       str_from(who.capabilities));
    people_sort(&tui->people, me);
}

static struct str capabilities_of(const struct tui *tui, const struct person *person)
{
    struct moot_participant who;

    if (person->is_me)
        return str_from(moot_capabilities(tui->moot));
    if (moot_find_participant(tui->moot, person->id, &who))
        return str_from(who.capabilities);
    return S("[]");
}

void tui_describe_person(struct tui *tui)
{
    const struct person *person;
    const struct shelf *shelf;
    struct buf *out = &tui->person;

    buf_clear(out);
    if (tui->people.count == 0)
        return;
    person = &tui->people.list[people_chosen(&tui->people)];
    plain_put(out, str_of(person->id), PLAIN_LINE);
    buf_put(out, S(" may send\n\n"));
    people_put_capabilities(out, capabilities_of(tui, person));
    shelf = tools_find(&tui->tools, str_of(person->id));
    if (!shelf)
        return;
    buf_put(out, S("\nTools\n\n"));
    shelf_put(out, shelf);
}

/* --- proposals --- */

static void put_text(struct json_writer *w, struct str key, const char *value)
{
    if (value && *value)
        json_put_str(w, key, str_of(value));
}

static void put_proposal(struct json_writer *w, const struct tui *tui,
                         const struct moot_proposal *p)
{
    json_object_open(w);
    json_put_str(w, S("type"), p->owner ? S("authorization") : S("proposal"));
    json_put_str(w, S("topic"), str_of(tui->topic));
    put_text(w, S("id"), p->id);
    put_text(w, S("proposer"), p->proposer);
    put_text(w, S("owner"), p->owner);
    put_text(w, S("method"), p->method);
    put_text(w, S("name"), p->name);
    json_key(w, S("to"));
    json_array_open(w);
    for (size_t i = 0; i < p->to_count; i++)
        json_str(w, str_of(p->to[i]));
    json_array_close(w);
    if (p->params.len) {
        json_key(w, S("params"));
        json_raw(w, str_from(p->params));
    }
    put_text(w, S("reason"), p->reason);
    if (p->expires_ms)
        json_put_time(w, S("expires_at"), p->expires_ms);
    json_object_close(w);
}

/* Whoever wants to be told outside the terminal (--on-proposal). */
static void tell_hook(struct tui *tui, const struct moot_proposal *p)
{
    static const char *const names[] = {
        "MOOT_PROPOSAL_ID",   "MOOT_PROPOSAL_TYPE",  "MOOT_PROPOSAL_TOPIC",
        "MOOT_PROPOSAL_FROM", "MOOT_PROPOSAL_OWNER", "MOOT_PROPOSAL_METHOD",
        "MOOT_PROPOSAL_NAME", "MOOT_PROPOSAL_TO",    "MOOT_PROPOSAL_REASON",
    };
    struct str values[COUNT(names)] = {
        str_of(p->id),      p->owner ? S("authorization") : S("proposal"),
        str_of(tui->topic), str_of(p->proposer),
        str_of(p->owner),   str_of(p->method),
        str_of(p->name),    str_of(p->to_count ? p->to[0] : NULL),
        str_of(p->reason),
    };
    struct json_writer w;
    struct buf json;

    buf_init(&json, HOOK_BYTES);
    json_write_init(&w, &json);
    put_proposal(&w, tui, p);
    if (hook_tell(&tui->hook,
                  &(struct hook_call){ buf_str(&json), names, values, COUNT(names) },
                  clock_mono_ms()))
        tui_notice(tui, STYLE_BAD,
                   "too many proposals at once: not all were told to "
                   "--on-proposal");
    buf_done(&json);
}

static enum entry_state state_of(const struct moot_proposal *p)
{
    switch (p->state) {
    case MOOT_OPEN: return STATE_OPEN;
    case MOOT_FULFILLED: return p->owner ? STATE_ALLOWED : STATE_FULFILLED;
    case MOOT_REJECTED: return p->owner ? STATE_DENIED : STATE_REJECTED;
    case MOOT_WITHDRAWN: return p->owner ? STATE_ENDED : STATE_WITHDRAWN;
    case MOOT_EXPIRED: return STATE_EXPIRED;
    }
    return STATE_NONE;
}

static void mark(struct tui *tui, const struct moot_proposal *p)
{
    struct buf by;

    buf_init(&by, 1024);
    if (p->state == MOOT_OPEN && p->needed > 1)
        buf_putf(&by, "%u of %u approve", p->given, p->needed);
    if (p->state == MOOT_WITHDRAWN && p->owner)
        buf_put(&by, S("asked anew"));
    if (p->by && (p->state == MOOT_FULFILLED || p->state == MOOT_REJECTED)) {
        buf_put(&by, S("by "));
        tell_put_name(&by, str_of(p->by));
    }
    timeline_mark(&tui->timeline, str_of(p->id), state_of(p), buf_str(&by));
    buf_done(&by);
}

static void on_proposal(struct moot *, void *user, const struct moot_proposal *p)
{
    struct tui *tui = user;
    enum inbox_news news = inbox_update(&tui->inbox, p);

    tui->needs_drawing = true;
    mark(tui, p);
    if (news == INBOX_NEW && !p->is_mine)
        tell_hook(tui, p);
    tui_review_verdict(tui);
    if (tui->view != VIEW_INBOX)
        inbox_tidy(&tui->inbox);
}

/* --- what went wrong --- */

static void tell_refusal(struct tui *tui, const char *message, const char *error)
{
    struct buf text;

    inbox_reopen(&tui->inbox);
    buf_init(&text, 8192);
    buf_put(&text, S("The gateway refused it: "));
    plain_put(&text, str_slice(str_of(message), 0, 1000), PLAIN_LINE);
    buf_put(&text, S(" ("));
    plain_put(&text, str_slice(str_of(error), 0, 100), PLAIN_LINE);
    buf_putc(&text, ')');
    note(tui, ENTRY_WARNING, S(""), &text);
    buf_done(&text);
}

/* Of what is no call: a chat. */
static void on_refusal(struct moot *, void *user, const struct moot_refusal *refusal)
{
    struct tui *tui = user;

    tui->needs_drawing = true;
    tell_refusal(tui, refusal->message, refusal->error);
}

/* The first of a sender, the tenth, the hundredth: not a line for each. */
static bool is_worth_telling(uint64_t count)
{
    while (count >= 10 && count % 10 == 0)
        count /= 10;
    return count == 1;
}

static void on_offence(struct moot *, void *user, const struct moot_offence *offence)
{
    struct tui *tui = user;
    struct buf text;

    if (!is_worth_telling(offence->count))
        return;
    tui->needs_drawing = true;
    buf_init(&text, 4096);
    if (offence->count == 1)
        buf_put(&text, S("Something of "));
    else
        buf_putf(&text, "%llu messages of ", (unsigned long long)offence->count);
    if (*offence->from)
        tell_put_name(&text, str_of(offence->from));
    else
        buf_put(&text, S("somebody"));
    buf_put(&text, offence->count == 1 ? S(" was dropped: ") : S(" were dropped: "));
    plain_put(&text, str_slice(str_of(offence->what), 0, 100), PLAIN_LINE);
    note(tui, ENTRY_NOTE, S(""), &text);
    buf_done(&text);
}

/* Answers and decisions are heard in the room: here is what nobody said there. */
void tui_on_done(struct moot *, void *user, const struct moot_outcome *outcome)
{
    struct tui *tui = user;
    struct str why;

    tui->needs_drawing = true;
    switch (outcome->type) {
    case MOOT_REFUSED:
        if (!tui_approve_instead(tui, outcome))
            tell_refusal(tui, outcome->message, outcome->error);
        return;
    case MOOT_TIMED_OUT: why = S("no answer in time"); break;
    case MOOT_CANCELLED: why = S("cancelled"); break;
    case MOOT_GONE: why = S("who was asked has left, it may have run"); break;
    case MOOT_LOST: why = S("the connection broke, it may have run"); break;
    default: return;
    }
    timeline_mark(&tui->timeline, str_of(outcome->id), STATE_ENDED, why);
}

/* --- what we are asked --- */

enum { METHOD_NOT_FOUND = -32601 };

/* A server that works on our call wants a form filled in or a page opened. There is no
 * place for that here; whoever waits learns it, and so does the server. */
static void decline(struct tui *tui, struct moot_call *call)
{
    struct buf text;

    buf_init(&text, 4096);
    tell_put_name(&text, str_of(moot_call_from(call)));
    buf_put(&text, S(" asked you something that cannot be answered here: declined. "
                     "`moot call` at a terminal can."));
    note(tui, ENTRY_WARNING, S(""), &text);
    buf_done(&text);
    tui->needs_drawing = true;
    (void)moot_reply_json(call, "{\"action\":\"decline\"}");
}

void tui_on_call(struct moot *, void *user, struct moot_call *call)
{
    if (str_eq(str_of(moot_call_method(call)), S("elicitation/create")))
        decline(user, call);
    else
        (void)moot_reply_error(call, METHOD_NOT_FOUND, "method not found");
}

const struct moot_handlers tui_handlers = {
    .on_state = on_state,
    .on_welcome = on_welcome,
    .on_presence = on_presence,
    .on_gap = on_gap,
    .on_message = on_message,
    .on_proposal = on_proposal,
    .on_refusal = on_refusal,
    .on_offence = on_offence,
};
