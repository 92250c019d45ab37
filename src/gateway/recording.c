/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/recording.h"

static struct live_room *room_of(const struct admission *a)
{
    return CONTAINER_OF(a->room, struct live_room, room);
}

void recording_set(struct live_room *room)
{
    room->room.is_recorded = room->settings->audit != AUDIT_OFF;
    room->room.must_be_durable = room->settings->audit == AUDIT_REQUIRED;
}

enum err recording_judge(struct admission *a, struct refusal *r)
{
    if (recorder_is_able(room_of(a)->worker))
        return OK;
    return refusal_set(r, ERR_UNAVAILABLE, S(""), "the record cannot be written");
}

uint64_t recording_admitted(struct admission *a, struct str text)
{
    const struct live_room *room = room_of(a);
    struct worker *worker = room->worker;
    uint64_t ticket =
        recorder_note(worker, room->settings->audit,
                      &(struct audit_record){ .event = AUDIT_ENVELOPE,
                                              .topic = a->room->topic.name,
                                              .participant = a->sender->id,
                                              .kind = a->env.kind.text,
                                              .id = a->env.id,
                                              .correlation = a->env.correlation_id,
                                              .verdict = S("allowed"),
                                              .body = text });

    /* What it changes is put into the same batch, at the latest when it is carried out,
     * before the loop goes on. */
    return admission_changes_state(a) ? recorder_ticket(worker) : ticket;
}
