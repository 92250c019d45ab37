/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_seat.h"

#include <string.h>

#include "participant/proposals.h"
#include "participant/roster.h"

enum { ROOM = 1 << 26 };

static struct fake_seat *fake_of(struct seat *seat)
{
    return CONTAINER_OF(seat, struct fake_seat, seat);
}

static enum err take(struct seat *seat, struct str text)
{
    struct fake_seat *fake = fake_of(seat);

    if (fake->is_away)
        return ERR_AGAIN;
    fake->sent_count++;
    buf_put(&fake->sent, text);
    buf_putc(&fake->sent, '\n');
    return OK;
}

static void fence(struct seat *seat, uint64_t number)
{
    fake_of(seat)->fence = number;
}

/* --- what is told --- */

static void on_welcome(void *user, bool is_resumed)
{
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "welcome%s\n", is_resumed ? " resumed" : "");
}

static void on_presence(void *user, enum presence_change change,
                        const struct roster_entry *who)
{
    static const char *const names[] = { "here", "joins", "leaves", "changes" };
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "%s " STR_FMT "\n", names[change], STR_ARG(who->id));
}

static void on_gap(void *user, uint64_t missed)
{
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "gap %llu\n", (unsigned long long)missed);
}

static void on_heard(void *user, const struct heard *heard)
{
    struct fake_seat *fake = user;

    if (heard->is_system)
        buf_putf(&fake->told, "heard " STR_FMT, STR_ARG(heard->env.kind.text));
    else
        buf_putf(&fake->told, "heard " STR_FMT " " STR_FMT " " STR_FMT,
                 STR_ARG(heard->env.id), STR_ARG(heard->env.from),
                 STR_ARG(heard->env.kind.text));
    buf_putf(&fake->told, "%s%s%s\n", heard->is_replay ? " again" : "",
             heard->is_mine ? " mine" : "", heard->names_me ? " to me" : "");
}

static void on_request(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count)
{
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "request " STR_FMT " to", STR_ARG(heard->env.id));
    for (size_t i = 0; i < reply_count; i++)
        buf_putf(&fake->told, " " STR_FMT, STR_ARG(reply_to[i]));
    buf_putc(&fake->told, '\n');
}

static void on_cancelled(void *user, struct str request_id, struct str from,
                         struct str reason)
{
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "cancelled " STR_FMT " by " STR_FMT ": " STR_FMT "\n",
             STR_ARG(request_id), STR_ARG(from), STR_ARG(reason));
}

static void on_proposal(void *user, const struct proposed *proposal)
{
    static const char *const states[] = { "open", "fulfilled", "rejected", "withdrawn",
                                          "expired" };
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "proposal " STR_FMT " %s\n", STR_ARG(proposal->id),
             states[proposal->state]);
    if (fake->on_proposal)
        fake->on_proposal(fake, proposal);
}

static void on_refusal(void *user, const struct refused *refused)
{
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "refused " STR_FMT ": " STR_FMT ", " STR_FMT "\n",
             STR_ARG(refused->id), STR_ARG(refused->error), STR_ARG(refused->message));
}

static void on_offence(void *user, const struct offence *offence)
{
    struct fake_seat *fake = user;

    buf_putf(&fake->told, "offence %llu " STR_FMT ": " STR_FMT ", " STR_FMT "\n",
             (unsigned long long)offence->count, STR_ARG(offence->from),
             STR_ARG(offence->what), STR_ARG(offence->field));
}

static const struct occupant_ops ops = {
    .on_welcome = on_welcome,
    .on_presence = on_presence,
    .on_gap = on_gap,
    .on_heard = on_heard,
    .on_request = on_request,
    .on_cancelled = on_cancelled,
    .on_proposal = on_proposal,
    .on_refusal = on_refusal,
    .on_offence = on_offence,
};

/* --- what becomes of something asked --- */

static void put_if(struct buf *told, const char *before, struct str text)
{
    if (text.len)
        buf_putf(told, "%s" STR_FMT, before, STR_ARG(text));
}

static void on_progress(void *user, const struct progress *progress)
{
    static const char *const stages[] = { "proposed", "taken up", "authorizing",
                                          "underway", "approved" };
    struct buf *told = &((struct fake_seat *)user)->told;

    buf_putf(told, "progress " STR_FMT " %s", STR_ARG(progress->id),
             stages[progress->type]);
    put_if(told, " by ", progress->by);
    if (progress->type == ASK_UNDERWAY || progress->type == ASK_APPROVED)
        buf_putf(told, " %g/%g", progress->done, progress->total);
    put_if(told, ": ", progress->message);
    buf_putc(told, '\n');
}

