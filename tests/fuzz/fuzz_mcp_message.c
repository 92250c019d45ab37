/* SPDX-License-Identifier: Apache-2.0 */
/* A text is walked and read as messages. What is read is written again as one line, and
 * reads back the same. */
#include <stdlib.h>
#include <string.h>

#include "mcp/era.h"
#include "mcp/message.h"

enum { ROOM = 1 << 24, DEPTH = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool is_fine)
{
    if (!is_fine)
        abort();
}

static void check_again(const struct buf *line, const struct mcp_message *message)
{
    struct mcp_message again;
    const char *what;

    check(!memchr(line->ptr, '\n', line->len) && !memchr(line->ptr, '\r', line->len));
    check(mcp_message_read(buf_str(line), DEPTH, &again, &what) == OK);
    check(again.type == message->type);
    check(str_eq(again.id.text, message->id.text) && again.id.type == message->id.type);
    check(!again.params.text.ptr == !message->params.text.ptr);
}

static void write_answer(struct buf *line, const struct mcp_message *message)
{
    bool is_error = message->type == MESSAGE_ERROR;

    mcp_message_put_answer(line, message->id, is_error ? S("error") : S("result"),
                           is_error ? message->error.text : message->result.text);
}

/* Whatever the eras are, an object stays one. */
static void change_era(const struct mcp_message *message)
{
    static const struct str methods[] = { S("tools/list"), S("tools/call"),
                                          S("tasks/get") };

    for (unsigned i = 0; i < 12; i++) {
        struct era_change change = { .method = methods[i / 4],
                                     .is_modern_from = i & 1,
                                     .is_modern_to = i & 2,
                                     .server = S("{}") };
        struct json_scan scan;
        struct json_span span;
        struct buf out;

        buf_init(&out, ROOM);
        if (!era_put_result(&out, &change, message->result)) {
            json_scan_init(&scan, buf_str(&out), JSON_MAX_DEPTH);
            check(!json_value(&scan, &span) && !json_scan_end(&scan));
            check(span.type == JSON_OBJECT);
        }
        buf_done(&out);
    }
}

static void write_again(const struct mcp_message *message)
{
    struct buf line;
    uint64_t number;

    buf_init(&line, ROOM);
    switch (message->type) {
    case MESSAGE_REQUEST: /* ours have numbers */
        if (mcp_message_number(message->id, &number) &&
            (message->id.text.ptr[0] != '0' || message->id.text.len == 1)) {
            mcp_message_put_request(&line, number, message->method, message->params.text);
            check_again(&line, message);
        }
        break;
    case MESSAGE_NOTIFICATION:
        mcp_message_put_notification(&line, message->method, message->params.text);
        check_again(&line, message);
        break;
    case MESSAGE_RESULT:
        write_answer(&line, message);
        check_again(&line, message);
        change_era(message);
        break;
    case MESSAGE_ERROR:
        if (message->id.text.ptr) {
            write_answer(&line, message);
            check_again(&line, message);
        }
        break;
    }
    buf_done(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct str path[] = { S("_meta"), S("progressToken") };
    struct str text = { (const char *)bytes, size };
    struct mcp_message_walk walk;
    struct str one;
    enum err err = mcp_message_walk_begin(&walk, text, DEPTH);

    while (!err && mcp_message_walk_next(&walk, &one, &err)) {
        struct mcp_message message;
        const char *what = NULL;
        enum err bad = mcp_message_read(one, DEPTH, &message, &what);

        check(bad ? what != NULL : true);
        if (bad)
            continue;
        (void)mcp_message_find(message.params, path, 2);
        write_again(&message);
    }
    return 0;
}
