/* SPDX-License-Identifier: Apache-2.0 */
/* How the rules of a topic look: a table, a file with remarks, words. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "cli/cell.h"
#include "cli/rules_room.h"
#include "tui/wrap.h"

enum {
    TEXT_BYTES = 1 << 20,
    GAP = 2,
    PROPOSER = 12, /* characters at most */
    WHAT = 16,     /* at least */
    DEEPER = 2,
    NARROWEST = 20,
    MINUTE_TEXT = 16, /* "2026-11-16T11:20" */
    DAY_TEXT = 10,
    SECOND_MS = 1000,
    MINUTE = 60,
    HOUR = 60 * MINUTE,
    DAY = 24 * HOUR,
};

/* --- in one line --- */

static void put_shape(struct buf *out, const struct shape *s)
{
    switch (s->kind) {
    case SHAPE_EXACTLY:
    case SHAPE_ONE_OF:
        for (size_t i = 0; i < s->value_count; i++) {
            buf_put(out, i ? S("|") : S(""));
            plain_put(out, s->values[i], PLAIN_JSON);
        }
        break;
    case SHAPE_BOOLEAN: buf_put(out, S("true|false")); break;
    case SHAPE_BETWEEN:
        buf_putf(out, STR_FMT ".." STR_FMT, STR_ARG(s->min), STR_ARG(s->max));
        break;
    case SHAPE_UNDER:
        plain_put(out, s->text, PLAIN_LINE);
        buf_put(out, S("/.."));
        break;
    case SHAPE_PREFIXED:
        plain_put(out, s->text, PLAIN_LINE);
        buf_put(out, S(".."));
        break;
    case SHAPE_FREE_TEXT: buf_put(out, S("(text)")); break;
    case SHAPE_OBJECT: buf_put(out, S("{..}")); break;
    case SHAPE_ARRAY: buf_put(out, S("[..]")); break;
    }
}

void rules_put_what(struct buf *out, const struct rule *rule)
{
    plain_put(out, rule->tool.len ? rule->tool : rule->method, PLAIN_LINE);
    if (rule->to.len) {
        buf_put(out, S(" at "));
        plain_put(out, str_eq(rule->to, S("*")) ? S("anybody") : rule->to, PLAIN_LINE);
    }
    for (const struct shape *at = rule->arguments->first; at; at = at->next) {
        buf_put(out, at == rule->arguments->first ? S(": ") : S(" "));
        plain_put(out, at->key, PLAIN_LINE);
        buf_put(out, at->is_optional ? S("?=") : S("="));
        put_shape(out, at);
    }
}

/* --- times --- */

/* "29d", "5h", "12m", "40s" */
static void put_span(struct buf *out, uint64_t seconds)
{
    if (seconds >= 2 * (uint64_t)DAY)
        buf_putf(out, "%llud", (unsigned long long)seconds / DAY);
    else if (seconds >= HOUR)
        buf_putf(out, "%lluh", (unsigned long long)seconds / HOUR);
    else if (seconds >= MINUTE)
        buf_putf(out, "%llum", (unsigned long long)seconds / MINUTE);
    else
        buf_putf(out, "%llus", (unsigned long long)seconds);
}

static void put_expiry(struct buf *out, const struct rule *rule, uint64_t now_ms)
{
    if (!rule->expires_ms)
        buf_put(out, S("never"));
    else if (!rule_is_current(rule, now_ms))
        buf_put(out, S("expired"));
    else
        put_span(out, (rule->expires_ms - now_ms) / SECOND_MS);
}

/* "2026-11-16 11:20 UTC" */
static void put_moment(struct buf *out, uint64_t ms)
{
    char text[CLOCK_TEXT];
    struct str at = str_slice(clock_write(ms, text), 0, MINUTE_TEXT);

    buf_put(out, str_slice(at, 0, DAY_TEXT));
    buf_putc(out, ' ');
    buf_put(out, str_slice(at, DAY_TEXT + 1, at.len));
    buf_put(out, S(" UTC"));
}

static bool is_used_up(const struct listed_rule *one)
{
    return one->used_this_hour >= one->rule.budget;
}

/* --- the table --- */

enum cell {
    CELL_ID,
    CELL_STATE,
    CELL_EXPIRES,
    CELL_USES,
    CELL_PROPOSER,
    CELL_WHAT,
    CELLS
};

static const struct str titles[CELLS] = {
    [CELL_ID] = S("ID"),
    [CELL_STATE] = S("STATE"),
    [CELL_EXPIRES] = S("EXPIRES"),
    [CELL_USES] = S("USES/H"),
    [CELL_PROPOSER] = S("PROPOSER"),
    [CELL_WHAT] = S("WHAT"),
};

