/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for people: in words, and as YAML. */
#include <stdio.h>

#include "base/clock.h"
#include "base/plain.h"
#include "rules/rule.h"

enum { TEXT_BYTES = 1 << 20, TREE_BYTES = 16 << 20, DAY_TEXT = 10 };

/* --- words --- */

static void put_list(struct buf *out, const struct str *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_put(out, i + 1 == count ? S(" or ") : S(", "));
        plain_put(out, items[i], PLAIN_JSON);
    }
}

static void explain_tail(struct buf *out, const struct shape *s)
{
    buf_put(out, S(", of "));
    shape_characters_put(out, s->characters);
    buf_putf(out, " alone, %zu bytes", s->max_bytes);
    if (s->depth > 1)
        buf_putf(out, " and %zu parts", s->depth);
    buf_put(out, S(" at most"));
    if (s->value_count == 0)
        return;
    buf_put(out, S(", ending with "));
    for (size_t i = 0; i < s->value_count; i++) {
        buf_put(out, i == 0 ? S("") : i + 1 == s->value_count ? S(" or ") : S(", "));
        if (s->values[i].len)
            plain_put(out, s->values[i], PLAIN_LINE);
        else
            buf_put(out, S("none"));
    }
}

static void explain_members(struct buf *out, const struct shape *s)
{
    buf_put(out, S("an object: "));
    for (const struct shape *at = s->first; at; at = at->next) {
        plain_put(out, at->key, PLAIN_LINE);
        buf_put(out, at->is_optional ? S(" (may be absent) is ") : S(" is "));
        shape_explain(out, at);
        if (at->next)
            buf_put(out, S("; "));
    }
}

void shape_explain(struct buf *out, const struct shape *s)
{
    switch (s->kind) {
    case SHAPE_EXACTLY:
        buf_put(out, S("exactly "));
        put_list(out, s->values, s->value_count);
        break;
    case SHAPE_ONE_OF: put_list(out, s->values, s->value_count); break;
    case SHAPE_BOOLEAN: buf_put(out, S("true or false")); break;
    case SHAPE_BETWEEN:
        buf_putf(out, "a %snumber from " STR_FMT " to " STR_FMT,
                 s->is_whole ? "whole " : "", STR_ARG(s->min), STR_ARG(s->max));
        break;
    case SHAPE_UNDER:
        buf_put(out, S("a path beneath "));
        plain_put(out, s->text, PLAIN_LINE);
        explain_tail(out, s);
        break;
    case SHAPE_PREFIXED:
        buf_put(out, S("a text that begins with "));
        plain_put(out, s->text, PLAIN_LINE);
        explain_tail(out, s);
        break;
    case SHAPE_FREE_TEXT:
        buf_putf(out, "any text of %zu bytes at most", s->max_bytes);
        break;
    case SHAPE_OBJECT: explain_members(out, s); break;
    case SHAPE_ARRAY:
        buf_putf(out, "%zu to %zu items, each ", s->min_items, s->max_items);
        shape_explain(out, s->first);
        break;
    }
}

static void explain_to(struct buf *out, const struct rule *rule)
{
    if (str_eq(rule->to, S("*"))) {
        buf_put(out, S(" of anybody"));
    } else if (rule->to.len) {
        buf_put(out, S(" of "));
        plain_put(out, rule->to, PLAIN_LINE);
    }
}

static void put_day(struct buf *out, uint64_t ms)
{
    char text[CLOCK_TEXT];

    buf_put(out, str_slice(clock_write(ms, text), 0, DAY_TEXT));
}

