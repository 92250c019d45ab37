/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot audit replay: a recorded conversation, said again in another room. What is to be
 * said is read first, into a file without a name; then it is sent, one after the other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/line.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/audit_ask.h"
#include "cli/audit_source.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "cli/session.h"

enum { LINE_BYTES = 512 << 20, AGAIN_MS = 250, SPEED_MAX = 1'000'000 };
enum { WAIT_MAX = 7 * 86'400'000 };

struct replay_options {
    struct session_options session;
    struct audit_filter filter;
    const char *file, *speed, *limit;
};

#define OPT(member) CLI_AT(struct replay_options, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--topic", "TOPIC", "what was said in this topic",                               OPT(filter.topic) },
    { "--to",    "TOPIC", "is said in this one",                                       OPT(session.topic) },
    { "--speed", "N",     "so many times as fast: 1 unless told; 0: as fast as it goes", OPT(speed) },
    CLI_AUDIT_TIMES(struct replay_options),
    { "--thread", "ID",   "only what hangs together with this envelope",               OPT(filter.thread) },
    { "--participant", "PARTICIPANT", "only what this one said",                       OPT(filter.participant) },
    { "--file",  "FILE",  "read a copy of audit.db or an export; - for standard input", OPT(file) },
    { "--server",     "URL",   "wss://HOST:PORT, https:// …; or $MOOT_SERVER",    OPT(session.server) },
    { "--token-file", "FILE",  "your token; or $MOOT_TOKEN",                      OPT(session.token_file) },
    { "--ca",         "FILE",  "wss: trust these certificates, not the system's", OPT(session.ca) },
    { "--data",       "DIR",   "data directory of the local server",              OPT(session.data) },
};
/* clang-format on */

struct performance {
    FILE *script;   /* lines of records */
    uint64_t count; /* of them */
    double speed;
    struct replay replay;
    struct progress progress;
    struct arena arena;
    char *line;
    size_t size;
    struct audit_record record; /* the one to be said next; views into `line` */
    bool is_prepared;
    uint64_t last_ms; /* when the one before was recorded; 0: there was none */
    uint64_t said, skipped;
};

/* --- the script --- */

static bool write_line(void *user, const struct audit_record *record)
{
    struct performance *p = user;
    struct buf line;
    bool is_written;

    if (audit_body_is_removed(record)) {
        p->skipped++;
        return true;
    }
    buf_init(&line, LINE_BYTES);
    audit_record_write(record, &line);
    is_written = fwrite(line.ptr, 1, line.len, p->script) == line.len;
    buf_done(&line);
    p->count += is_written;
    return is_written;
}

/* The server that it is said on is asked for it, where no file is given. */
static int read_script(const struct replay_options *o, struct performance *p)
{
    struct audit_place place = { .file = o->file };
    struct audit_filter filter = o->filter;
    struct audit_source *source;
    struct audit_query query;
    int code;

    if (!o->file)
        place = (struct audit_place){ .server = o->session.server,
                                      .token_file = o->session.token_file,
                                      .ca = o->session.ca,
                                      .data = o->session.data };
    filter.event = "envelope";
    code = audit_ask(&filter, clock_wall_ms(), &query);
    if (!code)
        code = audit_source_open(&place, &source);
    if (code)
        return code;
    query.order = AUDIT_OLDEST_FIRST;
    errno = 0;
    if (audit_source_records(source, &query, write_line, p))
        code = audit_source_fail(source);
    else if (ferror(p->script) || fseeko(p->script, 0, SEEK_SET) != 0)
        code = cli_fail("a temporary file: %s", strerror(errno));
    audit_source_close(source);
    return code;
}

/* The next that can be said; false: there is none. */
static bool read_next(struct performance *p)
{
    struct audit_line line;
    const char *what;
    ssize_t len;

    while ((len = getline(&p->line, &p->size, p->script)) > 0) {
        arena_reset(&p->arena);
        if (audit_line_parse((struct str){ p->line, (size_t)len - 1 }, &p->arena, &line,
                             &what) ||
            replay_prepare(&p->replay, &line.record)) {
            p->skipped++;
            continue;
        }
        p->record = line.record;
        p->is_prepared = true;
        return true;
    }
    return false;
}

/* --- saying it --- */

static void go_on(struct session *session);

static void on_said(struct moot *m [[maybe_unused]], void *user,
                    const struct moot_outcome *outcome)
{
    struct session *session = user;
    struct performance *p = session->user;

    if (session->is_ending)
        return;
    if (outcome->type == MOOT_REFUSED && strcmp(outcome->error, "rate_limited") == 0) {
        session_wake(session, AGAIN_MS);
        return;
    }
    if (outcome->type != MOOT_SENT) {
        progress_end(&p->progress);
        session_end(session, session_report(session, outcome));
        return;
    }
    replay_note(&p->replay, &p->record, outcome->id);
    p->said++;
    p->is_prepared = false;
    if (progress_is_due(&p->progress))
        progress_tell(&p->progress, p->said, p->count, p->said);
    go_on(session);
}

/* Who replays is rarely who has these rights: people's tokens have not. */
static int tell_rights(const struct performance *p)
{
    (void)cli_fail("you may not say %s here; who replays needs the capabilities chat and "
                   "replay/*:\n  moot token create player --capabilities 'chat,replay/*' "
                   "> player.token",
                   p->replay.kind.ptr);
    return CLI_REFUSED;
}

