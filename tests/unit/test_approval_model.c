/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger against a simple model of it: a million random steps of people who propose,
 * decide and wait, of rooms that are parked and processes that are started anew. Whatever
 * happens, what was proposed once is fulfilled once at most, unless the topic is free.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approval/ledger.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "gateway/kept.h"
#include "harness.h"
#include "policy/pattern.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_CHECKED 1
#endif
#endif
#ifndef IS_CHECKED
#define IS_CHECKED 0
#endif

enum {
    STEPS = IS_CHECKED ? 100'000 : 1'000'000,
    STEPS_EACH = 2'500, /* with the same settings */
    IDS = 12,
    ARGUMENTS = 3,
    SHELF = 4096,
};

/* --- who there is --- */

struct person {
    struct str id;
    struct decider is;
};

static const struct person people[] = {
    { S("agent"), {} },
    { S("other"), { .may_approve = true } },
    { S("ann"), { .profile = S("human"), .is_human = true, .may_approve = true } },
    { S("bob"), { .profile = S("lead"), .is_human = true, .may_approve = true } },
    { S("eve"), { .is_human = true } },
    { S("joe"), { .profile = S("lead"), .is_human = true, .may_approve = true } },
};

/* --- the model --- */

struct model {
    bool is_known;
    enum proposal_state state;
    size_t proposer, arguments;
    bool names_tool; /* in its kind */
    bool is_by_rule;
    uint64_t expires_ms;
    unsigned approved; /* a bit for each of the people */
    size_t fulfilled;  /* how often this very proposal was */
};

struct world {
    struct ledger ledger, parked;
    struct ledger_settings settings;
    struct approval_rule rule;
    struct str lead;
    struct arena arena;
    uint64_t wall_ms;
    struct model models[IDS];
    struct {
        uint64_t order;
        char *value;
        size_t len;
    } shelf[SHELF];
    size_t shelf_count;
    uint64_t number; /* of envelopes */
};

static struct world world;

static uint32_t dice_state;

static size_t dice(size_t sides)
{
    dice_state = dice_state * 1664525 + 1013904223;
    return (dice_state >> 8) % sides;
}

static size_t quorum(void)
{
    return world.settings.approvals.count ? world.rule.quorum
                                          : world.settings.approvals.quorum;
}

static bool is_lead_needed(void)
{
    return world.settings.approvals.count > 0;
}

static bool is_fit(size_t who)
{
    return people[who].is.may_approve &&
           (!is_lead_needed() || str_eq(people[who].is.profile, S("lead")));
}

static size_t given(const struct model *m)
{
    return (size_t)__builtin_popcount(m->approved);
}

static void let_expire(struct model *m)
{
    if (m->is_known && m->state == PROPOSAL_OPEN && m->expires_ms <= world.wall_ms)
        m->state = PROPOSAL_EXPIRED;
}

static bool is_own(const struct model *m, size_t who)
{
    return m->proposer == who && world.settings.mode != PROPOSALS_FREE;
}

static enum err expect_decision(struct model *m, enum kind_type kind, size_t who)
{
    let_expire(m);
    if (m->is_known && m->is_by_rule && kind == KIND_REJECT)
        return people[who].is.is_human && !is_own(m, who) ? OK : ERR_PROPOSAL_STATE;
    if (!m->is_known || m->state != PROPOSAL_OPEN)
        return ERR_PROPOSAL_STATE;
    if (kind == KIND_WITHDRAW) {
        if (m->proposer != who)
            return ERR_PROPOSAL_STATE;
        m->state = PROPOSAL_WITHDRAWN;
        return OK;
    }
    if (is_own(m, who))
        return ERR_PROPOSAL_STATE;
    if (kind == KIND_REJECT)
        m->state = PROPOSAL_REJECTED;
    else if (m->proposer != who && is_fit(who))
        m->approved |= 1U << who;
    return OK;
}

static bool may_edit(const struct model *m, size_t who)
{
    return people[who].is.is_human && people[who].is.may_approve && quorum() == 1 &&
           m->state == PROPOSAL_OPEN;
}

static bool has_quorum(const struct model *m, size_t who)
{
    size_t own = m->proposer != who && is_fit(who) && !(m->approved >> who & 1) ? 1 : 0;

    return (quorum() == 1 && !is_lead_needed()) || given(m) + own >= quorum();
}

/* Has he, to fulfil it, to rely on what others approved? */
static bool needs_others(const struct model *m, size_t who)
{
    return quorum() > 1 || (is_lead_needed() && (m->proposer == who || !is_fit(who)));
}

