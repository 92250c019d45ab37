/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the load generator reads from a server; the first byte chooses the protocol.
 * Whatever the bytes: a unit takes at least one of them and lies inside them, and each
 * front of it asks for more.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool lies_inside(struct str part, struct str whole)
{
    return !part.len || (part.ptr >= whole.ptr && part.len <= whole.len &&
                         (size_t)(part.ptr - whole.ptr) <= whole.len - part.len);
}

static void check_unit(const struct protocol *protocol, struct str bytes,
                       const struct unit *unit)
{
    struct unit front;

    must(unit->size > 0 && unit->size <= bytes.len);
    if (unit->type == UNIT_MESSAGE)
        must(lies_inside(unit->body, str_slice(bytes, 0, unit->size)));
    for (size_t cut = 0; cut < unit->size && unit->size < 512; cut++)
        must(protocol->parse(str_slice(bytes, 0, cut), &front) == ERR_AGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct protocol *const protocols[] = { &protocol_ws, &protocol_nats,
                                                        &protocol_redis, &protocol_mqtt };
    const struct protocol *protocol;
    struct str rest = { (const char *)bytes + 1, size - 1 };
    struct unit unit;

    if (!size)
        return 0;
    protocol = protocols[bytes[0] % 4];
    while (protocol->parse(rest, &unit) == OK) {
        check_unit(protocol, rest, &unit);
        rest = str_slice(rest, unit.size, rest.len);
    }
    return 0;
}
