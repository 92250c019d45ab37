/* SPDX-License-Identifier: Apache-2.0 */
/* What an orchestrator tells of its rules, and takes: the answers of its tools. */
#include "base/cleanup.h"
#include "base/plain.h"
#include "orchestrate/orchestrate_priv.h"

enum { RULE_TEXT = 1 << 20, ADD_BYTES = 16 << 20, NUMBER_BYTES = 64 };

const struct known_rule *orchestrator_find_rule(const struct orchestrator *o,
                                                struct str id)
{
    return known_find(&o->known, id);
}

/* --- telling --- */

static void put_shadow(struct json_writer *w, const struct tally *tally)
{
    json_key(w, S("shadow"));
    json_object_open(w);
    json_put_uint(w, S("would"), tally ? tally->would : 0);
    json_put_uint(w, S("agreed"), tally ? tally->agreed : 0);
    json_put_uint(w, S("disagreed"), tally ? tally->disagreed : 0);
    json_object_close(w);
}

static void put_rule(struct json_writer *w, const struct orchestrator *o,
                     const struct known_rule *one)
{
    CLEANUP(buf_done) struct buf text;
    struct json_writer inner;

    buf_init(&text, RULE_TEXT);
    json_write_init(&inner, &text);
    rule_write(&inner, &one->rule);
    json_object_open(w);
    json_put_members(w, buf_str(&text), (struct str_list){});
    json_put_uint(w, S("uses"), one->uses);
    json_put_uint(w, S("used_this_hour"), one->used_this_hour);
    if (one->reason.len)
        json_put_str(w, S("reason"), one->reason);
    put_shadow(w, map_find(&o->tallies, one->rule.id));
    json_object_close(w);
}

enum err orchestrator_list_rules(const struct orchestrator *o, struct str state,
                                 const struct tool_answer *answer)
{
    enum rule_state wanted;
    struct json_writer w;

    if (state.len && rule_state_parse(state, &wanted)) {
        buf_put(answer->why, S("state is suggested, shadow, active, suspended, disabled "
                               "or declined"));
        return ERR_INVALID;
    }
    json_write_init(&w, answer->json);
    json_object_open(&w);
    json_put_str(&w, S("automation"), o->known.has_automation ? S("on") : S("off"));
    json_key(&w, S("rules"));
    json_array_open(&w);
    for (size_t i = 0; i < o->known.count; i++)
        if (!state.len || o->known.items[i].rule.state == wanted)
            put_rule(&w, o, &o->known.items[i]);
    json_array_close(&w);
    json_object_close(&w);
    return OK;
}

static void put_millionths(struct json_writer *w, struct str key, uint64_t value)
{
    struct buf out;

    buf_init(&out, NUMBER_BYTES);
    buf_putf(&out, "%llu.%06llu", (unsigned long long)(value / 1'000'000),
             (unsigned long long)(value % 1'000'000));
    json_key(w, key);
    json_raw(w, buf_str(&out));
    buf_done(&out);
}

static void put_counts(struct json_writer *w, const struct orchestrator *o,
                       const struct known_rule *one, uint64_t now_ms)
{
    const struct tally *tally = map_find(&o->tallies, one->rule.id);

    json_object_open(w);
    json_put_str(w, S("rule"), one->rule.id);
    json_put_str(w, S("state"), rule_state_name(one->rule.state));
    json_put_uint(w, S("uses"), one->uses);
    json_put_uint(w, S("uses_seen"), tally ? tally->used : 0);
    json_put_bool(w, S("expired"), !rule_is_current(&one->rule, now_ms));
    json_put_bool(w, S("resting"), one->rest_ms > now_ms);
    put_millionths(w, S("bound"), one->rule.evidence.bound);
    put_shadow(w, tally);
    json_object_close(w);
}

