/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant hears anything. The input is lines: texts that are heard, and orders,
 * which begin with `!` (see the table). Whatever comes, only what passes all checks is
 * told, tables stay within their limits, everything asked ends once, and everything that
 * is sent would pass the checks of others.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "envelope/system.h"
#include "json/json.h"
#include "participant/ask.h"
#include "participant/check.h"
#include "participant/occupant.h"
#include "participant/proposals.h"
#include "participant/roster.h"

enum { ROOM = 1 << 24, DEPTH = 32, CALLS = 4, PROPOSALS = 4, PARTICIPANTS = 4 };

#define PREFIX "me"

struct fuzz {
    struct seat seat;
    struct occupant *occupant;
    struct moment now;
    uint64_t fence;
    size_t asked, ended;
    char last_id[ASK_ID + 1]; /* of what was asked last */
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void expect_plain(struct str text)
{
    expect(utf8_is_valid(text) && !envelope_has_control(text));
}

static void expect_list(struct str text)
{
    const struct json *root = NULL;
    struct arena arena;

    arena_init(&arena, (size_t)128 * ROOM);
    /* A name may stand twice in an object of a foreign list: only the tree minds. */
    if (json_parse(text, &arena, &root, NULL) == OK)
        expect(root->type == JSON_ARRAY);
    else
        expect(text.len > 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']');
    arena_done(&arena);
}

/* --- the seat --- */

static enum err take(struct seat *seat, struct str text)
{
    struct fuzz *fuzz = CONTAINER_OF(seat, struct fuzz, seat);
    struct str field = S("");
    struct arena scratch;
    struct heard heard;

