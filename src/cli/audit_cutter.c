/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_source_priv.h"

enum { ARENA_BYTES = 512 << 20 };

void audit_cutter_init(struct audit_cutter *cutter, const struct audit_sink *sink)
{
    *cutter = (struct audit_cutter){ .sink = sink };
    buf_init(&cutter->rest, AUDIT_LINE_MAX);
    arena_init(&cutter->arena, ARENA_BYTES);
}

void audit_cutter_done(struct audit_cutter *cutter)
{
    buf_done(&cutter->rest);
    arena_done(&cutter->arena);
}

static enum err refuse(struct audit_cutter *cutter, const char *what)
{
    cutter->what = what;
    return ERR_INVALID;
}

/* Does the sink want more? What it has no function for is passed over. */
static bool hand_over(const struct audit_sink *sink, const struct audit_line *line)
{
    switch (line->type) {
    case AUDIT_LINE_ORIGIN:
        return !sink->on_origin || sink->on_origin(sink->user, &line->origin);
    case AUDIT_LINE_RECORD:
        return !sink->on_record || sink->on_record(sink->user, &line->record);
    case AUDIT_LINE_CHECKPOINT:
        return !sink->on_checkpoint || sink->on_checkpoint(sink->user, &line->checkpoint);
    }
    return true;
}

static enum err take_line(struct audit_cutter *cutter, struct str text)
{
    struct audit_line line;
    enum err err;

    cutter->lines++;
    arena_reset(&cutter->arena);
    err = audit_line_parse(text, &cutter->arena, &line, &cutter->what);
    if (err)
        return err;
    cutter->has_enough = !hand_over(cutter->sink, &line);
    return OK;
}

/* The line that was begun and ends here. */
static enum err finish_line(struct audit_cutter *cutter, struct str text)
{
    enum err err = buf_append(&cutter->rest, text);

    if (err)
        return refuse(cutter, "the line is too long");
    err = take_line(cutter, buf_str(&cutter->rest));
    buf_clear(&cutter->rest);
    return err;
}

enum err audit_cutter_take(struct audit_cutter *cutter, struct str bytes)
{
    while (bytes.len && !cutter->has_enough) {
        size_t end = str_find(bytes, '\n', 0);
        struct str line = str_slice(bytes, 0, end);
        enum err err;

        if (end == bytes.len)
            return buf_append(&cutter->rest, line)
                       ? refuse(cutter, "the line is too long")
                       : OK;
        err = cutter->rest.len ? finish_line(cutter, line) : take_line(cutter, line);
        if (err)
            return err;
        bytes = str_slice(bytes, end + 1, bytes.len);
    }
    return OK;
}

enum err audit_cutter_end(struct audit_cutter *cutter)
{
    if (cutter->rest.len == 0 || cutter->has_enough)
        return OK;
    cutter->lines++;
    return refuse(cutter, "the last line is cut off");
}
