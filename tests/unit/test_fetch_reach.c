/* SPDX-License-Identifier: Apache-2.0 */
/* The address guard, address by address. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "fetch/fetch.h"
#include "harness.h"

static void address_of(const char *text, struct sockaddr_storage *ret)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(443) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(443) };

    *ret = (struct sockaddr_storage){};
    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        memcpy(ret, &in, sizeof(in));
    else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
        memcpy(ret, &in6, sizeof(in6));
    else
        CHECK(false);
}

/* Every range by its first and last address, and the ones beside it. */
TEST(each_address_is_reached_by_whom_it_may_be)
{
    static const struct {
        const char *address;
        bool is_anywhere, is_public, is_local;
    } cases[] = {
        { "8.8.8.8", true, true, true },
        { "93.184.216.34", true, true, true },
        { "2606:4700:4700::1111", true, true, true },
        { "2a00:1450:4001:80b::200e", true, true, true },
        /* this network */
        { "0.0.0.0", true, false, false },
        { "0.255.255.255", true, false, false },
        { "1.0.0.0", true, true, true },
        /* private */
        { "9.255.255.255", true, true, true },
        { "10.0.0.0", true, false, false },
        { "10.255.255.255", true, false, false },
        { "11.0.0.0", true, true, true },
        { "172.15.255.255", true, true, true },
        { "172.16.0.0", true, false, false },
        { "172.31.255.255", true, false, false },
        { "172.32.0.0", true, true, true },
        { "192.167.255.255", true, true, true },
        { "192.168.0.0", true, false, false },
        { "192.168.255.255", true, false, false },
        { "192.169.0.0", true, true, true },
        /* shared */
        { "100.63.255.255", true, true, true },
        { "100.64.0.0", true, false, false },
        { "100.127.255.255", true, false, false },
        { "100.128.0.0", true, true, true },
        /* loopback */
        { "126.255.255.255", true, true, true },
        { "127.0.0.1", true, false, true },
        { "127.255.255.255", true, false, true },
        { "128.0.0.0", true, true, true },
        /* link-local: nobody */
        { "169.253.255.255", true, true, true },
        { "169.254.0.0", false, false, false },
        { "169.254.169.254", false, false, false },
        { "169.254.255.255", false, false, false },
        { "169.255.0.0", true, true, true },
        /* assignments, documentation, relays, benchmarks */
        { "192.0.0.8", true, false, false },
        { "192.0.1.0", true, true, true },
        { "192.0.2.1", true, false, false },
        { "192.0.3.0", true, true, true },
        { "192.88.99.1", true, false, false },
        { "198.17.255.255", true, true, true },
        { "198.18.0.0", true, false, false },
        { "198.19.255.255", true, false, false },
        { "198.20.0.0", true, true, true },
        { "198.51.100.9", true, false, false },
        { "203.0.113.200", true, false, false },
        { "203.0.114.0", true, true, true },
        /* multicast, reserved, broadcast */
        { "223.255.255.255", true, true, true },
        { "224.0.0.1", true, false, false },
        { "239.255.255.255", true, false, false },
        { "240.0.0.0", true, false, false },
        { "255.255.255.255", true, false, false },
        /* of IPv6 what nobody was given */
        { "::", true, false, false },
        { "::1", true, false, true },
        { "::2", true, false, false },
        { "100::1", true, false, false },
        { "1fff:ffff::1", true, false, false },
        { "4000::1", true, false, false },
        { "5f00::1", true, false, false },
        { "fc00::1", true, false, false },
        { "fd12:3456::1", true, false, false },
        { "fec0::1", true, false, false },
        { "ff02::1", true, false, false },
        /* link-local */
        { "fe80::1", false, false, false },
        { "febf:ffff::1", false, false, false },
        { "fe7f::1", true, false, false },
        /* special inside what was given */
        { "2001::1", true, false, false },
        { "2001:1ff:ffff::1", true, false, false },
        { "2001:200::1", true, true, true },
        { "2001:db8::1", true, false, false },
        { "2001:db9::1", true, true, true },
        { "2002:7f00:1::1", true, false, false },
        { "2003::1", true, true, true },
        { "3fff::1", true, false, false },
        { "3fff:fff:ffff::1", true, false, false },
        { "3fff:1000::1", true, true, true },
        /* IPv4 inside IPv6 */
        { "::ffff:8.8.8.8", true, false, false },
        { "::ffff:127.0.0.1", true, false, false },
        { "::ffff:10.0.0.1", true, false, false },
        { "::ffff:169.254.169.254", false, false, false },
        { "::127.0.0.1", true, false, false },
        { "64:ff9b::7f00:1", true, false, false },
        { "64:ff9b::8.8.8.8", true, false, false },
        { "64:ff9b::169.254.169.254", false, false, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct sockaddr_storage storage;
        const struct sockaddr *address = (const struct sockaddr *)&storage;

        address_of(c->address, &storage);
        CHECK_INT(fetch_may_reach(FETCH_ANYWHERE, address), c->is_anywhere);
        CHECK_INT(fetch_may_reach(FETCH_PUBLIC, address), c->is_public);
        CHECK_INT(fetch_may_reach(FETCH_LOCAL, address), c->is_local);
    }
}

TEST(what_is_no_internet_address_is_reached_by_nobody)
{
    struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/run/x" };

    CHECK(!fetch_may_reach(FETCH_ANYWHERE, (const struct sockaddr *)&local));
    CHECK(!fetch_may_reach(FETCH_LOCAL, (const struct sockaddr *)&local));
}
