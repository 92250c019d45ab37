/* SPDX-License-Identifier: Apache-2.0 */
/* Each address keeps the times of its last failures in a ring as long as the limit: the
 * limit is reached when the oldest of a full ring lies within the window. */
#include "identity/throttle.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xalloc.h"

struct address {
    struct link link;
    char *text;
    size_t text_len;
    size_t failures;
    uint64_t refused_until_ms;
    uint64_t times_ms[];
};

static struct str text_of(const struct address *address)
{
    return (struct str){ address->text, address->text_len };
}

struct throttle_limits throttle_default_limits(void)
{
    return (struct throttle_limits){
        .max_addresses = 4096,
        .max_failures = 10,
        .window_ms = 60'000,
        .refuse_ms = 30'000,
    };
}

void throttle_init(struct throttle *throttle, struct throttle_limits limits)
{
    assert(limits.max_addresses > 0);
    throttle->limits = limits;
    map_init(&throttle->by_address);
    list_init(&throttle->by_age);
}

static void forget(struct throttle *throttle, struct address *address)
{
    (void)map_remove(&throttle->by_address, text_of(address));
    list_remove(&address->link);
    free(address->text);
    free(address);
}

static void forget_all(struct throttle *throttle)
{
    struct address *address;

    LIST_FOREACH(address, &throttle->by_age, link)
        forget(throttle, address);
}

void throttle_set_limits(struct throttle *throttle, struct throttle_limits limits)
{
    assert(limits.max_addresses > 0);
    if (limits.max_failures != throttle->limits.max_failures)
        forget_all(throttle); /* their rings have another length */
    throttle->limits = limits;
}

void throttle_done(struct throttle *throttle)
{
    forget_all(throttle);
    map_done(&throttle->by_address);
}

uint64_t throttle_wait_ms(const struct throttle *throttle, struct str address,
                          uint64_t now_ms)
{
    const struct address *found = map_find(&throttle->by_address, address);

    if (!found || now_ms >= found->refused_until_ms)
        return 0;
    return found->refused_until_ms - now_ms;
}

bool throttle_allows(const struct throttle *throttle, struct str address, uint64_t now_ms)
{
    return throttle_wait_ms(throttle, address, now_ms) == 0;
}

static struct address *add_address(struct throttle *throttle, struct str text)
{
    size_t times = throttle->limits.max_failures;
    struct address *oldest = LIST_FIRST(&throttle->by_age, struct address, link);
    struct address *address;

    if (oldest && throttle->by_address.count >= throttle->limits.max_addresses)
        forget(throttle, oldest);
    address = xcalloc(1, sizeof(*address) + times * sizeof(address->times_ms[0]));
    address->text = str_dup(text);
    address->text_len = text.len;
    map_set(&throttle->by_address, text_of(address), address);
    return address;
}

void throttle_failed(struct throttle *throttle, struct str address, uint64_t now_ms)
{
    struct address *found = map_find(&throttle->by_address, address);
    size_t max = throttle->limits.max_failures;
    uint64_t oldest_ms;

    if (max == 0)
        return;
    if (!found)
        found = add_address(throttle, address);
    list_remove(&found->link);
    list_append(&throttle->by_age, &found->link);
    found->times_ms[found->failures++ % max] = now_ms;
    oldest_ms = found->times_ms[found->failures % max];
    if (found->failures < max || now_ms - oldest_ms > throttle->limits.window_ms)
        return;
    found->refused_until_ms = now_ms + throttle->limits.refuse_ms;
    found->failures = 0;
}

void throttle_passed(struct throttle *throttle, struct str address)
{
    struct address *found = map_find(&throttle->by_address, address);

    if (found)
        forget(throttle, found);
}
