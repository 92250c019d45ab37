/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a member says, whatever brought it here: before, while and after it is judged.
 *
 *     speaking_prepare(room, len);
 *     text = …                             in topic_reserve()'s place
 *     a = speaking_admission(&speaker, text);
 *     if (admit(&a, &refusal))
 *         speaking_refuse(&speaker, &a, &refusal);
 */
#pragma once

#include "admit/admit.h"
#include "gateway/grants.h"
#include "gateway/room.h"

struct speaker {
    struct live_room *room;
    struct member *member;
    struct identity *identity;
    const struct admit_limits *limits;
};

/* Before a text is put into the log: it is counted, nobody speaks before he came, and
 * nobody by a right that has expired. Whoever loses one is welcomed anew, and whoever
 * does not read is closed instead: that may be the one who is about to speak. */
static inline void speaking_prepare(struct live_room *room, size_t len)
{
    struct worker *worker = room->worker;

    worker->metrics.envelopes_received++;
    worker->metrics.bytes_received += len;
    room_flush_presence(room);
    if (loop_wall_ms(worker->loop) >= worker->rights_due_ms)
        grants_expire(worker);
}

static inline struct admission speaking_admission(const struct speaker *speaker,
                                                  struct str text)
{
    struct loop *loop = speaker->room->worker->loop;

    return (struct admission){ .room = &speaker->room->room,
                               .sender = speaker->member->participant,
                               .member = speaker->member,
                               .dialect = speaker->member->lane->dialect,
                               .text = text,
                               .limits = speaker->limits,
                               .identity = speaker->identity,
                               .scratch = loop_scratch(loop),
                               .now_ms = loop_now_ms(loop),
                               .wall_ms = loop_wall_ms(loop) };
}

/* Recorded, told to who said it (unless it was no text at all: ERR_UTF8), and to the room
 * where that hears of such things. */
void speaking_refuse(const struct speaker *speaker, const struct admission *a,
                     const struct refusal *refusal);

/* To this member alone, in its order. While the disk fails nobody waits for it. */
void speaking_tell(struct worker *worker, struct member *member,
                   struct private_note note);

/* A pong: everything that the member said before has been judged, and every refusal of it
 * stands before this. */
void speaking_pong(struct worker *worker, struct member *member, struct str body);

/* What the credential may do here has changed: the connection gets it. */
void speaking_renew_rights(struct member *member, struct identity *identity);