static enum err expect_fulfilment(struct model *m, size_t who, size_t arguments,
                                  bool is_edited)
{
    bool is_free = world.settings.mode == PROPOSALS_FREE;

    let_expire(m);
    if (!m->is_known)
        return OK; /* a request like any other */
    if (!is_free && (m->proposer == who || m->state != PROPOSAL_OPEN))
        return ERR_PROPOSAL_STATE;
    if (is_edited && !may_edit(m, who))
        return ERR_PROPOSAL_STATE;
    if (!is_edited && world.settings.mode == PROPOSALS_EXACT && arguments != m->arguments)
        return ERR_ARGUMENT_MISMATCH;
    if (!has_quorum(m, who))
        return ERR_PROPOSAL_STATE;
    if (needs_others(m, who)) {
        if (is_edited || m->state != PROPOSAL_OPEN)
            return ERR_PROPOSAL_STATE;
        if (arguments != m->arguments)
            return ERR_ARGUMENT_MISMATCH;
    }
    m->fulfilled++;
    if (m->state != PROPOSAL_OPEN)
        return OK;
    m->state = PROPOSAL_FULFILLED;
    if (m->proposer != who && is_fit(who) && (quorum() > 1 || is_lead_needed()))
        m->approved |= 1U << who;
    return OK;
}

/* Whatever the mode, once, and as it was proposed. */
static enum err expect_use(struct model *m, size_t who, size_t arguments, bool is_edited)
{
    let_expire(m);
    if (!m->is_known)
        return OK; /* admission refuses it */
    if (m->proposer == who || m->state != PROPOSAL_OPEN || is_edited || quorum() > 1 ||
        is_lead_needed())
        return ERR_PROPOSAL_STATE;
    if (!m->names_tool || arguments != m->arguments)
        return ERR_ARGUMENT_MISMATCH;
    CHECK_INT(m->fulfilled, 0);
    m->fulfilled++;
    m->is_by_rule = true;
    m->state = PROPOSAL_FULFILLED;
    return OK;
}

/* --- what is kept --- */

static size_t find_kept(uint64_t order)
{
    size_t at = 0;

    while (at < world.shelf_count && world.shelf[at].order != order)
        at++;
    return at;
}

static void drop_kept(uint64_t order)
{
    size_t at = find_kept(order);

    if (at == world.shelf_count)
        return;
    free(world.shelf[at].value);
    memmove(&world.shelf[at], &world.shelf[at + 1],
            (--world.shelf_count - at) * sizeof(world.shelf[0]));
}

static void changed(struct ledger *ledger [[maybe_unused]], const struct proposal *p)
{
    size_t at = find_kept(p->order);
    struct buf value;

    if (p->state == PROPOSAL_EXPIRED) {
        drop_kept(p->order);
        return;
    }
    buf_init(&value, 1 << 16);
    kept_write_proposal(p, &value);
    if (at == world.shelf_count)
        world.shelf_count++;
    else
        free(world.shelf[at].value);
    world.shelf[at].order = p->order;
    world.shelf[at].value = value.ptr;
    world.shelf[at].len = value.len;
}

static void forgotten(struct ledger *ledger [[maybe_unused]], const struct proposal *p)
{
    drop_kept(p->order);
}

static bool has_room(const struct ledger *ledger [[maybe_unused]],
                     struct str proposer [[maybe_unused]], size_t bytes [[maybe_unused]])
{
    return true;
}

static const struct ledger_keeper keeper = { .has_room = has_room,
                                             .changed = changed,
                                             .forgotten = forgotten };

/* --- steps --- */

static enum err say(size_t who, struct str text, enum kind_type *ret_effect)
{
    struct ledger_problem problem = {};
    struct ledger_effect effect;
    struct envelope env;
    enum err err =
        envelope_scan(text, JSON_MAX_DEPTH, DIALECT_SLASH, &world.arena, &env, NULL);

    if (err || kind_parse(env.kind_text, &env.kind))
        abort();
    err = ledger_judge(&world.ledger, &env, world.wall_ms, &effect, &problem);
    if (!err && ledger_must_decide(&effect))
        err = ledger_decide(&world.ledger, &env, &people[who].is, &world.arena, &effect,
                            &problem);
    if (!err)
        ledger_enter(&world.ledger, &env, env.text, &effect, world.wall_ms);
    *ret_effect = (enum kind_type)effect.type;
    arena_reset(&world.arena);
    return err;
}

static const char *const arguments_as[ARGUMENTS][2] = {
    { "{\"n\":1,\"s\":\"a\"}", "{ \"s\":\"\\u0061\", \"n\":1.0 }" },
    { "{\"n\":2,\"s\":\"a\"}", "{\"s\":\"a\",\"n\":20e-1}" },
    { "{}", "{ }" },
};