void orchestrator_stats(const struct orchestrator *o, uint64_t now_ms, struct buf *json)
{
    struct learner_counts counts = learner_count(o->learner);
    struct json_writer w;

    json_write_init(&w, json);
    json_object_open(&w);
    json_put_str(&w, S("topic"), o->options.topic);
    json_put_str(&w, S("automation"), o->known.has_automation ? S("on") : S("off"));
    json_key(&w, S("learned"));
    json_object_open(&w);
    json_put_uint(&w, S("approved"), counts.approved);
    json_put_uint(&w, S("rejected"), counts.rejected);
    json_put_uint(&w, S("groups"), counts.groups);
    json_put_bool(&w, S("is_full"), counts.is_blind);
    json_object_close(&w);
    json_key(&w, S("needs"));
    json_object_open(&w);
    json_put_uint(&w, S("approvals"), o->options.learner.min_approvals);
    json_put_uint(&w, S("days"), o->options.learner.min_days);
    put_millionths(&w, S("bound"), o->options.learner.min_bound);
    json_object_close(&w);
    json_put_uint(&w, S("open"), o->open_count);
    json_put_uint(&w, S("suggested"), o->suggested);
    json_key(&w, S("rules"));
    json_array_open(&w);
    for (size_t i = 0; i < o->known.count; i++)
        put_counts(&w, o, &o->known.items[i], now_ms);
    json_array_close(&w);
    json_object_close(&w);
}

/* --- taking --- */

/* What whoever asks cannot say of a rule: it was not seen, and nobody has accepted it. */
static const struct str not_his[] = {
    S("id"),         S("topic"),      S("state"),       S("evidence"),    S("note"),
    S("created_at"), S("created_by"), S("accepted_at"), S("accepted_by"),
};

static enum err refuse(const struct tool_answer *answer, enum err err, const char *what)
{
    plain_put(answer->why, str_of(what), PLAIN_LINE);
    return err;
}

static void put_asked(struct buf *out, const struct orchestrator *o, struct str rule,
                      struct str asker)
{
    CLEANUP(buf_done) struct buf note;
    struct json_writer w;

    buf_init(&note, RULE_NOTE);
    buf_put(&note, S("asked for by "));
    plain_put(&note, asker, PLAIN_LINE);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("topic"), o->options.topic);
    json_put_str(&w, S("note"), buf_str(&note));
    json_put_members(&w, rule, (struct str_list){ not_his, COUNT(not_his) });
    json_object_close(&w);
}

static enum err read_asked(const struct orchestrator *o, struct str rule,
                           struct str asker, struct arena *arena, struct rule *ret,
                           const struct tool_answer *answer)
{
    CLEANUP(buf_done) struct buf text;
    struct rule_problem problem = {};
    const struct json *root, *topic;
    struct str kept;

    buf_init(&text, RULE_TEXT);
    if (json_parse(rule, arena, &root, NULL) || root->type != JSON_OBJECT)
        return refuse(answer, ERR_INVALID, "the rule is no object, or has a name twice");
    topic = json_find(root, S("topic"));
    if (topic && !str_eq(json_text(topic), o->options.topic))
        return refuse(answer, ERR_INVALID, "the rule is for another topic");
    put_asked(&text, o, rule, asker);
    kept = arena_str(arena, buf_str(&text));
    if (text.is_full || !kept.ptr)
        return refuse(answer, ERR_TOO_BIG, "the rule is too large");
    if (json_parse(kept, arena, &root, NULL) ||
        rule_read(root, kept, arena, ret, &problem))
        return refuse(answer, ERR_INVALID,
                      problem.what[0] ? problem.what : "the rule cannot be read");
    if (ret->to.len == 0)
        return refuse(answer, ERR_INVALID,
                      "`to` must say who is asked; nobody else chooses");
    return OK;
}

enum err orchestrator_add_rule(struct orchestrator *o, struct str rule, struct str asker,
                               uint64_t now_ms, const struct tool_answer *answer)
{
    CLEANUP(arena_done) struct arena arena;
    struct json_writer w;
    const char *why;
    struct rule asked;
    enum err err;

    arena_init(&arena, ADD_BYTES);
    o->now_ms = now_ms;
    if (!o->known.is_read)
        return refuse(answer, ERR_AGAIN, "the rules of the topic are not known yet");
    err = read_asked(o, rule, asker, &arena, &asked, answer);
    if (err)
        return err;
    why = known_objection(&o->known, &asked, now_ms);
    if (!why && known_narrower(&o->known, &asked, now_ms))
        why = "a rule covers a part of it, and nothing is known that speaks for more";
    if (why)
        return refuse(answer, ERR_RULE_STATE, why);
    if (!allowance_take(&o->asked, now_ms))
        return refuse(answer, ERR_RATE_LIMITED,
                      "too many rules were asked for within the hour");
    suggest_one(o, &asked, asker);
    json_write_init(&w, answer->json);
    json_object_open(&w);
    json_put_str(&w, S("rule"), asked.id);
    json_put_str(&w, S("state"), S("suggested"));
    json_object_close(&w);
    return OK;
}
