/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules and what they cover. The first line is a file of rules as JSON, the rest the
 * envelope of a proposal. What is read is written, as JSON and as YAML, and read again:
 * it must be the same, and cover the same. A path or a prefix never covers a text with a
 * way up, a control character or a letter that is not ASCII.
 */
#include <stdint.h>
#include <stdlib.h>

#include "config/document.h"
#include "rules/rule.h"

enum { ROOM = 1 << 24, TEXT = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void write_json(const struct rule_list *rules, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("rules"));
    json_array_open(&w);
    for (size_t i = 0; i < rules->count; i++)
        rule_write(&w, &rules->items[i]);
    json_array_close(&w);
    json_object_close(&w);
}

static void expect_same(struct str text, struct str wanted, struct arena *arena,
                        struct rule_list *ret)
{
    struct rule_problem problem = {};
    struct buf out;

    expect(rules_read(text, arena, ret, &problem) == OK);
    buf_init(&out, TEXT);
    write_json(ret, &out);
    expect(str_eq(buf_str(&out), wanted));
    buf_done(&out);
}

static void through_yaml(const struct rule_list *rules, struct str wanted,
                         struct arena *arena, struct rule_list *ret)
{
    struct config_document document = {};
    struct config_problem problem = {};
    struct buf yaml;

    buf_init(&yaml, TEXT);
    buf_put(&yaml, rules->count ? S("rules:\n") : S("rules: []\n"));
    for (size_t i = 0; i < rules->count; i++)
        rule_write_yaml(&yaml, &rules->items[i]);
    if (yaml.len < CONFIG_FILE_MAX) {
        expect(config_document_read(buf_str(&yaml), "rules", &document, &problem) == OK);
        expect_same(buf_str(&document.json), wanted, arena, ret);
        expect(config_document_mark(&document, 0).line > 0);
        config_document_done(&document);
    } else {
        *ret = *rules;
    }
    buf_done(&yaml);
}

/* What is covered by something wider than a value is plain, whatever the shape says. */
static void expect_plain(const struct shape *shape, const struct json *value)
{
    if (shape->kind != SHAPE_UNDER && shape->kind != SHAPE_PREFIXED)
        return;
    for (size_t i = 0; i < value->text.len; i++) {
        unsigned char c = (unsigned char)value->text.ptr[i];

        expect(c > ' ' && c < 0x7f);
        expect(c != '.' || i + 1 == value->text.len || value->text.ptr[i + 1] != '.' ||
               i < shape->text.len);
    }
}

static void match(const struct rule_list *rules, const struct rule_list *others,
                  const struct rule_proposal *proposal)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->items[i];
        struct shape_miss miss = {};
        bool covers = rule_covers(rule, proposal, &miss);

        expect(covers || (miss.what && *miss.what));
        expect(covers == rule_covers(&others->items[i], proposal, NULL));
        if (!covers || !proposal->arguments)
            continue;
        for (const struct shape *at = rule->arguments->first; at; at = at->next) {
            const struct json *value = json_find(proposal->arguments, at->key);

            expect(value || at->is_optional);
            if (value)
                expect_plain(at, value);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct str text = str_cut(&rest, '\n');
    struct rule_list rules = {}, again = {}, yaml = {};
    struct rule_problem problem = {};
    struct rule_proposal proposal;
    const char *why = NULL;
    struct arena arena;
    struct buf written;

    arena_init(&arena, ROOM);
    if (rules_read(text, &arena, &rules, &problem)) {
        expect(problem.at <= text.len);
        arena_done(&arena);
        return 0;
    }
    buf_init(&written, TEXT);
    write_json(&rules, &written);
    expect(!written.is_full);
    expect_same(buf_str(&written), buf_str(&written), &arena, &again);
    through_yaml(&rules, buf_str(&written), &arena, &yaml);
    if (rest.ptr && rule_proposal_read(S("room"), rest, &arena, &proposal, &why) == OK) {
        match(&rules, &again, &proposal);
        match(&rules, &yaml, &proposal);
    } else {
        expect(!rest.ptr || (why && *why));
    }
    buf_done(&written);
    arena_done(&arena);
    return 0;
}