static void step_propose(void)
{
    size_t at = dice(IDS), who = dice(2), arguments = dice(ARGUMENTS);
    bool names_tool = dice(2);
    struct model *m = &world.models[at];
    uint64_t expires_ms = world.wall_ms + world.settings.expiry_ms;
    enum kind_type effect;
    char text[512], id[16];
    int len;

    let_expire(m);
    (void)snprintf(id, sizeof(id), "p%zu", at);
    CHECK_INT(ledger_knows(&world.ledger, str_of(id), world.wall_ms),
              m->is_known && m->state == PROPOSAL_OPEN);
    if (m->is_known && m->state == PROPOSAL_OPEN)
        return; /* duplicate_id */
    len = snprintf(text, sizeof(text),
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"" STR_FMT
                   "\",\"kind\":\"mcp/proposal:tools/call%s\",\"payload\":{\"method\":"
                   "\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":%s}}}",
                   id, STR_ARG(people[who].id), names_tool ? ":t" : "",
                   arguments_as[arguments][0]);
    CHECK_INT(say(who, (struct str){ text, (size_t)len }, &effect), OK);
    *m = (struct model){ .is_known = true,
                         .state = PROPOSAL_OPEN,
                         .proposer = who,
                         .arguments = arguments,
                         .names_tool = names_tool,
                         .expires_ms = expires_ms };
}

static void step_decide(void)
{
    static const struct {
        const char *name;
        enum kind_type type;
    } kinds[] = { { "mcp/approve", KIND_APPROVE },
                  { "mcp/approve", KIND_APPROVE },
                  { "mcp/approve", KIND_APPROVE },
                  { "mcp/reject", KIND_REJECT },
                  { "mcp/withdraw", KIND_WITHDRAW } };
    size_t at = dice(IDS), who = dice(COUNT(people)), kind = dice(COUNT(kinds));
    enum err want = expect_decision(&world.models[at], kinds[kind].type, who);
    enum kind_type effect;
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "{\"protocol\":\"mcpx/v0.1\",\"id\":\"d%llu\",\"from\":\"" STR_FMT
                       "\",\"correlation_id\":\"p%zu\",\"kind\":\"%s\",\"payload\":{"
                       "\"reason\":\"so\"}}",
                       (unsigned long long)++world.number, STR_ARG(people[who].id), at,
                       kinds[kind].name);

    CHECK_INT(say(who, (struct str){ text, (size_t)len }, &effect), want);
}

static void step_fulfil(void)
{
    size_t at = dice(IDS), who = dice(COUNT(people)), arguments = dice(ARGUMENTS);
    bool is_edited = dice(8) == 0, is_by_rule = dice(3) == 0;
    struct model *m = &world.models[at];
    enum err want = is_by_rule ? expect_use(m, who, arguments, is_edited)
                               : expect_fulfilment(m, who, arguments, is_edited);
    enum kind_type effect;
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "{\"protocol\":\"mcpx/v0.1\",\"id\":\"r%llu\",\"from\":\"" STR_FMT
                       "\",\"correlation_id\":\"p%zu\"%s%s,\"kind\":\"mcp/request:tools/"
                       "call:t\",\"payload\":{\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"t\",\"arguments\":%s}}}",
                       (unsigned long long)++world.number, STR_ARG(people[who].id), at,
                       is_edited ? ",\"edited\":true" : "",
                       is_by_rule ? ",\"rule\":\"r-1\"" : "", arguments_as[arguments][1]);

    CHECK_INT(say(who, (struct str){ text, (size_t)len }, &effect), want);
    if (!want)
        CHECK_INT((int)effect == EFFECT_FULFIL, m->is_known);
    if (world.settings.mode != PROPOSALS_FREE)
        CHECK(m->fulfilled <= 1);
}

static void forget_closed(void)
{
    for (size_t i = 0; i < IDS; i++) {
        let_expire(&world.models[i]);
        if (world.models[i].state != PROPOSAL_OPEN)
            world.models[i] = (struct model){};
    }
}

/* Everybody leaves, time passes, somebody comes: see gateway/state.c. */
static void step_park(void)
{
    static const struct ledger_settings unused = {};

    (void)ledger_sweep(&world.ledger, world.wall_ms);
    forget_closed();
    ledger_init(&world.parked, &unused);
    world.parked.keeper = &keeper;
    ledger_move(&world.parked, &world.ledger);
    ledger_done(&world.ledger);
    world.wall_ms += dice(200);
    (void)ledger_expire(&world.parked, world.wall_ms);
    ledger_init(&world.ledger, &world.settings);
    world.ledger.keeper = &keeper;
    ledger_move(&world.ledger, &world.parked);
    ledger_done(&world.parked);
}

