/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/gate_terms.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "envelope/envelope.h"
#include "participant/pick.h"
#include "policy/capability.h"
#include "policy/pattern.h"

const struct str gate_modes[] = { S("always-allow"), S("always-prompt"), S("selective"),
                                  S("delegated"), S("") };
const struct str gate_thens[] = { S("allow"), S("prompt"), S("delegate"), S("deny"),
                                  S("") };

enum { WHY_BYTES = 256, ID_MAX = 128 };

/* --- compiled --- */

struct compiled {
    struct pattern *tool, *caller; /* NULL: any */
    struct capability *arguments;  /* NULL: none */
    enum gate_then then;
};

struct gate_rules {
    enum gate_mode mode;
    bool has_delegate;
    uint64_t timeout_ms;
    size_t count;
    struct compiled rules[];
};

static void compiled_done(struct compiled *rule)
{
    pattern_free(rule->tool);
    pattern_free(rule->caller);
    capability_free(rule->arguments);
}

/* "" and "*" are the same: what is called has a name, and who calls as well. */
static enum err compile_pattern(struct str text, struct pattern **ret, const char **why)
{
    if (!text.len || str_eq(text, S("*")))
        return OK;
    return pattern_new_value(text, ret, why);
}

/* Conditions are those of a capability, whose kind is of no account here. */
static enum err compile_arguments(struct str json, struct capability **ret,
                                  const char **why)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, CAPABILITY_MAX_BYTES);
    if (!json.len)
        return OK;
    buf_put(&text, S("{\"kind\":\"mcp\",\"payload\":{\"params\":{\"arguments\":"));
    buf_put(&text, json);
    buf_put(&text, S("}}}"));
    *why = "the conditions are too long";
    return text.is_full ? ERR_TOO_BIG : capability_new(buf_str(&text), ret, why);
}

static enum err compile(const struct gate_rule *rule, struct compiled *ret,
                        const char **what, const char **why)
{
    ret->then = rule->then;
    *what = "tool";
    if (compile_pattern(rule->tool, &ret->tool, why))
        return ERR_INVALID;
    *what = "caller";
    if (compile_pattern(rule->caller, &ret->caller, why))
        return ERR_INVALID;
    *what = "arguments";
    return compile_arguments(rule->arguments, &ret->arguments, why);
}

struct gate_rules *gate_rules_new(const struct gate_terms *terms)
{
    struct gate_rules *rules =
        xcalloc(1, sizeof(*rules) + terms->rule_count * sizeof(rules->rules[0]));
    const char *what, *why;

    rules->mode = terms->mode;
    rules->has_delegate = terms->delegate.len;
    rules->timeout_ms = terms->timeout_ms ? terms->timeout_ms : GATE_TIMEOUT_MS;
    for (size_t i = 0; i < terms->rule_count; i++) {
        rules->count++;
        if (compile(&terms->rules[i], &rules->rules[i], &what, &why)) {
            gate_rules_free(rules);
            return NULL;
        }
    }
    return rules;
}

void gate_rules_free(struct gate_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        compiled_done(&rules->rules[i]);
    free(rules);
}

/* --- what is wrong with them --- */

