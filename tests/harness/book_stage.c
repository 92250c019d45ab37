/* SPDX-License-Identifier: Apache-2.0 */
#include "book_stage.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

enum { ROOM = 64 << 20, TEXT = 1 << 20 };

void book_stage_open(struct book_stage *s)
{
    *s = (struct book_stage){ .book = rulebook_new(S("room")) };
    arena_init(&s->arena, ROOM);
}

void book_stage_close(struct book_stage *s)
{
    rulebook_free(s->book);
    arena_done(&s->arena);
}

/* Of the proposer bot; the arguments as shapes, for example {"n":{"exactly":1}}. */
struct rule *make_rule(struct book_stage *s, const char *arguments)
{
    struct rule *rule = arena_alloc(&s->arena, sizeof(*rule));
    struct rule_problem problem = {};
    const struct json *root;
    struct buf text;
    struct str kept;

    buf_init(&text, TEXT);
    buf_putf(&text,
             "{\"topic\":\"room\",\"proposer\":\"bot\",\"method\":\"tools/call\","
             "\"tool\":\"deploy\",\"arguments\":%s}",
             arguments);
    kept = arena_str(&s->arena, buf_str(&text));
    buf_done(&text);
    if (json_parse(kept, &s->arena, &root, NULL) ||
        rule_read(root, kept, &s->arena, rule, &problem)) {
        printf("# %s: %s\n", arguments, problem.what);
        abort();
    }
    return rule;
}

struct rule *rule_number(struct book_stage *s, unsigned number)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "{\"n\":{\"exactly\":%u}}", number);
    return make_rule(s, text);
}

const struct shape *make_shape(struct book_stage *s, const char *arguments)
{
    return make_rule(s, arguments)->arguments;
}

struct rule_change change_of(enum rule_verb verb, struct str id)
{
    return (struct rule_change){
        .verb = verb, .id = id, .by = S("ann"), .is_by_human = true, .at_ms = NOW
    };
}

struct rule_change whole(enum rule_verb verb, const struct rule *rule)
{
    struct rule_change change = change_of(verb, rule->id);

    change.rule = rule;
    if (verb == RULE_SUGGEST) {
        change.by = S("finder");
        change.is_by_human = false;
    }
    return change;
}

enum err judge(struct book_stage *s, const struct rule_change *change)
{
    s->problem = (struct rulebook_problem){};
    return rulebook_judge(s->book, change, &s->problem);
}

const struct held_rule *apply(struct book_stage *s, const struct rule_change *change)
{
    const struct held_rule *declined;

    CHECK_INT(judge(s, change), OK);
    return rulebook_apply(s->book, change, &declined);
}

void put_held(struct buf *out, const struct held_rule *held)
{
    struct json_writer w;

    json_write_init(&w, out);
    held_rule_write(held, &w);
}

/* Everything the book says, the order included. */
struct str written(struct book_stage *s)
{
    struct buf text;
    struct str kept;

    buf_init(&text, 16 << 20);
    for (const struct held_rule *at = NULL; (at = rulebook_next(s->book, at));) {
        put_held(&text, at);
        buf_putc(&text, '\n');
    }
    CHECK(!text.is_full);
    kept = arena_str(&s->arena, buf_str(&text));
    buf_done(&text);
    return kept;
}

/* As a gateway does: everything is kept, and read back into a new book. */
void restart(struct book_stage *s)
{
    struct str before = written(s), rest = before;
    struct rulebook *fresh = rulebook_new(S("room"));

    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        if (line.len)
            CHECK_INT(rulebook_restore(fresh, line), OK);
    }
    rulebook_free(s->book);
    s->book = fresh;
    CHECK_STR(written(s), before);
}

/* Brings a rule into a state, by ways that people have. */
struct str put_in(struct book_stage *s, const struct rule *rule, enum rule_state state)
{
    struct rule_change change = whole(RULE_SUGGEST, rule);
    struct rule_change next = change_of(RULE_ACCEPT, rule->id);

    (void)apply(s, &change);
    if (state == RULE_SUGGESTED)
        return rule->id;
    if (state == RULE_DECLINED)
        next.verb = RULE_DECLINE;
    next.is_shadow = state == RULE_SHADOW;
    (void)apply(s, &next);
    if (state == RULE_SUSPENDED || state == RULE_DISABLED) {
        next = change_of(state == RULE_SUSPENDED ? RULE_SUSPEND : RULE_DISABLE, rule->id);
        (void)apply(s, &next);
    }
    CHECK_INT(rulebook_find(s->book, rule->id)->rule.state, state);
    return rule->id;
}

struct rule_proposal proposal_of(struct book_stage *s, const char *arguments)
{
    struct rule_proposal p = { .topic = S("room"),
                               .proposer = S("bot"),
                               .method = S("tools/call"),
                               .tool = S("deploy") };

    if (json_parse(str_of(arguments), &s->arena, &p.arguments, NULL))
        abort();
    return p;
}

enum err may_use(struct book_stage *s, struct str id, const char *arguments,
                 uint64_t at_ms)
{
    struct rule_proposal p = proposal_of(s, arguments);

    s->problem = (struct rulebook_problem){};
    return rulebook_may_use(
        s->book,
        &(struct rule_use){ .id = id, .proposal = &p, .by = S("finder"), .at_ms = at_ms },
        &s->problem);
}

/* Uses it, where that is allowed. */
bool use(struct book_stage *s, struct str id, uint64_t at_ms)
{
    struct rule_use u = { .id = id, .by = S("finder"), .at_ms = at_ms };

    if (may_use(s, id, "{\"n\":1}", at_ms))
        return false;
    rulebook_use(s->book, &u);
    return true;
}