static void put_back(size_t at)
{
    char key[KEPT_KEY];
    struct kept_text text = { S("room"),
                              kept_key(world.shelf[at].order, key),
                              { world.shelf[at].value, world.shelf[at].len } };
    struct kept_proposal kept;

    CHECK_INT(kept_read_proposal(&text, &world.arena, &kept), OK);
    if (kept.past.expires_ms > world.wall_ms)
        CHECK_INT(ledger_restore(&world.ledger, &kept.past,
                                 kept.past.state == PROPOSAL_OPEN ? &kept.env : NULL),
                  OK);
    else
        drop_kept(world.shelf[at].order);
    arena_reset(&world.arena);
}

/* Another process begins with what was kept: see gateway/restore.c. */
static void step_restart(void)
{
    size_t left;

    world.ledger.keeper = NULL;
    ledger_done(&world.ledger);
    world.wall_ms += dice(100);
    ledger_init(&world.ledger, &world.settings);
    for (size_t at = 0; at < world.shelf_count;) {
        left = world.shelf_count;
        put_back(at);
        at += left == world.shelf_count ? 1 : 0;
    }
    world.ledger.keeper = &keeper;
    for (size_t i = 0; i < IDS; i++)
        if (world.models[i].expires_ms <= world.wall_ms)
            world.models[i] = (struct model){};
}

static void check_one(size_t at)
{
    struct model *m = &world.models[at];
    struct approval_needs needs;
    const struct proposal *p;
    char id[16];

    (void)snprintf(id, sizeof(id), "p%zu", at);
    p = ledger_find(&world.ledger, str_of(id), world.wall_ms);
    let_expire(m);
    CHECK_INT(p != NULL, m->is_known);
    if (!p || !m->is_known)
        return;
    needs = approval_needs_of(&world.settings.approvals, p->subject);
    CHECK_INT(p->state, m->state);
    CHECK_STR(p->proposer, people[m->proposer].id);
    CHECK_INT(approvals_given(&p->approvals, &needs), given(m));
    CHECK_INT(p->has_human_approval, (m->approved & ~3U) != 0);
    CHECK_INT(p->envelope != NULL, m->state == PROPOSAL_OPEN);
    CHECK_STR(p->rule, m->is_by_rule ? S("r-1") : S(""));
}

static void step(void)
{
    size_t roll = dice(1000);

    if (roll < 250)
        step_propose();
    else if (roll < 560)
        step_decide();
    else if (roll < 960)
        step_fulfil();
    else if (roll < 985)
        world.wall_ms += dice(60);
    else if (roll < 993)
        step_park();
    else if (roll < 999)
        step_restart();
    else
        for (size_t i = 0; i < IDS; i++)
            check_one(i);
    check_one(dice(IDS));
}

static void begin(struct pattern *all, struct str_list leads)
{
    static const enum proposal_mode modes[] = { PROPOSALS_ONCE, PROPOSALS_EXACT,
                                                PROPOSALS_EXACT, PROPOSALS_FREE };

    world.settings = (struct ledger_settings){ .mode = modes[dice(COUNT(modes))],
                                               .expiry_ms = 400,
                                               .max_expiry_ms = 1000,
                                               .max_proposals = 1000,
                                               .max_requests = 100 };
    world.settings.approvals.quorum = 1 + dice(3);
    world.rule = (struct approval_rule){ all, 1 + dice(2), leads };
    if (dice(3) == 0) {
        world.settings.approvals.rules = &world.rule;
        world.settings.approvals.count = 1;
    }
    memset(world.models, 0, sizeof(world.models));
    ledger_init(&world.ledger, &world.settings);
    world.ledger.keeper = &keeper;
}

static void end(void)
{
    ledger_done(&world.ledger);
    while (world.shelf_count)
        drop_kept(world.shelf[0].order);
}

TEST(a_million_steps_later_nothing_was_fulfilled_twice)
{
    const char *steps = getenv("MOOT_MODEL_STEPS");
    uint64_t left = STEPS;
    struct pattern *all = NULL;

    if (steps)
        CHECK_INT(str_to_u64(str_of(steps), UINT32_MAX, &left), OK);
    CHECK_INT(pattern_new(S("mcp/proposal:tools/call:t"), &all, NULL), OK);
    world.lead = S("lead");
    world.wall_ms = 1'000'000;
    arena_init(&world.arena, 1 << 20);
    dice_state = 20261116;
    while (left) {
        begin(all, (struct str_list){ &world.lead, 1 });
        for (size_t i = 0; i < STEPS_EACH && left; i++, left--)
            step();
        end();
    }
    arena_done(&world.arena);
    pattern_free(all);
}
