/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a capability. What compiles has a normal form that is a fixed point, covers
 * itself, and judges payloads as the model of D15 does. */
#include <stdlib.h>

#include "../harness/capability_model.h"
#include "base/cleanup.h"
#include "policy/capability.h"

enum { ARENA_BYTES = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* clang-format off */
static const struct str kinds[] = {
    S("chat"), S("mcp/request:tools/call"), S("mcp/request:tools/call:read"),
};

static const struct str payloads[] = {
    S("{}"),
    S("{\"x\":1,\"a\":\"b\",\"b\":null,\"c\":true}"),
    S("{\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"/data/x\"}}}"),
    S("{\"method\":\"tools\\/call\",\"params\":{\"name\":\"re\\u0061d\",\"arguments\":[1,\"x\"]}}"),
    S("{\"method\":\"tools/call\",\"params\":{\"Name\":\"x\",\"name\":\"\",\"arguments\":{\"path\":5}}}"),
};
/* clang-format on */

static void judge(const struct capability *cap, const struct json *tree, struct str text)
{
    const struct json *payload = NULL;
    struct json_span span = {};
    struct json_scan scan;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    if (json_value(&scan, &span) || json_parse(text, &arena, &payload, NULL))
        abort();
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (capability_allows(cap, kinds[i], span, &arena) !=
            model_allows(tree, kinds[i], payload))
            abort();
    arena_done(&arena);
}

/* The stars of a pattern cost the model time that grows with their number's power. */
static bool is_too_slow_for_the_model(struct str text)
{
    size_t stars = 0;

    for (size_t i = 0; i < text.len; i++)
        stars += text.ptr[i] == '*';
    return stars > 24;
}

static void check(const struct capability *cap)
{
    struct str text = capability_text(cap);
    struct capability *again = NULL;
    struct json plain = { .type = JSON_STRING, .text = text };
    const struct json *tree = &plain;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (capability_new(text, &again, NULL) || !str_eq(capability_text(again), text) ||
        !capability_covers(cap, again))
        abort();
    if (capability_is_object(cap) && json_parse(text, &arena, &tree, NULL))
        abort();
    for (size_t i = 0; !is_too_slow_for_the_model(text) && i < COUNT(payloads); i++)
        judge(cap, tree, payloads[i]);
    capability_free(again);
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct capability *cap = NULL;

    if (capability_new((struct str){ (const char *)bytes, size }, &cap, NULL))
        return 0;
    check(cap);
    capability_free(cap);
    return 0;
}