static void explain_evidence(struct buf *out, const struct rule_evidence *e)
{
    buf_putf(out, "Approved %llu times", (unsigned long long)e->approved);
    if (e->first_ms && e->last_ms) {
        buf_put(out, S(" from "));
        put_day(out, e->first_ms);
        buf_put(out, S(" to "));
        put_day(out, e->last_ms);
    }
    buf_putf(out, ", on %llu day%s", (unsigned long long)e->days,
             e->days == 1 ? "" : "s");
    for (size_t i = 0; i < e->people_count; i++) {
        buf_put(out, i ? S(", ") : S(", by "));
        plain_put(out, e->people[i], PLAIN_LINE);
    }
    buf_putf(out, "; never rejected. So at least %llu.%llu %% of such are approved.\n",
             (unsigned long long)(e->bound / 10'000),
             (unsigned long long)(e->bound / 1000 % 10));
    if (e->beside)
        buf_putf(out, "Rejected beside it, and not covered: %llu.\n",
                 (unsigned long long)e->beside);
}

void rule_explain(struct buf *out, const struct rule *rule)
{
    buf_put(out, S("In "));
    plain_put(out, rule->topic, PLAIN_LINE);
    buf_put(out, S(", "));
    plain_put(out, rule->proposer, PLAIN_LINE);
    buf_put(out, rule->tool.len ? S(" may call ") : S(" may ask for "));
    plain_put(out, rule->tool.len ? rule->tool : rule->method, PLAIN_LINE);
    explain_to(out, rule);
    buf_putf(out, ", %llu times an hour at most", (unsigned long long)rule->budget);
    if (rule->expires_ms) {
        buf_put(out, S(", until "));
        put_day(out, rule->expires_ms);
    }
    buf_put(out, rule->arguments->count ? S(", where\n") : S(", without arguments.\n"));
    for (const struct shape *at = rule->arguments->first; at; at = at->next) {
        buf_put(out, S("  "));
        plain_put(out, at->key, PLAIN_LINE);
        buf_put(out, at->is_optional ? S(" (may be absent) is ") : S(" is "));
        shape_explain(out, at);
        buf_putc(out, '\n');
    }
    if (rule->evidence.approved)
        explain_evidence(out, &rule->evidence);
}

/* --- YAML --- */

static bool is_word(struct str key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_')
            return false;
    }
    return key.len > 0;
}

static void put_key(struct buf *out, struct str key)
{
    struct json_writer w;

    json_write_init(&w, out);
    if (is_word(key))
        buf_put(out, key);
    else
        json_str(&w, key);
    buf_put(out, S(": "));
}

/* As people write it: one line, keys without quotes, texts with them. Goes as deep as a
 * rule is. */
static void put_flow(struct buf *out, const struct json *value)
{
    bool is_object = value->type == JSON_OBJECT;

    if (!value->first) {
        buf_put(out, value->raw);
        return;
    }
    buf_put(out, is_object ? S("{ ") : S("["));
    JSON_FOREACH(at, value) {
        if (at != value->first)
            buf_put(out, S(", "));
        if (is_object)
            put_key(out, at->key);
        put_flow(out, at);
    }
    buf_put(out, is_object ? S(" }") : S("]"));
}

static void put_block(struct buf *out, const struct json *object)
{
    if (!object->first)
        buf_put(out, S(" {}"));
    JSON_FOREACH(at, object) {
        buf_put(out, S("\n      "));
        put_key(out, at->key);
        put_flow(out, at);
    }
}

static void put_comment(struct buf *out, const struct rule *rule)
{
    struct str rest;
    struct buf words;

    buf_init(&words, TEXT_BYTES);
    rule_explain(&words, rule);
    rest = buf_str(&words);
    while (rest.len) {
        buf_put(out, S("  # "));
        buf_put(out, str_cut(&rest, '\n'));
        buf_putc(out, '\n');
    }
    buf_done(&words);
}

static void put_members(struct buf *out, const struct json *rule)
{
    JSON_FOREACH(at, rule) {
        buf_put(out, at == rule->first ? S("  - ") : S("    "));
        if (at->type == JSON_OBJECT) { /* arguments, evidence */
            buf_put(out, at->key);
            buf_putc(out, ':');
            put_block(out, at);
        } else {
            put_key(out, at->key);
            put_flow(out, at);
        }
        buf_putc(out, '\n');
    }
}

void rule_write_yaml(struct buf *out, const struct rule *rule)
{
    const struct json *tree;
    struct json_writer w;
    struct arena arena;
    struct buf text;

    put_comment(out, rule);
    arena_init(&arena, TREE_BYTES);
    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    rule_write(&w, rule);
    if (json_parse(buf_str(&text), &arena, &tree, NULL) == OK)
        put_members(out, tree);
    buf_done(&text);
    arena_done(&arena);
}