static void put_cell(struct buf *out, const struct room_rules *rules,
                     const struct listed_rule *one, enum cell cell, uint64_t now_ms)
{
    switch (cell) {
    case CELL_ID: plain_put(out, room_rules_short(rules, one), PLAIN_LINE); break;
    case CELL_STATE: buf_put(out, rule_state_name(one->rule.state)); break;
    case CELL_EXPIRES: put_expiry(out, &one->rule, now_ms); break;
    case CELL_USES:
        buf_putf(out, "%llu/%llu", (unsigned long long)one->used_this_hour,
                 (unsigned long long)one->rule.budget);
        break;
    case CELL_PROPOSER: (void)cell_put_cut(out, one->rule.proposer, PROPOSER); break;
    case CELL_WHAT: rules_put_what(out, &one->rule); break;
    case CELLS: break;
    }
}

struct table {
    const struct room_rules *rules;
    uint64_t now_ms;
    size_t widths[CELLS];
    struct buf cell; /* reused */
};

static void measure(struct table *t)
{
    for (enum cell c = 0; c < CELL_WHAT; c++) {
        t->widths[c] = titles[c].len;
        for (size_t i = 0; i < t->rules->count; i++) {
            size_t width;

            buf_clear(&t->cell);
            put_cell(&t->cell, t->rules, &t->rules->items[i], c, t->now_ms);
            width = utf8_count(buf_str(&t->cell));
            t->widths[c] = width > t->widths[c] ? width : t->widths[c];
        }
    }
}

/* NULL: the titles. */
static void put_row(struct buf *out, struct table *t, const struct listed_rule *one)
{
    for (enum cell c = 0; c < CELLS; c++) {
        buf_clear(&t->cell);
        if (one)
            put_cell(&t->cell, t->rules, one, c, t->now_ms);
        else
            buf_put(&t->cell, titles[c]);
        if (c == CELL_WHAT)
            (void)cell_put_cut(out, buf_str(&t->cell), t->widths[c]);
        else
            (void)cell_put(out, buf_str(&t->cell), t->widths[c] + GAP);
    }
    buf_putc(out, '\n');
}

void rules_put_table(struct buf *out, const struct room_rules *rules, uint64_t now_ms,
                     size_t columns)
{
    struct table t = { .rules = rules, .now_ms = now_ms };
    size_t used = 0;

    buf_init(&t.cell, TEXT_BYTES);
    measure(&t);
    for (enum cell c = 0; c < CELL_WHAT; c++)
        used += t.widths[c] + GAP;
    t.widths[CELL_WHAT] = columns > used + WHAT ? columns - used : WHAT;
    put_row(out, &t, NULL);
    for (size_t i = 0; i < rules->count; i++)
        put_row(out, &t, &rules->items[i]);
    buf_done(&t.cell);
}

/* --- whether it acts --- */

bool rules_acts(const struct room_rules *rules, const struct listed_rule *one,
                uint64_t now_ms, const char **ret_why)
{
    const char *why = NULL;

    switch (one->rule.state) {
    case RULE_ACTIVE: break;
    case RULE_SUGGESTED: why = "suggested"; break;
    case RULE_SHADOW: why = "shadow"; break;
    case RULE_SUSPENDED: why = "suspended"; break;
    case RULE_DISABLED: why = "disabled"; break;
    case RULE_DECLINED: why = "declined"; break;
    case RULE_STATE_COUNT: break;
    }
    if (!why && !rule_is_current(&one->rule, now_ms))
        why = "expired";
    if (!why && !rules->has_automation)
        why = "automation is off";
    if (!why && is_used_up(one))
        why = "used up";
    if (why)
        *ret_why = why;
    return !why;
}

/* " by ann, 2026-11-16 11:20 UTC: it deleted the wrong one" */
static void put_change(struct buf *out, const struct listed_rule *one)
{
    if (one->changed_by.len) {
        buf_put(out, S(" by "));
        plain_put(out, one->changed_by, PLAIN_LINE);
    }
    if (one->changed_ms) {
        buf_put(out, S(", "));
        put_moment(out, one->changed_ms);
    }
    if (one->reason.len) {
        buf_put(out, S(": "));
        plain_put(out, one->reason, PLAIN_LINE);
    }
}

