/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/speaking.h"

#include "envelope/system.h"
#include "gateway/recorder.h"
#include "gateway/recording.h"
#include "ws/ws.h"

enum { ERROR_BYTES = 1 << 20 };

void speaking_tell(struct worker *worker, struct member *member, struct private_note note)
{
    if (!recorder_is_able(worker))
        note.turn = AT_ONCE;
    topic_tell(member, &note);
}

static void tell_error(const struct speaker *speaker, const struct admission *a,
                       const struct refusal *refusal)
{
    struct topic *topic = member_topic(speaker->member);
    char id[SYSTEM_ID];
    struct json_writer w;
    struct buf out;

    buf_init(&out, ERROR_BYTES);
    system_begin(&w, &out,
                 &(struct system_head){ .dialect = a->dialect,
                                        .kind = S("system/error"),
                                        .id = topic_system_id(topic, id),
                                        .wall_ms = a->wall_ms,
                                        .to = speaker->identity->id,
                                        .correlation_id = a->env.id });
    refusal_write(refusal, a, &w);
    system_end(&w);
    speaking_tell(speaker->room->worker, speaker->member,
                  (struct private_note){
                      buf_str(&out), PRIVATE_TEXT,
                      refusal->is_abuse ? AT_ONCE : BEHIND_ALL }); /* it is the last */
    buf_done(&out);
}

void speaking_refuse(const struct speaker *speaker, const struct admission *a,
                     const struct refusal *refusal)
{
    recording_refused(speaker->room, a, refusal);
    if (refusal->err == ERR_UTF8)
        return;
    tell_error(speaker, a, refusal);
    room_hear_refusal(speaker->room, a, refusal);
}

void speaking_pong(struct worker *worker, struct member *member, struct str body)
{
    struct buf frame;

    buf_init(&frame, WS_MAX_CONTROL + WS_MAX_HEAD);
    ws_frame_write(&frame, WS_OP_PONG, body);
    speaking_tell(
        worker, member,
        (struct private_note){ buf_str(&frame), PRIVATE_FRAME, BEHIND_PRIVATE });
    buf_done(&frame);
}

void speaking_renew_rights(struct member *member, struct identity *identity)
{
    struct live_room *room = live_room_of(member_topic(member));

    member_set_capabilities(member, room_participant(room, identity)->capabilities);
}
