/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses are public, by the registries of special-purpose addresses (RFC 6890
 * and what followed). Of IPv6 only 2000::/3 was ever given to anybody.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/cleanup.h"
#include "fetch/fetch.h"

struct range {
    uint8_t bytes[16];
    uint8_t bits;
};

/* clang-format off */
static const struct range special4[] = {
    { { 0 },             8 }, /* this network */
    { { 10 },            8 }, /* private */
    { { 100, 64 },      10 }, /* shared, behind carriers' NAT */
    { { 127 },           8 }, /* loopback */
    { { 169, 254 },     16 }, /* link-local, and the metadata of clouds */
    { { 172, 16 },      12 }, /* private */
    { { 192, 0, 0 },    24 }, /* protocol assignments */
    { { 192, 0, 2 },    24 }, /* documentation */
    { { 192, 88, 99 },  24 }, /* relays of 6to4 */
    { { 192, 168 },     16 }, /* private */
    { { 198, 18 },      15 }, /* benchmarks */
    { { 198, 51, 100 }, 24 }, /* documentation */
    { { 203, 0, 113 },  24 }, /* documentation */
    { { 224 },           4 }, /* multicast */
    { { 240 },           4 }, /* reserved, and broadcast */
};

static const struct range given6 = { { 0x20 }, 3 };
static const struct range special6[] = {
    { { 0x20, 0x01 },             23 }, /* protocol assignments: Teredo, ORCHID, … */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
    { { 0x20, 0x02 },             16 }, /* 6to4: IPv4 inside */
    { { 0x3f, 0xff },             20 }, /* documentation */
};

/* Where an IPv4 address stands in the last four bytes, and is where one arrives. */
static const struct range mapped6[] = {
    { { [10] = 0xff, [11] = 0xff },                     96 },
    { { [0] = 0x00, 0x64, 0xff, 0x9b },                 96 }, /* NAT64 */
};

static const struct range loopback4  = { { 127 }, 8 };
static const struct range loopback6  = { { [15] = 1 }, 128 };
static const struct range link4      = { { 169, 254 }, 16 };
static const struct range link6      = { { 0xfe, 0x80 }, 10 };
/* clang-format on */

static bool is_in(const struct range *range, const uint8_t *address)
{
    size_t bytes = range->bits / 8;
    unsigned rest = range->bits % 8;

    if (memcmp(range->bytes, address, bytes) != 0)
        return false;
    return rest == 0 || (range->bytes[bytes] ^ address[bytes]) >> (8 - rest) == 0;
}

static bool is_in_any(const struct range *ranges, size_t count, const uint8_t *address)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(&ranges[i], address))
            return true;
    return false;
}

static bool may_reach4(enum fetch_reach reach, const uint8_t *address)
{
    if (is_in(&link4, address))
        return false;
    switch (reach) {
    case FETCH_ANYWHERE: return true;
    case FETCH_LOCAL:
        if (is_in(&loopback4, address))
            return true;
        [[fallthrough]];
    case FETCH_PUBLIC: return !is_in_any(special4, COUNT(special4), address);
    }
    return false;
}

static bool may_reach6(enum fetch_reach reach, const uint8_t *address)
{
    if (is_in(&link6, address))
        return false;
    if (is_in_any(mapped6, COUNT(mapped6), address))
        return reach == FETCH_ANYWHERE && may_reach4(reach, address + 12);
    switch (reach) {
    case FETCH_ANYWHERE: return true;
    case FETCH_LOCAL:
        if (is_in(&loopback6, address))
            return true;
        [[fallthrough]];
    case FETCH_PUBLIC:
        return is_in(&given6, address) && !is_in_any(special6, COUNT(special6), address);
    }
    return false;
}

bool fetch_may_reach(enum fetch_reach reach, const struct sockaddr *address)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;

    switch (address->sa_family) {
    case AF_INET:
        memcpy(&in, address, sizeof(in));
        return may_reach4(reach, (const uint8_t *)&in.sin_addr);
    case AF_INET6:
        memcpy(&in6, address, sizeof(in6));
        return may_reach6(reach, in6.sin6_addr.s6_addr);
    default: return false;
    }
}