static void on_done(void *user, const struct outcome *outcome)
{
    static const char *const ends[] = { "result",  "tool error", "error",     "denied",
                                        "refused", "declined",   "timed out", "cancelled",
                                        "gone",    "lost",       "sent" };
    struct buf *told = &((struct fake_seat *)user)->told;

    buf_putf(told, "done " STR_FMT " %s", STR_ARG(outcome->id), ends[outcome->type]);
    put_if(told, " by ", outcome->by);
    put_if(told, " ", outcome->error);
    if (outcome->code)
        buf_putf(told, " %lld", (long long)outcome->code);
    put_if(told, ": ", outcome->message);
    put_if(told, " = ", outcome->json.text);
    buf_putc(told, '\n');
}

const struct ask_ops fake_ask = { .on_progress = on_progress, .on_done = on_done };

void fake_tick(struct fake_seat *fake, uint64_t ms)
{
    fake->now.mono_ms += ms;
    fake->now.wall_ms += ms;
    occupant_tick(fake->occupant, fake->now);
}

/* --- life --- */

static void fill(size_t *limit, size_t value)
{
    if (*limit == 0)
        *limit = value;
}

void fake_seat_init(struct fake_seat *fake, const struct occupant_settings *settings)
{
    struct occupant_settings all = *settings;

    *fake = (struct fake_seat){ .seat = { .send = take, .fence = fence },
                                .now = { 1000, 1'800'000'000'000 } };
    buf_init(&fake->sent, ROOM);
    buf_init(&fake->told, ROOM);
    buf_init(&fake->last_told, ROOM);
    buf_init(&fake->last_sent, ROOM);
    if (!all.id_prefix.len)
        all.id_prefix = S("me");
    if (!all.call_timeout_ms)
        all.call_timeout_ms = 60'000;
    fill(&all.limits.depth, 128);
    fill(&all.limits.calls, 16);
    fill(&all.limits.proposals, 16);
    fill(&all.limits.participants, 100);
    fill(&all.limits.offenders, 8);
    fill(&all.limits.recent, 64);
    fake->occupant = occupant_new(&fake->seat, &all, &ops, fake);
}

void fake_seat_done(struct fake_seat *fake)
{
    occupant_free(fake->occupant);
    buf_done(&fake->last_sent);
    buf_done(&fake->last_told);
    buf_done(&fake->told);
    buf_done(&fake->sent);
}

/* --- what is heard --- */

void fake_hear(struct fake_seat *fake, const char *text)
{
    occupant_hear(fake->occupant, str_of(text), fake->now);
}

void fake_hear_from(struct fake_seat *fake, const char *from, const char *id,
                    const char *kind, const char *rest)
{
    struct buf text;

    buf_init(&text, ROOM);
    buf_putf(&text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"%s\",\"kind\":\"%s\",",
             id, from, kind);
    buf_put(&text, str_of(rest));
    buf_putc(&text, '}');
    occupant_hear(fake->occupant, buf_str(&text), fake->now);
    buf_done(&text);
}

void fake_hear_gateway(struct fake_seat *fake, const char *kind, const char *rest)
{
    struct buf id, all;

    buf_init(&id, 64);
    buf_init(&all, ROOM);
    buf_putf(&id, "sys-%llu", (unsigned long long)++fake->system_count);
    buf_put(&all, S("\"payload\":{"));
    buf_put(&all, str_of(rest));
    buf_putc(&all, '}');
    if (strcmp(kind, "system/welcome") == 0 || strcmp(kind, "system/gap") == 0)
        buf_put(&all, S(",\"to\":[\"bot\"]"));
    fake_hear_from(fake, "system:gateway", buf_cstr(&id), kind, buf_cstr(&all));
    buf_done(&all);
    buf_done(&id);
}

void fake_seat_welcome(struct fake_seat *fake, const char *capabilities,
                       const char *participants)
{
    struct buf rest;

    buf_init(&rest, ROOM);
    buf_put(&rest, S("\"you\":{\"id\":\"bot\",\"capabilities\":"));
    buf_put(&rest, str_of(capabilities));
    buf_put(&rest, S("},\"participants\":["));
    buf_put(&rest, str_of(participants));
    buf_putc(&rest, ']');
    occupant_begin(fake->occupant, false);
    fake_hear_gateway(fake, "system/welcome", buf_cstr(&rest));
    buf_done(&rest);
    (void)fake_told(fake);
}

void fake_judge(struct fake_seat *fake)
{
    occupant_judged(fake->occupant, fake->fence, fake->now);
}

/* --- what came of it --- */

static struct str hand_out(struct buf *from, struct buf *to)
{
    buf_clear(to);
    buf_put(to, buf_str(from));
    buf_clear(from);
    (void)buf_cstr(to);
    return buf_str(to);
}

struct str fake_told(struct fake_seat *fake)
{
    return hand_out(&fake->told, &fake->last_told);
}

struct str fake_sent(struct fake_seat *fake)
{
    return hand_out(&fake->sent, &fake->last_sent);
}