    if (!occupant_is_welcome(fuzz->occupant))
        return ERR_AGAIN;
    arena_init(&scratch, ROOM);
    expect(check_text(text, JSON_MAX_DEPTH, &scratch, &heard, &field) == OK);
    expect(str_eq(heard.env.from, occupant_id(fuzz->occupant)));
    expect(str_starts(heard.env.id, S(PREFIX "-")));
    arena_done(&scratch);
    return OK;
}

static void fence(struct seat *seat, uint64_t number)
{
    struct fuzz *fuzz = CONTAINER_OF(seat, struct fuzz, seat);

    expect(number > fuzz->fence);
    fuzz->fence = number;
}

/* --- what is told --- */

static void on_welcome(void *user, bool is_resumed)
{
    struct fuzz *fuzz = user;

    (void)is_resumed;
    expect(occupant_is_welcome(fuzz->occupant));
    expect(occupant_id(fuzz->occupant).len > 0);
    expect_plain(occupant_id(fuzz->occupant));
    expect_list(occupant_capabilities(fuzz->occupant));
}

static void on_presence(void *user, enum presence_change change,
                        const struct roster_entry *who)
{
    struct fuzz *fuzz = user;
    const struct roster_entry *known = occupant_find_participant(fuzz->occupant, who->id);

    expect(who->id.len > 0);
    expect(change == PRESENCE_LEAVES || !str_eq(who->id, occupant_id(fuzz->occupant)));
    expect_plain(who->id);
    expect_plain(who->type);
    expect_list(who->capabilities);
    expect(change == PRESENCE_LEAVES ? !known : known == who);
}

static void on_gap(void *user, uint64_t missed)
{
    (void)user;
    (void)missed;
}

static void on_heard(void *user, const struct heard *heard)
{
    struct fuzz *fuzz = user;
    struct str field = S("");
    struct arena scratch;
    struct heard again;

    arena_init(&scratch, ROOM);
    expect(check_text(heard->env.text, DEPTH, &scratch, &again, &field) == OK);
    arena_done(&scratch);
    expect_plain(heard->env.id);
    expect_plain(heard->env.from);
    expect_plain(heard->env.kind.text);
    expect(heard->is_system == str_eq(heard->env.from, S(SYSTEM_SENDER)));
    expect(heard->is_system || !str_starts(heard->env.kind.text, S("system/")));
    expect(!heard->is_mine); /* it does not hear itself */
    expect(heard->env.to_count || !heard->names_me);
    expect(occupant_is_welcome(fuzz->occupant) || heard->is_system);
}

static void on_request(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count)
{
    struct fuzz *fuzz = user;
    struct answer answer = { .request_id = heard->env.id,
                             .method = heard->env.kind.method,
                             .context = heard->env.kind.context,
                             .to = reply_to,
                             .to_count = reply_count,
                             .member = S("result"),
                             .json = S("{}") };

    expect(heard->env.kind.type == KIND_REQUEST);
    expect(!kind_is_notification(&heard->env.kind));
    expect(heard->names_me || heard->env.to_count == 0);
    expect(reply_count >= 1 && str_eq(reply_to[0], heard->env.from));
    (void)occupant_answer(fuzz->occupant, &answer, fuzz->now);
}

static void on_cancelled(void *user, struct str request_id, struct str from,
                         struct str reason)
{
    (void)user;
    expect(request_id.len > 0 && utf8_is_valid(request_id) && utf8_is_valid(reason));
    expect_plain(from);
}

static void on_proposal(void *user, const struct proposed *proposal)
{
    (void)user;
    expect(proposal->id.len > 0 && utf8_is_valid(proposal->reason));
}

static void on_refusal(void *user, const struct refused *refused)
{
    (void)user;
    expect(utf8_is_valid(refused->error) && utf8_is_valid(refused->message));
}

static void on_offence(void *user, const struct offence *offence)
{
    (void)user;
    expect(offence->what.len > 0 && offence->count > 0);
    expect_plain(offence->from);
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

/* --- what it asks --- */

static void on_done(void *user, const struct outcome *outcome)
{
    struct fuzz *fuzz = user;

    expect(outcome->id.len > 0 && utf8_is_valid(outcome->message));
    expect(++fuzz->ended <= fuzz->asked);
}

static void on_progress(void *user, const struct progress *progress)
{
    (void)user;
    expect(progress->id.len > 0 && utf8_is_valid(progress->message));
}

static const struct ask_ops ask = { on_progress, on_done };

static void note_asked(struct fuzz *fuzz, enum err err, struct str id)
{
    if (err)
        return;
    fuzz->asked++;
    if (!id.ptr)
        return;
    expect(id.len <= ASK_ID);
    memcpy(fuzz->last_id, id.ptr, id.len);
    fuzz->last_id[id.len] = '\0';
}

static void request(struct fuzz *fuzz, enum ask_how how)
{
    struct asking asking = { .to = S("ann"),
                             .method = S("tools/call"),
                             .name = S("add"),
                             .arguments = S("{\"a\":1}"),
                             .reason = S("why not"),
                             .how = how,
                             .ops = ask,
                             .user = fuzz };
    struct str id = {};

    note_asked(fuzz, occupant_request(fuzz->occupant, &asking, fuzz->now, &id, NULL), id);
}

static void order_call(struct fuzz *fuzz, struct str rest)
{
    (void)rest;
    request(fuzz, ASK_CALL_OR_PROPOSE);
}

static void order_propose(struct fuzz *fuzz, struct str rest)
{
    (void)rest;
    request(fuzz, ASK_PROPOSE);
}

static void order_say(struct fuzz *fuzz, struct str rest)
{
    struct saying saying = {
        .kind = S("chat"), .payload = S("{\"text\":\"hi\"}"), .ops = ask, .user = fuzz
    };
    struct str id = {};

    (void)rest;
    note_asked(fuzz, occupant_say(fuzz->occupant, &saying, fuzz->now, &id, NULL), id);
}

static void order_cancel(struct fuzz *fuzz, struct str rest)
{
    struct str reason = utf8_is_valid(rest) ? rest : S("");

    (void)occupant_cancel(fuzz->occupant, str_of(fuzz->last_id), reason, fuzz->now);
}

static struct deciding deciding(struct fuzz *fuzz, struct str id)
{
    return (struct deciding){ .id = id, .to = S("ann"), .ops = ask, .user = fuzz };
}

static void order_fulfil(struct fuzz *fuzz, struct str rest)
{
    struct deciding d = deciding(fuzz, rest);

    note_asked(fuzz, occupant_fulfil(fuzz->occupant, &d, fuzz->now, NULL),
               (struct str){});
}

static void order_reject(struct fuzz *fuzz, struct str rest)
{
    struct deciding d = deciding(fuzz, rest);

    note_asked(fuzz, occupant_reject(fuzz->occupant, &d, fuzz->now, NULL),
               (struct str){});
}

/* --- what happens --- */

static void hear(struct fuzz *fuzz, struct str text)
{
    occupant_hear(fuzz->occupant, text, fuzz->now);
}

static void order_begin(struct fuzz *fuzz, struct str rest)
{
    occupant_lost(fuzz->occupant, false, fuzz->now);
    occupant_begin(fuzz->occupant, rest.len > 0);
}

static void order_welcome(struct fuzz *fuzz, struct str rest)
{
    order_begin(fuzz, rest);
    hear(fuzz,
         S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"sys-1\",\"from\":\"system:gateway\","
           "\"ts\":\"2026-11-15T06:00:00Z\",\"to\":[\"bot\"],"
           "\"kind\":\"system/welcome\",\"payload\":{\"you\":{\"id\":\"bot\","
           "\"capabilities\":[\"*\"]},\"participants\":[{\"id\":\"ann\"}]}}"));
}

static void order_judge(struct fuzz *fuzz, struct str rest)
{
    (void)rest;
    if (occupant_is_welcome(fuzz->occupant))
        occupant_judged(fuzz->occupant, fuzz->fence, fuzz->now);
}

static void order_wait(struct fuzz *fuzz, struct str rest)
{
    uint64_t ms = 61'000;

    (void)str_to_u64(rest, UINT32_MAX, &ms);
    fuzz->now.mono_ms += ms;
    fuzz->now.wall_ms += ms;
    occupant_tick(fuzz->occupant, fuzz->now);
}

/* clang-format off */
static const struct {
    struct str name;
    void (*run)(struct fuzz *fuzz, struct str rest);
} orders[] = {
    { S("!begin"),   order_begin },
    { S("!welcome"), order_welcome },
    { S("!judge"),   order_judge },
    { S("!wait"),    order_wait },
    { S("!call"),    order_call },
    { S("!propose"), order_propose },
    { S("!say"),     order_say },
    { S("!cancel"),  order_cancel },
    { S("!fulfil"),  order_fulfil },
    { S("!reject"),  order_reject },
};
/* clang-format on */

static void run_line(struct fuzz *fuzz, struct str line)
{
    struct str rest = line;
    struct str name = str_cut(&rest, ' ');

    for (size_t i = 0; i < COUNT(orders); i++)
        if (str_eq(name, orders[i].name)) {
            orders[i].run(fuzz, rest.ptr ? rest : S(""));
            return;
        }
    hear(fuzz, line);
}

static void check_tables(const struct fuzz *fuzz)
{
    const struct proposed *proposal = NULL;
    size_t proposals = 0;
    size_t participants = 0;
    size_t at = 0;

    while (occupant_next_participant(fuzz->occupant, &at))
        participants++;
    while ((proposal = occupant_next_proposal(fuzz->occupant, proposal)))
        proposals++;
    expect(participants <= PARTICIPANTS && proposals <= PROPOSALS);
    expect_plain(occupant_last(fuzz->occupant));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct occupant_settings settings = {
        .id_prefix = S(PREFIX),
        .reports = true,
        .call_timeout_ms = 60'000,
        .limits = { DEPTH, CALLS, PROPOSALS, PARTICIPANTS, 2, 4, 1 << 20 },
    };
    struct fuzz fuzz = { .seat = { .send = take, .fence = fence },
                         .now = { 1000, 1'800'000'000'000 } };
    struct str rest = { (const char *)bytes, size };

    fuzz.occupant = occupant_new(&fuzz.seat, &settings, &ops, &fuzz);
    while (rest.ptr && rest.len) {
        struct str line = str_cut(&rest, '\n');
        /* A copy of its own, so that a byte too far is seen. */
        char *copy = str_dup(line);

        run_line(&fuzz, (struct str){ copy, line.len });
        free(copy);
        check_tables(&fuzz);
    }
    occupant_lost(fuzz.occupant, true, fuzz.now);
    expect(fuzz.ended == fuzz.asked);
    occupant_free(fuzz.occupant);
    return 0;
}
