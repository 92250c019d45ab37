/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids that a client shows: a line with the use (0, 1, 2), one with the topic, one with
 * the participant, and the id. Of all that can be shown one opens, with the names it was
 * made for: the one that we have made. Ids of events come after it.
 */
#include <stdlib.h>

#include "mcpdoor/sealed.h"
#include "mcpdoor/strand.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Made with the key below, for ann in room. */
static const struct str ours =
    S("mVbhJAPNUdzM45XOTtgr2xik2v4bG8Oc48ZHXWN-77cOd0tAawlTvH_-7QnYkH7dX7xQ-kNEe2ZGdiBh"
      "ev-BM4dNYHCMa10H-3IB37XlG3KW_zQU3n0flA");

static void check(bool is_fine)
{
    if (!is_fine)
        abort();
}

static void check_sealed(enum sealed_use use, struct str topic, struct str participant,
                         struct str text)
{
    struct sealer sealer = { { 1, 2, 3 }, topic };
    struct sealed sealed = { .number = 77 };
    bool is_ours = use == SEALED_VISIT && str_eq(topic, S("room")) &&
                   str_eq(participant, S("ann")) && str_eq(text, ours);
    enum err err = sealed_read(&sealer, use, participant, text, &sealed);

    check(err == (is_ours ? OK : ERR_INVALID));
    check(sealed.number == (is_ours ? 1 : 77));
}

static void check_event(struct str text)
{
    uint64_t number, sequence;

    if (strand_read_id(text, &number, &sequence))
        check(text.len >= 3 && text.len < STRAND_ID * 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct str use, topic, participant;

    use = str_cut(&rest, '\n');
    topic = str_cut(&rest, '\n');
    participant = str_cut(&rest, '\n');
    if (!rest.ptr || !use.len)
        return 0;
    check_sealed(use.ptr[0] == '1'   ? SEALED_STATE
                 : use.ptr[0] == '2' ? SEALED_TASK
                                     : SEALED_VISIT,
                 topic, participant, rest);
    check_event(rest);
    return 0;
}
