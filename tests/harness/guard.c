/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t edge(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void guard_init(struct guard *guard)
{
    size_t size = GUARD_SIZE + 2 * edge();
    char *all = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || GUARD_SIZE % edge() != 0)
        abort();
    guard->ptr = all + edge();
    if (mprotect(guard->ptr, GUARD_SIZE, PROT_READ | PROT_WRITE))
        abort();
}

void guard_done(struct guard *guard)
{
    (void)munmap(guard->ptr - edge(), GUARD_SIZE + 2 * edge());
}

size_t random_below(uint64_t *state, size_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (size_t)(*state >> 11) % limit;
}