static void say(struct session *session)
{
    struct performance *p = session->user;
    struct moot_envelope envelope = { .kind = buf_cstr(&p->replay.kind),
                                      .payload = buf_cstr(&p->replay.payload),
                                      .members = buf_cstr(&p->replay.members),
                                      .correlation_id = p->replay.correlation_id,
                                      .on_done = on_said,
                                      .user = session };
    enum moot_err err = moot_send(session->moot, &envelope, NULL);

    if (err == MOOT_OFFLINE || err == MOOT_FULL) {
        session_wake(session, AGAIN_MS);
    } else if (err) {
        progress_end(&p->progress);
        session_end(session,
                    err == MOOT_FORBIDDEN ? tell_rights(p) : session_fail(session, err));
    }
}

/* How long it was silent before it, at this speed. */
static uint64_t pause_before(const struct performance *p)
{
    double pause;

    if (p->speed <= 0 || !p->last_ms || p->record.at_ms <= p->last_ms)
        return 0;
    pause = (double)(p->record.at_ms - p->last_ms) / p->speed;
    return pause < WAIT_MAX ? (uint64_t)pause : WAIT_MAX;
}

static void tell_pause(struct session *session, uint64_t ms)
{
    struct buf text;

    if (ms < 10'000)
        return;
    progress_end(&((struct performance *)session->user)->progress);
    buf_init(&text, 64);
    progress_put_duration(&text, ms);
    session_tell(session, "it was silent now; on in %s", buf_cstr(&text));
    buf_done(&text);
}

static void go_on(struct session *session)
{
    struct performance *p = session->user;
    uint64_t pause;

    if (!read_next(p)) {
        progress_end(&p->progress);
        session_end(session, CLI_OK);
        return;
    }
    pause = pause_before(p);
    p->last_ms = p->record.at_ms;
    tell_pause(session, pause);
    session_wake(session, pause ? pause : 1);
}

static void begin(struct session *session)
{
    struct performance *p = session->user;

    progress_begin(&p->progress, "replaying", "envelopes");
    go_on(session);
}

/* --- all of it --- */

static int read_speed(const char *text, double *ret)
{
    char *end = NULL;
    double speed = text ? strtod(text, &end) : 1;

    if (text && (end == text || *end || !(speed >= 0 && speed <= SPEED_MAX)))
        return cli_fail("--speed takes a number, 0 for as fast as it goes, not \"%s\"",
                        text),
               CLI_USAGE;
    *ret = speed;
    return CLI_OK;
}

static int check_topics(const struct replay_options *o)
{
    if (!o->session.topic)
        return cli_fail("--to names the topic to replay into"), CLI_USAGE;
    if (!o->filter.topic)
        return cli_fail("--topic names the topic that is replayed"), CLI_USAGE;
    return CLI_OK;
}

static int perform(const struct replay_options *o, struct performance *p)
{
    struct session_plan plan = { .on_begin = begin, .on_wake = say, .user = p };
    int code = read_script(o, p);

    if (code)
        return code;
    if (p->count == 0)
        return cli_fail("nothing that was said in %s is in the record%s", o->filter.topic,
                        p->skipped ? " any more: the bodies were removed" : "");
    code = session_run(&o->session, &plan);
    if (!code) {
        printf("%llu envelopes replayed into %s", (unsigned long long)p->said,
               o->session.topic);
        if (p->skipped)
            printf(", %llu left out", (unsigned long long)p->skipped);
        (void)putchar('\n');
    }
    return code;
}

static int replay(void *fields, char **arguments [[maybe_unused]],
                  size_t count [[maybe_unused]])
{
    const struct replay_options *o = fields;
    struct performance p = {};
    int code = check_topics(o);

    if (!code)
        code = read_speed(o->speed, &p.speed);
    if (code)
        return code;
    p.script = tmpfile();
    if (!p.script)
        return cli_fail("a temporary file: %s", strerror(errno));
    replay_init(&p.replay);
    arena_init(&p.arena, LINE_BYTES);
    code = perform(o, &p);
    arena_done(&p.arena);
    replay_done(&p.replay);
    free(p.line);
    (void)fclose(p.script);
    return code;
}

const struct cli_command cli_audit_replay = {
    .name = "audit replay",
    .usage = "--topic TOPIC --to TOPIC [OPTIONS]",
    .summary = "say a recorded conversation again in another topic; nothing executes",
    .more =
        "You say all of it, so you need the capabilities chat and replay/*. A chat stays\n"
        "a chat, everything else comes as replay/KIND, which nobody executes; whose it\n"
        "was stands in replay_of. Ids are new, and answers refer to the new ones. What\n"
        "was refused then is not said, nor what retention has removed. Whoever reacts to\n"
        "chat reacts to this, too: take a topic without such agents.\n"
        "The record is read through the local server, which needs no token, through\n"
        "--server with the token of an administrator, or from --file.\n\n"
        "  moot token create player --capabilities 'chat,replay/*' > player.token\n"
        "  moot audit replay --topic lobby --since 2h --to demo --speed 4 \\\n"
        "      --token-file player.token\n\n"
        "Exit status: 0 done, 1 failed, 2 wrong usage, 4 refused.\n",
    .options = options,
    .option_count = COUNT(options),
    .run = replay,
    .options_size = sizeof(struct replay_options),
};
