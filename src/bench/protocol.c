/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/protocol.h"

#include "base/cleanup.h"

static const struct protocol *const protocols[] = {
    &protocol_ws,
    &protocol_nats,
    &protocol_redis,
    &protocol_mqtt,
};

const struct protocol *protocol_find(struct str name)
{
    for (size_t i = 0; i < COUNT(protocols); i++)
        if (str_eq(str_of(protocols[i]->name), name))
            return protocols[i];
    return NULL;
}
