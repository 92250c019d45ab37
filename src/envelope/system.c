/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/system.h"

#include "envelope/envelope.h"

void system_begin(struct json_writer *w, struct buf *out, const struct system_head *head)
{
    json_write_init(w, out);
    json_object_open(w);
    json_put_str(w, S("protocol"), S(ENVELOPE_PROTOCOL));
    json_put_str(w, S("id"), head->id);
    json_put_time(w, S("ts"), head->wall_ms);
    json_put_str(w, S("from"), S(SYSTEM_SENDER));
    if (head->to.len)
        json_put_strs(w, S("to"), (struct str_list){ &head->to, 1 });
    json_put_str(w, S("kind"), head->kind);
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

void system_participant(struct json_writer *w, struct str id, struct str capabilities,
                        struct str type)
{
    json_object_open(w);
    json_put_str(w, S("id"), id);
    if (capabilities.len) {
        json_key(w, S("capabilities"));
        json_raw(w, capabilities);
    }
    json_key(w, S("moot"));
    json_object_open(w);
    json_put_str(w, S("type"), type);
    json_object_close(w);
    json_object_close(w);
}
