/* SPDX-License-Identifier: Apache-2.0 */
#include "client/retry.h"

#include "base/cleanup.h"
#include "ws/ws.h"

enum { WAIT_MAX_MS = 3'600'000, DOUBLINGS = 31 };

/* What ends it, or makes it wait; whatever is not here is tried again. */
enum verdict { STOPS_FIRST, STOPS, WAITS };

/* clang-format off */
static const struct {
    enum ending_type type;
    int number;
    enum verdict verdict; /* STOPS_FIRST: before the first success */
    uint64_t wait_ms;
} rules[] = {
    { ENDING_WANTED,    0,                STOPS,       0      },
    { ENDING_UNTRUSTED, 0,                STOPS_FIRST, 0      },
    { ENDING_REFUSED,   400,              STOPS_FIRST, 0      }, /* it will not like it better later */
    { ENDING_REFUSED,   401,              STOPS,       0      }, /* the token is void */
    { ENDING_REFUSED,   403,              STOPS_FIRST, 0      }, /* later: a kick, for a while */
    { ENDING_REFUSED,   404,              STOPS,       0      }, /* no such topic, or gateway */
    { ENDING_REFUSED,   421,              STOPS_FIRST, 0      },
    { ENDING_REFUSED,   426,              STOPS_FIRST, 0      },
    { ENDING_CLOSED,    WS_CODE_POLICY,   STOPS,       0      }, /* the token is void */
    { ENDING_CLOSED,    WS_CODE_REPLACED, STOPS,       0      }, /* it would replace it back */
    { ENDING_CLOSED,    WS_CODE_KICKED,   WAITS,       60'000 },
};
/* clang-format on */

bool retry_is_over(const struct retry *retry, const struct ending *ending)
{
    if (retry->tries_once)
        return true;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].type == ending->type && rules[i].number == ending->number)
            return rules[i].verdict == STOPS ||
                   (rules[i].verdict == STOPS_FIRST && !retry->has_succeeded);
    return false;
}

static uint64_t least_wait(const struct ending *ending)
{
    uint64_t wait_ms = ending->wait_ms < WAIT_MAX_MS ? ending->wait_ms : WAIT_MAX_MS;

    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].type == ending->type && rules[i].number == ending->number &&
            rules[i].wait_ms > wait_ms)
            wait_ms = rules[i].wait_ms;
    return wait_ms;
}

uint64_t retry_pause_ms(struct retry *retry, const struct ending *ending, uint64_t random)
{
    uint64_t ceiling;

    if (retry->failures < DOUBLINGS)
        retry->failures++;
    ceiling = (uint64_t)retry->min_ms << retry->failures;
    if (ceiling > retry->max_ms)
        ceiling = retry->max_ms;
    if (ceiling < retry->min_ms)
        ceiling = retry->min_ms;
    return least_wait(ending) + retry->min_ms + random % (ceiling - retry->min_ms + 1);
}

void retry_succeeded(struct retry *retry)
{
    retry->has_succeeded = true;
}

void retry_held(struct retry *retry)
{
    retry->failures = 0;
}
