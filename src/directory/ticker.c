/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/ticker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void ticker_init(struct ticker *feed, size_t max_events, size_t max_bytes,
                 const char *epoch)
{
    *feed =
        (struct ticker){ .max_events = max_events, .max_bytes = max_bytes, .first = 1 };
    feed->events = xcalloc(max_events, sizeof(struct ticker_event *));
    (void)snprintf(feed->epoch, sizeof(feed->epoch), "%s", epoch);
}

static struct ticker_event **place_of(const struct ticker *feed, uint64_t sequence)
{
    return &feed->events[sequence % feed->max_events];
}

static size_t size_of(const struct ticker_event *event)
{
    size_t size = sizeof(*event) + event->event_type.len + event->team.len +
                  event->topic.len + event->text.len + event->details.len;

    for (size_t i = 0; i < event->audience.count; i++)
        size += sizeof(struct str) + event->audience.items[i].len;
    return size;
}

static void drop_first(struct ticker *feed)
{
    struct ticker_event **place = place_of(feed, feed->first);

    if (*place)
        feed->bytes -= size_of(*place);
    free(*place);
    *place = NULL;
    feed->first++;
}

void ticker_done(struct ticker *feed)
{
    while (feed->first <= feed->last)
        drop_first(feed);
    free(feed->events);
}

uint64_t ticker_next(const struct ticker *feed)
{
    return feed->last + 1;
}

static struct str copy(char **at, struct str text)
{
    struct str made = { *at, text.len };

    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return made;
}

/* One block: the event, its audience, all texts. */
static struct ticker_event *event_new(const struct ticker_event *from, uint64_t sequence)
{
    struct ticker_event *event = xmalloc(size_of(from));
    struct str *audience = (struct str *)(event + 1);
    char *at = (char *)(audience + from->audience.count);

    event->sequence = sequence;
    event->event_type = copy(&at, from->event_type);
    event->team = copy(&at, from->team);
    event->topic = copy(&at, from->topic);
    event->text = copy(&at, from->text);
    event->details = copy(&at, from->details);
    for (size_t i = 0; i < from->audience.count; i++)
        audience[i] = copy(&at, from->audience.items[i]);
    event->audience = (struct str_list){ audience, from->audience.count };
    return event;
}

void ticker_add(struct ticker *feed, const struct ticker_event *event)
{
    size_t size = size_of(event);

    while (feed->first <= feed->last &&
           (feed->last - feed->first + 1 >= feed->max_events ||
            feed->bytes + size > feed->max_bytes))
        drop_first(feed);
    feed->last++;
    if (size > feed->max_bytes) {
        feed->first = feed->last + 1;
        return;
    }
    *place_of(feed, feed->last) = event_new(event, feed->last);
    feed->bytes += size;
}

const struct ticker_event *ticker_find(const struct ticker *feed, uint64_t sequence)
{
    if (sequence < feed->first || sequence > feed->last)
        return NULL;
    return *place_of(feed, sequence);
}

bool ticker_resume(const struct ticker *feed, struct str epoch, uint64_t sequence,
                   uint64_t *ret)
{
    if (!str_eq(epoch, str_of(feed->epoch)) || sequence > feed->last) {
        *ret = feed->first - 1; /* of another time: all that there is is news */
        return false;
    }
    *ret = sequence + 1 < feed->first ? feed->first - 1 : sequence;
    return *ret == sequence;
}

static bool has(struct str_list list, struct str text)
{
    for (size_t i = 0; i < list.count; i++)
        if (str_eq(list.items[i], text))
            return true;
    return false;
}

bool ticker_interests(const struct ticker_event *event,
                      const struct agent_interest *interest)
{
    bool is_narrow = interest->topics.count || interest->teams.count;

    if (interest->event_types.count && !has(interest->event_types, event->event_type))
        return false;
    return !is_narrow || (event->topic.len && has(interest->topics, event->topic)) ||
           (event->team.len && has(interest->teams, event->team));
}

bool ticker_names(const struct ticker_event *event, struct str id)
{
    return has(event->audience, id);
}