/* `moot rules accept room r-18b26c` */
static void put_command(struct buf *out, const struct room_rules *rules,
                        const struct listed_rule *one, const char *verb)
{
    buf_putf(out, "`moot rules %s ", verb);
    plain_put(out, rules->topic, PLAIN_LINE);
    buf_putc(out, ' ');
    plain_put(out, room_rules_short(rules, one), PLAIN_LINE);
    buf_putc(out, '`');
}

/* What the state is called, and what ends it. */
static void put_state(struct buf *out, const struct room_rules *rules,
                      const struct listed_rule *one)
{
    /* clang-format off */
    static const struct standing { const char *is, *verb, *then; } states[RULE_STATE_COUNT] = {
        [RULE_SUGGESTED] = { "it was only suggested", "accept",  "lets it act, with --shadow it only says what it would do" },
        [RULE_SHADOW]    = { "it was put in shadow",  "accept",  "lets it act; so far it only says what it would do" },
        [RULE_ACTIVE]    = { "it was made active",    "disable", "stops it" },
        [RULE_SUSPENDED] = { "it was suspended",      "enable",  "lets it act again, once that is settled" },
        [RULE_DISABLED]  = { "it was disabled",       "enable",  "lets it act again" },
        [RULE_DECLINED]  = { "it was declined",       "accept",  "takes it after all" },
    };
    /* clang-format on */
    const struct standing *state = &states[one->rule.state];

    buf_put(out, str_of(state->is));
    if (one->rule.state == RULE_SUGGESTED && !one->changed_by.len &&
        one->rule.created_by.len) {
        buf_put(out, S(" by "));
        plain_put(out, one->rule.created_by, PLAIN_LINE);
    }
    put_change(out, one);
    buf_put(out, S(".\n"));
    put_command(out, rules, one, state->verb);
    buf_putf(out, " %s.\n", state->then);
}

/* What helps depends on who may still say something about it. */
static void put_expired(struct buf *out, const struct room_rules *rules,
                        const struct listed_rule *one)
{
    buf_put(out, S("it expired, "));
    put_moment(out, one->rule.expires_ms);
    buf_put(out, S(".\n"));
    switch (one->rule.state) {
    case RULE_SUGGESTED:
    case RULE_SHADOW:
    case RULE_DECLINED:
        put_command(out, rules, one, "accept");
        buf_put(out, S(" with --expires 30d lets it act so long.\n"));
        return;
    case RULE_ACTIVE:
    case RULE_SUSPENDED:
    case RULE_DISABLED:
    case RULE_STATE_COUNT: break;
    }
    buf_put(out, S("To have it again: "));
    put_command(out, rules, one, "export");
    buf_put(out, S(" into a file, a later expires_at there, "));
    if (one->rule.state == RULE_ACTIVE) {
        put_command(out, rules, one, "disable");
        buf_put(out, S(", "));
    }
    buf_put(out, S("and `moot rules import` of the file.\n"));
}

static void put_off(struct buf *out, const struct room_rules *rules)
{
    buf_put(out, S("automation is off in "));
    plain_put(out, rules->topic, PLAIN_LINE);
    buf_put(out, S(", so no rule acts there.\n`moot topic set "));
    plain_put(out, rules->topic, PLAIN_LINE);
    buf_put(out, S(" automation on` lets them.\n"));
}

/* All that keeps it from acting, one after the other. */
static void put_hindrances(struct buf *out, const struct room_rules *rules,
                           const struct listed_rule *one, uint64_t now_ms)
{
    const char *begin = "It does not act: ";

    if (one->rule.state != RULE_ACTIVE) {
        buf_put(out, str_of(begin));
        put_state(out, rules, one);
        begin = "Besides, ";
    }
    if (!rule_is_current(&one->rule, now_ms)) {
        buf_put(out, str_of(begin));
        put_expired(out, rules, one);
        begin = "Besides, ";
    }
    if (!rules->has_automation) {
        buf_put(out, str_of(begin));
        put_off(out, rules);
        begin = "Besides, ";
    }
    if (is_used_up(one) && one->used_this_hour) {
        buf_put(out, str_of(begin));
        buf_putf(out, "its budget is used up: %llu of %llu uses within this hour.\n",
                 (unsigned long long)one->used_this_hour,
                 (unsigned long long)one->rule.budget);
    }
}

static void put_acting(struct buf *out, const struct room_rules *rules,
                       const struct listed_rule *one)
{
    buf_put(out, S("It acts: "));
    put_state(out, rules, one);
}

