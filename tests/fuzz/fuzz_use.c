/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proposal and what is to fulfil it by rule, two envelopes, one per line, before a room
 * with a rule. Whatever they are: what passes is itself within the rule, was proposed,
 * and is counted once; what does not pass is not counted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "admit/use.h"
#include "base/cleanup.h"

static const uint64_t WALL = 1'800'000'000'000;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void on_topic(struct topic *topic [[maybe_unused]])
{
}

static uint64_t wall_ms(const struct topic *topic [[maybe_unused]])
{
    return WALL;
}

static size_t head_size(size_t text_len [[maybe_unused]])
{
    return 0;
}

static void head_write(char *out [[maybe_unused]], size_t text_len [[maybe_unused]])
{
}

static enum err encode(const struct encoding *self [[maybe_unused]], struct str text,
                       struct buf *out)
{
    return buf_append(out, text);
}

static const struct encoding bare = { head_size, head_write, encode };
static const struct topic_ops topic_ops = {
    .on_dirty = on_topic, .on_presence = on_topic, .wall_ms = wall_ms, .on_held = on_topic
};

static const char rule_text[] =
    "{\"rules\":[{\"id\":\"r-1\",\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"tools/call\","
    "\"tool\":\"write\",\"to\":\"fs\",\"budget\":5,\"arguments\":{"
    "\"path\":{\"under\":\"/srv/app\",\"characters\":\"a-z\",\"max_bytes\":60,"
    "\"depth\":2},\"mode\":{\"between\":[1,7],\"whole\":true,\"optional\":true}}}]}";

struct stage {
    struct room room;
    struct topic_settings topic_settings;
    struct ledger_settings ledger_settings;
    struct admit_rules rules;
    struct admit_limits limits;
    struct arena scratch, kept;
    struct capsets *capsets;
    struct participant *bot, *orc;
    struct str rule;
};

static void add_rule(struct stage *stage)
{
    struct rule_problem problem = {};
    struct rule_list list = {};
    struct rule_change change = {
        .verb = RULE_ADD, .by = S("ann"), .is_by_human = true, .at_ms = WALL
    };

    expect(rules_read(str_of(rule_text), &stage->kept, &list, &problem) == OK);
    change.rule = list.items;
    change.id = list.items[0].id;
    expect(rulebook_judge(stage->room.rulebook, &change, NULL) == OK);
    stage->rule = rulebook_apply(stage->room.rulebook, &change, NULL)->rule.id;
}

static struct participant *enter(struct stage *stage, struct str id, struct str may)
{
    struct participant *participant;
    struct capset *caps = NULL;

    expect(capset_intern(stage->capsets, (struct str_list){ &may, 1 }, &caps, NULL) ==
           OK);
    participant = participant_enter(&stage->room.topic, id, TYPE_SERVICE, caps, 1);
    capset_unref(caps);
    return participant;
}

static void stage_init(struct stage *stage, enum proposal_mode mode)
{
    *stage = (struct stage){
        .topic_settings = { .ring_messages = 9,
                            .ring_bytes = 1 << 20,
                            .max_members = 9,
                            .max_members_each = 9 },
        .ledger_settings = { .mode = mode,
                             .expiry_ms = 60'000,
                             .max_expiry_ms = 120'000,
                             .max_proposals = 9,
                             .max_requests = 9 },
        .limits = { .depth = 128, .rate_strikes = 2 },
    };
    arena_init(&stage->scratch, 16 << 20);
    arena_init(&stage->kept, 1 << 20);
    stage->capsets = capsets_new();
    topic_init(&stage->room.topic,
               &(struct topic_setup){ .name = S("room"),
                                      .native = &bare,
                                      .settings = &stage->topic_settings,
                                      .ops = &topic_ops });
    stage->room.rules = &stage->rules;
    stage->room.has_automation = true;
    stage->room.rulebook = rulebook_new(S("room"));
    ledger_init(&stage->room.ledger, &stage->ledger_settings);
    stage->bot = enter(stage, S("bot"), S("mcp/*"));
    stage->orc = enter(stage, S("orc"), S("rule/use"));
    add_rule(stage);
}

static void stage_done(struct stage *stage)
{
    ledger_done(&stage->room.ledger);
    rulebook_free(stage->room.rulebook);
    topic_done(&stage->room.topic);
    capsets_free(stage->capsets);
    arena_done(&stage->scratch);
    arena_done(&stage->kept);
}

static enum err send(struct stage *stage, struct participant *who, struct str text,
                     struct admission *ret)
{
    bool is_dotted = memmem(text.ptr, text.len, "mcpx/draft", 10) != NULL;
    struct refusal refusal = {};

    *ret = (struct admission){ .room = &stage->room,
                               .sender = who,
                               .dialect = is_dotted ? DIALECT_DOTTED : DIALECT_SLASH,
                               .text = text,
                               .limits = &stage->limits,
                               .scratch = &stage->scratch,
                               .now_ms = 1,
                               .wall_ms = WALL };
    if (!is_dotted)
        ret->text.ptr =
            memcpy(topic_reserve(&stage->room.topic, text.len), text.ptr, text.len);
    return admit(ret, &refusal);
}

/* The request in the proposer's name, as whoever executes it reads it. */
static void check_passed(const struct stage *stage, const struct admission *a,
                         struct str text)
{
    const struct held_rule *held = rulebook_find(stage->room.rulebook, stage->rule);
    struct rule_proposal asked = {};
    struct arena arena;
    const char *why;

    arena_init(&arena, 32 << 20);
    expect(a->env.kind.type == KIND_REQUEST && a->effect.type == EFFECT_FULFIL);
    expect(a->effect.proposal->state == PROPOSAL_FULFILLED);
    expect(str_eq(a->effect.proposal->rule, stage->rule));
    expect(!a->env.edited.text.ptr);
    if (a->dialect == DIALECT_SLASH) {
        expect(rule_proposal_read(S("room"), text, &arena, &asked, &why) == OK);
        asked.proposer = S("bot");
        expect(rule_covers(&held->rule, &asked, NULL));
    }
    arena_done(&arena);
}

static void play(enum proposal_mode mode, struct str proposal, struct str request)
{
    const struct held_rule *held;
    struct stage stage;
    struct admission a;
    uint64_t before;
    enum err err;

    stage_init(&stage, mode);
    (void)send(&stage, stage.bot, proposal, &a);
    held = rulebook_find(stage.room.rulebook, stage.rule);
    before = held->uses;
    err = send(&stage, stage.orc, request, &a);
    expect(before == 0 && held->uses == (err ? 0 : a.env.rule.ptr != NULL));
    if (!err && a.env.rule.ptr)
        check_passed(&stage, &a, request);
    /* He holds nothing else; mcp/withdraw and routing need nothing. */
    if (!err && !a.env.rule.ptr)
        expect(a.env.kind.type != KIND_REQUEST);
    stage_done(&stage);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct str proposal = str_cut(&rest, '\n');

    if (!proposal.ptr || !rest.ptr)
        return 0;
    play(PROPOSALS_ONCE, proposal, rest);
    play(PROPOSALS_FREE, proposal, rest);
    play(PROPOSALS_EXACT, proposal, rest);
    return 0;
}