static char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *fault(const char *format, ...)
{
    char text[WHY_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return xstrdup(text);
}

static char *rule_fault(const struct gate_terms *terms, size_t i)
{
    const struct gate_rule *rule = &terms->rules[i];
    struct compiled compiled = {};
    const char *what = "", *why = "";
    enum err err = compile(rule, &compiled, &what, &why);

    compiled_done(&compiled);
    if (err)
        return fault("authorization: rule %zu: %s: %s", i + 1, what, why);
    if (rule->then == GATE_DELEGATE && !terms->delegate.len)
        return fault("authorization: rule %zu delegates, and there is no delegate",
                     i + 1);
    return NULL;
}

char *gate_terms_fault(const struct gate_terms *terms)
{
    if (terms->mode == GATE_DELEGATED && !terms->delegate.len)
        return fault("authorization: mode delegated needs a delegate");
    if (terms->delegate.len > ID_MAX || envelope_has_control(terms->delegate))
        return fault("authorization: the delegate is no participant's id");
    if (terms->timeout_ms && (terms->timeout_ms < GATE_TIMEOUT_MIN_MS ||
                              terms->timeout_ms > GATE_TIMEOUT_MAX_MS))
        return fault("authorization: the timeout is 1 second to 24 hours");
    if ((terms->mode == GATE_SELECTIVE) != (terms->rule_count > 0))
        return fault("authorization: rules and mode selective go together");
    if (terms->rule_count > GATE_RULES_MAX)
        return fault("authorization: there are more than %d rules", GATE_RULES_MAX);
    for (size_t i = 0; i < terms->rule_count; i++) {
        char *why = rule_fault(terms, i);

        if (why)
            return why;
    }
    return NULL;
}

static bool rules_are_same(const struct gate_rule *a, const struct gate_rule *b)
{
    return str_eq(a->tool, b->tool) && str_eq(a->caller, b->caller) &&
           str_eq(a->arguments, b->arguments) && a->then == b->then;
}

bool gate_terms_are_same(const struct gate_terms *a, const struct gate_terms *b)
{
    if (a->mode != b->mode || !str_eq(a->delegate, b->delegate) ||
        a->timeout_ms != b->timeout_ms || a->rule_count != b->rule_count)
        return false;
    for (size_t i = 0; i < a->rule_count; i++)
        if (!rules_are_same(&a->rules[i], &b->rules[i]))
            return false;
    return true;
}

/* --- written and read --- */

static void put_rule(struct json_writer *w, const struct gate_rule *rule)
{
    json_object_open(w);
    if (rule->tool.len)
        json_put_str(w, S("tool"), rule->tool);
    if (rule->caller.len)
        json_put_str(w, S("caller"), rule->caller);
    if (rule->arguments.len) {
        json_key(w, S("arguments"));
        json_raw(w, rule->arguments);
    }
    json_put_str(w, S("then"), gate_thens[rule->then]);
    json_object_close(w);
}

void gate_terms_write(const struct gate_terms *terms, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("mode"), gate_modes[terms->mode]);
    if (terms->delegate.len)
        json_put_str(w, S("delegate"), terms->delegate);
    if (terms->timeout_ms)
        json_put_uint(w, S("timeout_ms"), terms->timeout_ms);
    if (terms->rule_count) {
        json_key(w, S("rules"));
        json_array_open(w);
        for (size_t i = 0; i < terms->rule_count; i++)
            put_rule(w, &terms->rules[i]);
        json_array_close(w);
    }
    json_object_close(w);
}

/* The position of a word, or -1. */
static int find_word(const struct str *words, struct str word)
{
    for (int i = 0; words[i].len; i++)
        if (str_eq(words[i], word))
            return i;
    return -1;
}

struct rule_texts {
    struct str tool, caller, then;
    const struct json *arguments;
};
struct terms_texts {
    struct str mode, delegate;
    uint64_t timeout_ms;
    const struct json *rules;
};

/* clang-format off */
#define F(member, need) JSON_FIELD(struct rule_texts, member, need)
static const struct json_field rule_fields[] = {
    F(tool,      JSON_OPTIONAL),
    F(caller,    JSON_OPTIONAL),
    F(arguments, JSON_OPTIONAL),
    F(then,      JSON_REQUIRED),
};
#undef F
#define F(member, need) JSON_FIELD(struct terms_texts, member, need)
static const struct json_field terms_fields[] = {
    F(mode,       JSON_REQUIRED),
    F(delegate,   JSON_OPTIONAL),
    F(timeout_ms, JSON_OPTIONAL),
    F(rules,      JSON_OPTIONAL),
};
#undef F
/* clang-format on */

static char *problem_text(const char *where, const struct json_problem *problem)
{
    return fault("%s: \"" STR_FMT "\" %s", where,
                 STR_ARG(str_slice(problem->field, 0, 80)),
                 problem->what ? problem->what : "is wrong");
}

