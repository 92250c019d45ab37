/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_ask.h"

#include <time.h>

#include "base/clock.h"
#include "cli/input.h"

enum { DAY_TEXT = 10, LIMIT_MAX = 1'000'000'000 };

/* Midnight by the clock of where we are, as records are shown. */
static enum err parse_day(struct str text, uint64_t *ret_ms)
{
    char day[DAY_TEXT + sizeof("T00:00:00Z")];
    struct tm here = {};
    time_t seconds;
    uint64_t ms;

    memcpy(day, text.ptr, DAY_TEXT);
    memcpy(day + DAY_TEXT, "T00:00:00Z", sizeof("T00:00:00Z"));
    if (clock_parse(str_of(day), &ms))
        return ERR_INVALID;
    seconds = (time_t)(ms / 1000);
    (void)gmtime_r(&seconds, &here);
    here.tm_isdst = -1;
    seconds = mktime(&here); /* people say it, where they are */
    *ret_ms = seconds > 0 ? (uint64_t)seconds * 1000 : 1;
    return OK;
}

enum err audit_moment(struct str text, uint64_t now_ms, uint64_t *ret_ms)
{
    uint64_t ms;

    if (str_to_u64(text, UINT64_MAX, &ms) == OK)
        return ERR_INVALID; /* a bare number might have meant anything */
    if (cli_read_duration(text, &ms)) {
        *ret_ms = ms < now_ms ? now_ms - ms : 1;
        return OK;
    }
    return text.len == DAY_TEXT ? parse_day(text, ret_ms) : clock_parse(text, ret_ms);
}

static int read_time(const char *option, const char *text, uint64_t now_ms,
                     uint64_t *ret_ms)
{
    if (!text || audit_moment(str_of(text), now_ms, ret_ms) == OK)
        return CLI_OK;
    return cli_fail("%s takes a time like 15m, 2h or 3d ago, or an RFC 3339 date, not "
                    "\"%s\"",
                    option, text),
           CLI_USAGE;
}

static int check_event(const char *name)
{
    enum audit_event event;
    struct buf names;

    if (!name || audit_event_parse(str_of(name), &event) == OK)
        return CLI_OK;
    buf_init(&names, 1024);
    for (int i = 0; i < AUDIT_EVENT_COUNT; i++)
        buf_putf(&names, "%s" STR_FMT, i ? ", " : "",
                 STR_ARG(audit_event_name((enum audit_event)i)));
    (void)cli_fail("--event: there is no \"%s\"; there are %s", name, buf_cstr(&names));
    buf_done(&names);
    return CLI_USAGE;
}

static int check_text(const char *text)
{
    struct audit_terms terms;

    switch (text ? audit_terms_parse(str_of(text), &terms) : OK) {
    case OK: return CLI_OK;
    case ERR_TOO_BIG:
        return cli_fail("at most %d words can be looked for", AUDIT_MAX_WORDS), CLI_USAGE;
    default:
        return cli_fail("there is no word in \"%s\": words are of letters and digits",
                        text),
               CLI_USAGE;
    }
}

/* NULL is not given, but "" is. */
static struct str given(const char *text)
{
    return text ? str_of(text) : (struct str){};
}

int audit_ask(const struct audit_filter *filter, uint64_t now_ms, struct audit_query *ret)
{
    struct audit_query q = {
        .event = given(filter->event),
        .topic = given(filter->topic),
        .participant = given(filter->participant),
        .kind = given(filter->kind),
        .verdict = given(filter->verdict),
        .thread = given(filter->thread),
        .text = given(filter->text),
    };
    int code = check_event(filter->event);

    if (!code)
        code = check_text(filter->text);
    if (!code)
        code = read_time("--since", filter->since, now_ms, &q.since_ms);
    if (!code)
        code = read_time("--until", filter->until, now_ms, &q.until_ms);
    if (!code && q.since_ms && q.until_ms && q.since_ms >= q.until_ms)
        return cli_fail("--until lies before --since"), CLI_USAGE;
    if (!code)
        *ret = q;
    return code;
}

bool audit_asks_all(const struct audit_query *q)
{
    return !q->since_ms && !q->until_ms && !q->event.ptr && !q->topic.ptr &&
           !q->participant.ptr && !q->kind.ptr && !q->verdict.ptr && !q->thread.ptr &&
           !q->text.ptr && !q->limit;
}

int audit_limit(const char *text, size_t *ret)
{
    uint64_t limit;

    if (!text)
        return CLI_OK;
    if (str_to_u64(str_of(text), LIMIT_MAX, &limit))
        return cli_fail("--limit takes a number, 0 for all, not \"%s\"", text), CLI_USAGE;
    *ret = (size_t)limit;
    return CLI_OK;
}
