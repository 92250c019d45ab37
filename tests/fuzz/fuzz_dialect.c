/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The translation of envelopes. Whatever scans in one dialect and has a kind of it scans
 * in the other as well, with the same fields, the same payload bytes and the same kind;
 * every byte outside the two values is where it was; and back again it is the same text
 * where nothing in the two values was escaped. No two kinds become one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "envelope/translate.h"

enum { DEPTH = 128, ROOM = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

/* A scanned envelope with what it was scanned in. */
struct view {
    struct envelope env;
    struct arena arena;
    char kind[KIND_MAX_BYTES];
};

/* As admission does it: the kind is known in slash spelling afterwards. */
static bool look(struct view *view, struct str text, enum dialect dialect)
{
    struct str slash;

    arena_init(&view->arena, ROOM);
    if (envelope_scan(text, DEPTH, dialect, &view->arena, &view->env, NULL))
        return false;
    slash = view->env.kind_text;
    if (dialect == DIALECT_DOTTED &&
        kind_to_slash(view->env.kind_text, view->kind, &slash))
        return false;
    return kind_parse(slash, &view->env.kind) == OK;
}

static char *translate(const struct envelope *env, enum dialect to, struct str *ret)
{
    struct translation t;
    char *out;

    translation_init(&t, env, to);
    out = xmalloc(t.len + 1);
    translation_write(&t, out);
    *ret = (struct str){ out, t.len };
    return out;
}

static void expect_same(const struct envelope *a, const struct envelope *b)
{
    expect(str_eq(a->id, b->id) && str_eq(a->from, b->from) && str_eq(a->ts, b->ts));
    expect(str_eq(a->correlation_id, b->correlation_id));
    expect(str_eq(a->payload.text, b->payload.text));
    expect(str_eq(a->expires_at.text, b->expires_at.text));
    expect(str_eq(a->edited.text, b->edited.text));
    expect(str_eq(a->rule, b->rule));
    expect(a->to_count == b->to_count);
    for (size_t i = 0; i < a->to_count; i++)
        expect(str_eq(a->to[i], b->to[i]));
    expect(a->kind.type == b->kind.type && str_eq(a->kind.text, b->kind.text));
    expect(str_eq(a->kind.method, b->kind.method));
    expect(str_eq(a->kind.context, b->kind.context));
}

/* What stands before, between and behind the two values. */
static void expect_rest(const struct envelope *a, const struct envelope *b)
{
    const struct envelope *envs[] = { a, b };
    struct str rest[2][3];

    for (size_t i = 0; i < 2; i++) {
        const struct envelope *env = envs[i];
        bool is_swapped = env->raw_kind.ptr < env->raw_protocol.ptr;
        struct str first = is_swapped ? env->raw_kind : env->raw_protocol;
        struct str second = is_swapped ? env->raw_protocol : env->raw_kind;
        const char *end = env->text.ptr + env->text.len;

        rest[i][0] = (struct str){ env->text.ptr, (size_t)(first.ptr - env->text.ptr) };
        rest[i][1] = (struct str){ first.ptr + first.len,
                                   (size_t)(second.ptr - first.ptr - first.len) };
        rest[i][2] = (struct str){ second.ptr + second.len,
                                   (size_t)(end - second.ptr - second.len) };
    }
    for (size_t i = 0; i < 3; i++)
        expect(str_eq(rest[0][i], rest[1][i]));
}

static bool is_plain(const struct envelope *env, enum dialect dialect)
{
    return env->raw_kind.ptr == env->kind_text.ptr &&
           str_eq(env->raw_protocol, dialect_protocol(dialect));
}

static void check_envelope(struct str text, enum dialect from)
{
    enum dialect to = dialect_other(from);
    struct view *one = xcalloc(1, sizeof(*one));
    struct view *other = xcalloc(1, sizeof(*other));

    if (look(one, text, from)) {
        struct str there, back;
        char *there_bytes = translate(&one->env, to, &there);
        char *back_bytes;

        expect(look(other, there, to));
        expect_same(&one->env, &other->env);
        expect_rest(&one->env, &other->env);
        back_bytes = translate(&other->env, from, &back);
        if (is_plain(&one->env, from))
            expect(str_eq(back, text));
        expect(from == DIALECT_SLASH || there.len <= text.len);
        free(there_bytes);
        free(back_bytes);
        arena_done(&other->arena);
    }
    arena_done(&one->arena);
    free(one);
    free(other);
}

/* The text itself as a kind. */
static void check_kind(struct str text)
{
    static char there[KIND_MAX_BYTES], back[KIND_MAX_BYTES];
    struct kind kind;
    struct str other, again;

    if (kind_parse(text, &kind) == OK) {
        expect(kind_to_dotted(text, there, &other) == OK);
        expect(kind_to_slash(other, back, &again) == OK && str_eq(again, text));
    }
    if (kind_to_slash(text, there, &other) == OK && kind_parse(other, &kind) == OK)
        expect(kind_to_dotted(other, back, &again) == OK && str_eq(again, text));
    (void)kind_meant(text, DIALECT_SLASH, there);
    (void)kind_meant(text, DIALECT_DOTTED, there);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };

    check_kind(text);
    check_envelope(text, DIALECT_SLASH);
    check_envelope(text, DIALECT_DOTTED);
    return 0;
}
