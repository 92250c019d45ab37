/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was said lately: chat, proposals, what was decided about them. What everybody may
 * hear is kept once per topic, what one alone was told with that one. All have numbers of
 * one row, so that one number says how far somebody has read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "json/json.h"
#include "participant/occupant.h"

enum { ROOM_NEWS_PAYLOAD = 8 << 10 }; /* bytes; of larger ones it is only said so */

struct room_news;

/* The oldest go when there are more. */
struct room_news *room_news_new(size_t max_count, size_t max_bytes);
void room_news_free(struct room_news *news);

/* Is it worth being told at all? */
bool room_news_wants(const struct heard *heard);
/* `number` is above all before. */
void room_news_add(struct room_news *news, uint64_t number, const struct heard *heard);

struct room_reading {
    const struct room_news *common, *own; /* either may be NULL */
    uint64_t after;                       /* a number: what is above it */
    struct str me;                        /* what I said is no news */
    size_t max_bytes;                     /* about; at least one */
};

/* The items of an array, in their order. Returns how many there are; *ret_last is how far
 * that goes. */
size_t room_news_put(const struct room_reading *reading, struct json_writer *w,
                     uint64_t *ret_last);
