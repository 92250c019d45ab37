/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look like chance and are the same in every run (xorshift64*). */
#pragma once

#include <stdint.h>
#include <stdlib.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_roll(struct dice *dice)
{
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return dice->state * 0x2545F4914F6CDD1DULL;
}

/* 0 … count - 1 */
static inline uint64_t dice_below(struct dice *dice, uint64_t count)
{
    return (dice_roll(dice) >> 11) % count;
}

/* The number in the environment, else the usual one: for long runs, or short ones. */
static inline uint64_t dice_rounds(const char *name, uint64_t usual)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : usual;
}
