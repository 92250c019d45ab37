/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/system.h"

void system_begin(struct json_writer *w, struct buf *out, const struct system_head *head)
{
    char space[KIND_MAX_BYTES];

    json_write_init(w, out);
    json_object_open(w);
    json_put_str(w, S("protocol"), dialect_protocol(head->dialect));
    json_put_str(w, S("id"), head->id);
    json_put_time(w, S("ts"), head->wall_ms);
    json_put_str(w, S("from"), S(SYSTEM_SENDER));
    if (head->to.len)
        json_put_strs(w, S("to"), (struct str_list){ &head->to, 1 });
    json_put_str(w, S("kind"), kind_in(head->kind, head->dialect, space));
    if (head->correlation_id.len)
        json_put_str(w, S("correlation_id"), head->correlation_id);
    json_key(w, S("payload"));
    json_object_open(w);
}

void system_end(struct json_writer *w)
{
    json_object_close(w);
    json_object_close(w);
}

/* A roster has thousands of these, so what is constant is written in one piece. */
void system_participant(struct json_writer *w, struct str id,
                        struct system_capabilities capabilities, struct str type)
{
    json_raw(w, S("{\"id\":"));
    w->needs_comma = false;
    json_str(w, id);
    if (capabilities.patterns.len) {
        buf_put(w->out, S(",\"capabilities\":"));
        buf_put(w->out, capabilities.patterns);
    }
    buf_put(w->out, S(",\"moot\":{\"type\":"));
    w->needs_comma = false;
    json_str(w, type);
    if (capabilities.objects.len) {
        buf_put(w->out, S(",\"capabilities\":"));
        buf_put(w->out, capabilities.objects);
    }
    buf_put(w->out, S("}}"));
}