static enum err read_rule(const struct json *json, struct arena *arena,
                          struct gate_rule *ret, char **ret_why)
{
    struct rule_texts texts = {};
    struct json_problem problem = {};
    int then;

    if (json_read(json, rule_fields, COUNT(rule_fields), arena, &texts, &problem)) {
        *ret_why = problem_text("a rule of authorization", &problem);
        return ERR_INVALID;
    }
    then = find_word(gate_thens, texts.then);
    if (then < 0 || (texts.arguments && texts.arguments->type != JSON_OBJECT)) {
        *ret_why = fault(then < 0 ? "a rule of authorization: then is allow, prompt, "
                                    "delegate or deny"
                                  : "a rule of authorization: arguments is an object");
        return ERR_INVALID;
    }
    *ret = (struct gate_rule){
        .tool = arena_str(arena, texts.tool),
        .caller = arena_str(arena, texts.caller),
        .arguments = texts.arguments ? arena_str(arena, texts.arguments->raw) : S(""),
        .then = (enum gate_then)then,
    };
    return ret->tool.ptr && ret->caller.ptr && ret->arguments.ptr ? OK : ERR_TOO_BIG;
}

static enum err read_rules(const struct json *json, struct arena *arena,
                           struct gate_terms *ret, char **ret_why)
{
    struct gate_rule *rules;
    size_t i = 0;

    if (json->type != JSON_ARRAY || json->count > GATE_RULES_MAX) {
        *ret_why = fault("authorization: rules are a list of at most %d", GATE_RULES_MAX);
        return ERR_INVALID;
    }
    rules = arena_alloc(arena, (json->count + 1) * sizeof(*rules));
    if (!rules)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, json) {
        enum err err = read_rule(item, arena, &rules[i++], ret_why);

        if (err)
            return err;
    }
    ret->rules = rules;
    ret->rule_count = json->count;
    return OK;
}

enum err gate_terms_read(const struct json *json, struct arena *arena,
                         struct gate_terms *ret, char **ret_why)
{
    struct terms_texts texts = {};
    struct json_problem problem = {};
    struct gate_terms terms = {};
    enum err err = OK;
    int mode;

    if (json->type != JSON_OBJECT ||
        json_read(json, terms_fields, COUNT(terms_fields), arena, &texts, &problem)) {
        *ret_why = problem_text("authorization", &problem);
        return ERR_INVALID;
    }
    mode = find_word(gate_modes, texts.mode);
    if (mode < 0) {
        *ret_why = fault("authorization: mode is always-allow, always-prompt, selective "
                         "or delegated");
        return ERR_INVALID;
    }
    terms.mode = (enum gate_mode)mode;
    terms.delegate = arena_str(arena, texts.delegate);
    terms.timeout_ms = texts.timeout_ms;
    if (texts.rules)
        err = read_rules(texts.rules, arena, &terms, ret_why);
    if (!err && !terms.delegate.ptr)
        err = ERR_TOO_BIG;
    if (!err)
        *ret = terms;
    return err;
}

/* --- what a tool says about itself --- */

/* Seconds; a part of one is a whole one. */
static uint64_t read_seconds(struct json_span number)
{
    uint64_t seconds = 0;
    size_t dot;

    if (!pick_is(number, JSON_NUMBER))
        return 0;
    dot = str_find(number.text, '.', 0);
    if (str_to_u64(str_slice(number.text, 0, dot), GATE_TIMEOUT_MAX_MS / 1000, &seconds))
        return 0;
    return (seconds ? seconds : dot < number.text.len) * 1000;
}

struct gate_wish gate_wish_read(struct str tool, struct arena *arena)
{
    struct json_span object = { .type = JSON_OBJECT, .text = tool };
    struct json_span own = {};
    struct json_span required = {};
    struct json_span mode = {};
    struct json_span timeout = {};
    struct json_span message = {};
    struct gate_wish wish = {};

