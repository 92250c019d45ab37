/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict check against an obviously correct one. The input is a kind, a line feed and
 * a payload. The slow check asks for one name at a time and counts all names of the
 * object that fold to it; what it cannot read without doubt is a mismatch.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "envelope/lookalike.h"
#include "envelope/strict.h"
#include "json/json.h"

enum { ROOM = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

/* A value that was looked for. */
struct answer {
    size_t count; /* of names that fold to the one asked for */
    bool is_sure; /* there is one, written plainly or escaped */
    struct json_span value;
};

static struct answer ask(struct json_span object, struct str name)
{
    struct answer answer = {};
    struct json_scan scan;
    struct json_member m;
    struct arena arena;
    enum err err;

    json_scan_init(&scan, object.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        struct str key = {};

        arena_init(&arena, ROOM);
        expect(json_unescape(m.key, &arena, &key) == OK);
        if (lookalike_is_any(key, &name, 1)) {
            answer.is_sure = ++answer.count == 1 && str_eq(key, name);
            answer.value = m.value;
        }
        arena_done(&arena);
    }
    return answer;
}

static bool is_text(struct json_span object, struct str name, struct str wanted)
{
    struct answer answer = ask(object, name);
    struct arena arena;
    struct str text = {};
    bool is_equal;

    if (!answer.is_sure || answer.value.type != JSON_STRING)
        return false;
    arena_init(&arena, ROOM);
    expect(json_unescape(answer.value, &arena, &text) == OK);
    is_equal = str_eq(text, wanted);
    arena_done(&arena);
    return is_equal;
}

static bool is_object(const struct answer *answer)
{
    return answer->is_sure && answer->value.type == JSON_OBJECT;
}

static bool context_matches(const struct kind *kind, struct json_span payload)
{
    struct answer params = ask(payload, S("params"));
    struct answer ref;

    if (!kind->context.ptr)
        return true;
    if (!is_object(&params))
        return false;
    if (str_eq(kind->method, S("completion/complete"))) {
        ref = ask(params.value, S("ref"));
        if (!is_object(&ref))
            return false;
        return (is_text(ref.value, S("type"), S("ref/prompt")) &&
                is_text(ref.value, S("name"), kind->context)) ||
               (is_text(ref.value, S("type"), S("ref/resource")) &&
                is_text(ref.value, S("uri"), kind->context));
    }
    if (str_eq(kind->method, S("resources/read")) ||
        str_eq(kind->method, S("resources/subscribe")) ||
        str_eq(kind->method, S("resources/unsubscribe")))
        return is_text(params.value, S("uri"), kind->context);
    return is_text(params.value, S("name"), kind->context);
}

static bool is_honest(const struct kind *kind, struct json_span payload)
{
    struct answer method = ask(payload, S("method"));
    struct answer result = ask(payload, S("result"));
    struct answer error = ask(payload, S("error"));

    switch (kind->type) {
    case KIND_REQUEST:
    case KIND_PROPOSAL:
        return is_text(payload, S("method"), kind->method) && result.count == 0 &&
               error.count == 0 && context_matches(kind, payload);
    case KIND_RESPONSE:
        return method.count == 0 && ((result.is_sure && error.count == 0) ||
                                     (error.is_sure && result.count == 0));
    default: return true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct str kind_text = str_cut(&rest, '\n');
    struct strict_problem problem = {};
    struct json_span payload = {};
    struct json_scan scan;
    struct arena scratch;
    struct kind kind;
    enum err err;

    if (!rest.ptr || kind_parse(kind_text, &kind))
        return 0;
    json_scan_init(&scan, rest, JSON_MAX_DEPTH);
    if (json_value(&scan, &payload) || payload.type != JSON_OBJECT)
        return 0;
    arena_init(&scratch, ROOM);
    err = strict_check(&kind, payload, &scratch, &problem);
    expect(err == (is_honest(&kind, payload) ? OK : ERR_KIND_PAYLOAD_MISMATCH));
    if (err)
        expect(problem.what && str_starts(problem.field, S("payload")));
    arena_done(&scratch);
    return 0;
}
