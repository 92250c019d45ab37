/* SPDX-License-Identifier: Apache-2.0 */
/* A line with a method, one with what a server asks, the rest what it is answered.
 * Whatever they are: it is said what is wrong, or what goes to the server is an object
 * that, given as an answer, goes there as it is. */
#include <stdlib.h>

#include "json/scan.h"
#include "mcp/question.h"

enum { ROOM = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool is_known(struct str method)
{
    return str_eq(method, S("sampling/createMessage")) ||
           str_eq(method, S("elicitation/create")) || str_eq(method, S("roots/list"));
}

static bool is_object(struct str json)
{
    struct json_scan scan;
    struct json_span span;

    json_scan_init(&scan, json, JSON_MAX_DEPTH);
    return json_value(&scan, &span) == OK && json_scan_end(&scan) == OK &&
           span.type == JSON_OBJECT;
}

/* False: it is refused, and said why. */
static bool answer(const struct question_asked *asked, struct str result, struct buf *out)
{
    struct arena scratch;
    struct buf why;
    enum err err;

    arena_init(&scratch, ROOM);
    buf_init(&why, QUESTION_WHY);
    err = question_put_answer(out, asked, result, &scratch, &why);
    if (err ? !why.len || why.is_full : !is_object(buf_str(out)))
        abort();
    buf_done(&why);
    arena_done(&scratch);
    return !err;
}

static void answer_twice(const struct question_asked *asked, struct str result)
{
    struct buf once, again;

    buf_init(&once, ROOM);
    buf_init(&again, ROOM);
    if (answer(asked, result, &once) && (!answer(asked, buf_str(&once), &again) ||
                                         !str_eq(buf_str(&once), buf_str(&again))))
        abort();
    buf_done(&once);
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct question_asked asked;
    struct arena scratch;
    struct buf why;
    enum err err;

    asked.method = str_cut(&rest, '\n');
    asked.params = str_cut(&rest, '\n');
    if (!is_known(asked.method))
        return 0;
    arena_init(&scratch, ROOM);
    buf_init(&why, QUESTION_WHY);
    err = question_check(asked.method, asked.params, &scratch, &why);
    if (err ? err != ERR_INVALID || !why.len || why.is_full : why.len > 0)
        abort();
    buf_done(&why);
    arena_done(&scratch);
    if (!err)
        answer_twice(&asked, rest);
    return 0;
}