    if (!PICK(object, { S("authorization"), &own }) || !pick_is(own, JSON_OBJECT) ||
        !PICK(own, { S("required"), &required }, { S("mode"), &mode },
              { S("timeout"), &timeout }, { S("message"), &message }))
        return wish;
    wish.is_required = pick_is(required, JSON_TRUE);
    if (str_eq(pick_text(mode, arena), S("automatic")))
        wish.how = WISH_RULES;
    else if (str_eq(pick_text(mode, arena), S("delegated")))
        wish.how = WISH_DELEGATE;
    wish.timeout_ms = read_seconds(timeout);
    wish.message = utf8_cut(pick_text(message, arena), GATE_MESSAGE);
    return wish;
}

/* --- judging --- */

/* Nobody gets past a rule by making its conditions hard to see. */
static bool fits(const struct compiled *rule, const struct gate_question *question,
                 struct arena *scratch)
{
    enum fit fit;

    if (rule->tool && !pattern_matches(rule->tool, question->tool))
        return false;
    if (rule->caller && !pattern_matches(rule->caller, question->caller))
        return false;
    fit = rule->arguments
              ? capability_weigh_alone(rule->arguments, question->payload, scratch)
              : FIT_YES;
    return fit == FIT_YES || (fit == FIT_UNSURE && rule->then != GATE_ALLOW);
}

static const struct compiled *find_rule(const struct gate_rules *rules,
                                        const struct gate_question *question,
                                        struct arena *scratch)
{
    for (size_t i = 0; i < rules->count; i++)
        if (fits(&rules->rules[i], question, scratch))
            return &rules->rules[i];
    return NULL;
}

/* What the operator says. */
static struct gate_ruling judge_terms(const struct gate_rules *rules,
                                      const struct compiled *rule)
{
    switch (rules->mode) {
    case GATE_ALWAYS_ALLOW: break;
    case GATE_ALWAYS_PROMPT:
        return (struct gate_ruling){ .then = GATE_PROMPT,
                                     .reason = S("every call of this server is to be "
                                                 "authorized") };
    case GATE_DELEGATED:
        return (struct gate_ruling){ .then = GATE_DELEGATE,
                                     .reason = S("every call of this server is to be "
                                                 "authorized by its delegate") };
    case GATE_SELECTIVE:
        if (rule)
            return (struct gate_ruling){ .then = rule->then,
                                         .reason = rule->then == GATE_DENY
                                                       ? S("a rule of this server denies "
                                                           "it")
                                                       : S("a rule of this server wants "
                                                           "it authorized") };
        break;
    }
    return (struct gate_ruling){ .then = GATE_ALLOW };
}

/* What the tool asks for at least. */
static enum gate_then judge_wish(const struct gate_rules *rules,
                                 const struct compiled *rule,
                                 const struct gate_wish *wish)
{
    if (!wish->is_required)
        return GATE_ALLOW;
    switch (wish->how) {
    case WISH_PROMPT: break;
    case WISH_RULES: return rule ? rule->then : GATE_PROMPT;
    case WISH_DELEGATE: return rules->has_delegate ? GATE_DELEGATE : GATE_PROMPT;
    }
    return GATE_PROMPT;
}

struct gate_ruling gate_rules_judge(const struct gate_rules *rules,
                                    const struct gate_question *question,
                                    struct arena *scratch)
{
    const struct gate_wish *wish = &question->wish;
    const struct compiled *rule = find_rule(rules, question, scratch);
    struct gate_ruling ruling = judge_terms(rules, rule);
    enum gate_then asked = judge_wish(rules, rule, wish);

    if (asked > ruling.then) {
        ruling.then = asked;
        ruling.reason = S("the tool wants it authorized");
    }
    ruling.timeout_ms = rules->timeout_ms;
    if (wish->timeout_ms && wish->timeout_ms < ruling.timeout_ms)
        ruling.timeout_ms = wish->timeout_ms;
    if (wish->message.len && ruling.then != GATE_DENY)
        ruling.reason = wish->message;
    return ruling;
}
