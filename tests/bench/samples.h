/* SPDX-License-Identifier: Apache-2.0 */
/* How long each of many calls took, and what all of them cost who made them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct samples {
    uint64_t began_ns;
    uint64_t *took_ns;
    size_t count, errors;
};

uint64_t samples_now_ns(void);

/* Forgets those that it had. Ends the program when there is no memory. */
void samples_begin(struct samples *s);
void samples_add(struct samples *s, uint64_t began_ns);
/* Prints one JSON object, without an end, so that more can follow: `{"calls":…`. */
void samples_print(struct samples *s);
void samples_done(struct samples *s);