/* "Used 12 times, 3 of 20 within this hour, the last time 2026-11-16 11:20 UTC." */
static void put_uses(struct buf *out, const struct listed_rule *one)
{
    if (!one->uses) {
        buf_put(out, S("Not used yet.\n"));
        return;
    }
    if (one->uses == 1)
        buf_put(out, S("Used once"));
    else
        buf_putf(out, "Used %llu times", (unsigned long long)one->uses);
    buf_putf(out, ", %llu of %llu within this hour",
             (unsigned long long)one->used_this_hour,
             (unsigned long long)one->rule.budget);
    if (one->last_use_ms) {
        buf_put(out, S(", the last time "));
        put_moment(out, one->last_use_ms);
    }
    buf_put(out, S(".\n"));
}

/* Nobody has counted again what a rule brings with it. */
static void put_witness(struct buf *out, const struct rule *rule)
{
    if (!rule->evidence.approved || !rule->created_by.len)
        return;
    buf_put(out, S("Those numbers are the word of "));
    plain_put(out, rule->created_by, PLAIN_LINE);
    buf_put(out, S(", who brought it.\n"));
}

void rules_put_cover(struct buf *out, const struct rule *rule)
{
    rule_explain(out, rule);
    put_witness(out, rule);
    if (rule->note.len) {
        buf_put(out, S("Note: "));
        plain_put(out, rule->note, PLAIN_LINE);
        buf_putc(out, '\n');
    }
}

void rules_put_wrapped(struct buf *out, struct str plain, size_t columns)
{
    while (plain.len) {
        struct str line = str_cut(&plain, '\n');
        size_t deep = 0;

        while (deep < line.len && line.ptr[deep] == ' ')
            deep++;
        (void)cell_put(out, S(""), deep);
        cell_put_wrapped(out, str_slice(line, deep, line.len),
                         deep ? deep + DEEPER : deep, columns);
        buf_putc(out, '\n');
    }
}

void rules_put_words(struct buf *out, const struct room_rules *rules,
                     const struct listed_rule *one, uint64_t now_ms, size_t columns)
{
    CLEANUP(buf_done) struct buf words;
    const char *why;

    buf_init(&words, TEXT_BYTES);
    plain_put(&words, one->rule.id, PLAIN_LINE);
    buf_putf(&words, " (" STR_FMT ")\n", STR_ARG(rule_state_name(one->rule.state)));
    rules_put_cover(&words, &one->rule);
    buf_putc(&words, '\n');
    if (rules_acts(rules, one, now_ms, &why))
        put_acting(&words, rules, one);
    else
        put_hindrances(&words, rules, one, now_ms);
    put_uses(&words, one);
    rules_put_wrapped(out, buf_str(&words), columns);
}

/* --- as a file --- */

/* Remarks go on below themselves, as remarks; what they are about stays as it is. */
static void put_line(struct buf *out, struct str line, size_t columns)
{
    struct wrap wrap = { .columns = SIZE_MAX };
    size_t deep = 0;
    struct str part;

    while (deep < line.len && line.ptr[deep] == ' ')
        deep++;
    if (deep == line.len || line.ptr[deep] != '#') {
        buf_put(out, line);
        buf_putc(out, '\n');
        return;
    }
    while (deep < line.len && (line.ptr[deep] == '#' || line.ptr[deep] == ' '))
        deep++;
    wrap.rest = str_slice(line, deep, line.len);
    if (columns > deep + NARROWEST)
        wrap.columns = columns - deep;
    while (wrap_next(&wrap, &part)) {
        buf_put(out, str_slice(line, 0, deep));
        buf_put(out, part);
        buf_putc(out, '\n');
    }
}

static void put_remarks(struct buf *out, struct str words)
{
    while (words.len) {
        buf_put(out, S("    # "));
        buf_put(out, str_cut(&words, '\n'));
        buf_putc(out, '\n');
    }
}

void rules_put_entry(struct buf *out, const struct listed_rule *one, uint64_t now_ms,
                     size_t columns)
{
    CLEANUP(buf_done) struct buf text, words;
    struct str rest;

    buf_init(&text, TEXT_BYTES);
    buf_init(&words, TEXT_BYTES);
    rule_write_yaml(&text, &one->rule);
    put_witness(&words, &one->rule);
    if (one->changed_by.len || one->changed_ms) {
        buf_put(&words, S("It became "));
        buf_put(&words, rule_state_name(one->rule.state));
        put_change(&words, one);
        buf_putc(&words, '\n');
    }
    if (!rule_is_current(&one->rule, now_ms))
        buf_put(&words, S("It has expired.\n"));
    put_uses(&words, one);
    put_remarks(&text, buf_str(&words));
    rest = buf_str(&text);
    while (rest.len)
        put_line(out, str_cut(&rest, '\n'), columns);
}
