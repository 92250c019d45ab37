/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/rules_hearing.h"

enum { BODY_BYTES = 1 << 20 };

/* Who connects says what stands behind him. */
static void hear_connect(struct history *history, const struct audit_record *record,
                         struct arena *scratch)
{
    const struct json *body;
    struct str type;

    if (!record->body.ptr || record->body.len > BODY_BYTES)
        return;
    arena_reset(scratch);
    if (json_parse(record->body, scratch, &body, NULL))
        return;
    type = json_text(json_find(body, S("type")));
    if (type.len)
        history_person(history, record->participant, str_eq(type, S("human")));
}

void rules_hear(struct history *history, const struct audit_record *record,
                struct arena *scratch)
{
    if (record->event == AUDIT_CONNECT)
        hear_connect(history, record, scratch);
    else if (record->event == AUDIT_ENVELOPE)
        history_hear(history, &(struct history_heard){
                                  .at_ms = record->at_ms,
                                  .topic = record->topic,
                                  .from = record->participant,
                                  .kind = record->kind,
                                  .id = record->id,
                                  .correlation = record->correlation,
                                  .text = record->body,
                              });
}
