/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/sealed.h"

#include <endian.h>
#include <string.h>

#include "base/cleanup.h"

/* What is inside the box, in network order. The last two bytes are zero: who changes the
 * meaning of the others changes these. */
struct packed {
    uint64_t number, boot, created_ms;
    uint32_t can;
    uint8_t version;
    int8_t level;
    uint8_t digest[16];
    uint8_t format[2];
} __attribute__((packed));
_Static_assert(sizeof(struct packed) == 48);

enum { BOX = sizeof(struct packed) + SEAL_MORE, MAX_ABOUT = 4096 };
_Static_assert((BOX * 4 + 2) / 3 <= SEALED_MAX);

/* The length keeps apart where the topic ends and the participant begins. */
static void put_about(struct buf *out, const struct sealer *sealer, enum sealed_use use,
                      struct str participant)
{
    buf_putf(out, "%d:%zu:", (int)use, sealer->topic.len);
    buf_put(out, sealer->topic);
    buf_put(out, participant);
}

void sealed_put(const struct sealer *sealer, enum sealed_use use, struct str participant,
                const struct sealed *sealed, struct buf *out)
{
    CLEANUP(buf_done) struct buf about;
    CLEANUP(buf_done) struct buf box;
    struct packed packed = { .number = htobe64(sealed->number),
                             .boot = htobe64(sealed->boot),
                             .created_ms = htobe64(sealed->created_ms),
                             .can = htobe32(sealed->can),
                             .version = sealed->version,
                             .level = (int8_t)sealed->level };

    memcpy(packed.digest, sealed->digest, sizeof(packed.digest));
    buf_init(&about, MAX_ABOUT);
    buf_init(&box, BOX);
    put_about(&about, sealer, use, participant);
    crypto_seal(sealer->key, buf_str(&about),
                (struct str){ (const char *)&packed, sizeof(packed) }, &box);
    if (about.is_full || box.is_full)
        out->is_full = true;
    else
        base64url_write(out, buf_str(&box));
}

static void unpack(const struct packed *packed, struct sealed *ret)
{
    *ret = (struct sealed){ .number = be64toh(packed->number),
                            .boot = be64toh(packed->boot),
                            .created_ms = be64toh(packed->created_ms),
                            .can = be32toh(packed->can),
                            .version = packed->version,
                            .level = packed->level };
    memcpy(ret->digest, packed->digest, sizeof(ret->digest));
}

enum err sealed_read(const struct sealer *sealer, enum sealed_use use,
                     struct str participant, struct str text, struct sealed *ret)
{
    CLEANUP(buf_done) struct buf about;
    CLEANUP(buf_done) struct buf box;
    CLEANUP(buf_done) struct buf opened;
    struct packed packed;

    buf_init(&about, MAX_ABOUT);
    buf_init(&box, BOX);
    buf_init(&opened, sizeof(packed));
    put_about(&about, sealer, use, participant);
    if (about.is_full || text.len > SEALED_MAX || base64url_parse(text, &box) ||
        crypto_open(sealer->key, buf_str(&about), buf_str(&box), &opened) ||
        opened.len != sizeof(packed))
        return ERR_INVALID;
    memcpy(&packed, opened.ptr, sizeof(packed));
    if (packed.format[0] || packed.format[1])
        return ERR_INVALID;
    unpack(&packed, ret);
    return OK;
}
