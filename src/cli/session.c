/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/cell.h"
#include "cli/input.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "crypto/crypto.h"
#include "json/json.h"
#include "mcp/rpc.h"
#include "policy/pattern.h"

enum {
    PATH_BYTES = 4096,
    TEXT_BYTES = 8 << 20,
    ARENA_BYTES = 256 << 20,
    GOODBYE_MS = 5000,
};

/* --- where to, and as whom --- */

void session_target_done(struct session_target *target)
{
    crypto_wipe(target->token.ptr, target->token.len);
    buf_done(&target->token);
    buf_done(&target->url);
}

/* The local server: its socket, and the person it made a token for at its first start. */
static int find_local(const struct session_options *o, struct session_target *target)
{
    const char *from_env = getenv("MOOT_TOKEN");
    const char *token_file = o->token_file;
    char path[PATH_BYTES];
    CLEANUP(xfreep) char *whole = NULL;
    struct buf data;
    int code;

    buf_init(&data, PATH_BYTES / 2);
    cli_data_directory(o->data, S(""), &data);
    (void)snprintf(path, sizeof(path), "%s/moot.sock", buf_cstr(&data));
    whole = realpath(path, NULL);
    if (whole) {
        buf_putf(&target->url, "unix:%s", whole);
        (void)snprintf(path, sizeof(path), "%s/human.token", buf_cstr(&data));
        if (!token_file && (!from_env || !*from_env))
            token_file = path;
        code = cli_read_token(token_file, &target->token);
    } else {
        code = cli_fail("no server runs on %s; `moot serve` starts one, --server names "
                        "another",
                        buf_cstr(&data));
    }
    buf_done(&data);
    return code;
}

/* Programs that we start, an editor for one, have no use for it. Wiped where it stands,
 * it is gone from /proc as well. */
static void forget_variable(void)
{
    char *token = getenv("MOOT_TOKEN");

    if (token)
        crypto_wipe(token, strlen(token));
    (void)unsetenv("MOOT_TOKEN");
}

int session_find(const struct session_options *options, struct session_target *ret)
{
    const char *from_env = getenv("MOOT_SERVER");
    const char *url = options->server;
    int code;

    buf_init(&ret->url, PATH_BYTES);
    buf_init(&ret->token, CLI_TOKEN_MAX);
    if (!url && !options->data && from_env && *from_env)
        url = from_env;
    if (url) {
        buf_put(&ret->url, str_of(url));
        code = cli_read_token(options->token_file, &ret->token);
    } else {
        code = find_local(options, ret);
    }
    forget_variable();
    return code;
}

/* --- telling --- */

/* Foreign words inside a sentence of ours. */
static void put_foreign(struct buf *out, const char *text)
{
    plain_put(out, str_of(text), PLAIN_LINE);
}

void session_quiet(struct session *session)
{
    if (session->has_status)
        fputs("\r\033[K", stderr);
    session->has_status = false;
}

void session_status(struct session *session, struct str line)
{
    struct buf shown;

    if (!session->talks || session->is_ending)
        return;
    buf_init(&shown, PATH_BYTES);
    buf_put(&shown, S("\rmoot: "));
    (void)cell_put_cut(&shown, line, progress_columns(STDERR_FILENO) - sizeof("moot: "));
    buf_put(&shown, S("\033[K"));
    fputs(buf_cstr(&shown), stderr);
    buf_done(&shown);
    session->has_status = true;
}

void session_tell(struct session *session, const char *format, ...)
{
    va_list args;

    if (!session->talks)
        return;
    session_quiet(session);
    fputs("moot: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Until somebody reads; false: a signal came instead. */
static bool wait_for_reader(const struct session *session)
{
    struct pollfd fds[] = {
        { .fd = STDOUT_FILENO, .events = POLLOUT },
        { .fd = session->signals, .events = POLLIN },
    };

    while (poll(fds, COUNT(fds), -1) < 0 && errno == EINTR)
        continue;
    return fds[0].revents;
}

/* 0, or the number of what went wrong; EINTR: a signal is to be taken. Pieces as short as
 * these do not block where there is room. */
static int write_out(const struct session *session, struct str bytes)
{
    while (bytes.len) {
        ssize_t wrote;

        if (!wait_for_reader(session))
            return EINTR;
        wrote =
            write(STDOUT_FILENO, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        if (wrote > 0)
            bytes = str_slice(bytes, (size_t)wrote, bytes.len);
    }
    return 0;
}

static void take_signal(struct session *session);

void session_print(struct session *session, struct buf *out)
{
    int error;

    session_quiet(session);
    error = write_out(session, buf_str(out));
    buf_clear(out);
    if (error == EINTR)
        take_signal(session);
    else if (error == EPIPE) /* the reader has had enough */
        session_end(session, CLI_OK);
    else if (error && !session->is_ending)
        session_end(session, cli_fail("standard output: %s", strerror(error)));
}

bool session_has(struct session *session, const char *participant)
{
    struct moot_participant who;
    struct buf name;

    if (moot_find_participant(session->moot, participant, &who))
        return true;
    session_quiet(session);
    buf_init(&name, PATH_BYTES);
    put_foreign(&name, participant);
    (void)cli_fail("%s is not in %s; `moot who` says who is", buf_cstr(&name),
                   session->options->topic);
    buf_done(&name);
    return false;
}

static bool covers(struct str text, struct str kind)
{
    struct pattern *pattern = NULL;
    bool does_match;

    if (pattern_new(text, &pattern, NULL))
        return false;
    does_match = pattern_matches(pattern, kind);
    pattern_free(pattern);
    return does_match;
}

bool session_may_send(const struct moot_participant *who, struct str kind)
{
    const struct json *list, *pattern;
    struct arena arena;
    bool may = false;

    arena_init(&arena, ARENA_BYTES);
    if (json_parse((struct str){ who->capabilities.ptr, who->capabilities.len }, &arena,
                   &list, NULL) == OK)
        JSON_FOREACH(item, list) {
            pattern = item->type == JSON_OBJECT ? json_find(item, S("kind")) : item;
            may = may || (pattern && pattern->type == JSON_STRING &&
                          covers(pattern->text, kind));
        }
    arena_done(&arena);
    return may;
}

/* --- what the process ends with --- */

static int code_of(const struct moot_outcome *outcome)
{
    switch (outcome->type) {
    case MOOT_RESULT:
    case MOOT_SENT: return CLI_OK;
    case MOOT_TOOL_ERROR:
    case MOOT_ERROR: return CLI_TOOL_ERROR;
    case MOOT_DENIED:
    case MOOT_REFUSED: return CLI_REFUSED;
    case MOOT_DECLINED:
        return strcmp(outcome->error, "expired") == 0 ? CLI_TIMEOUT : CLI_REFUSED;
    case MOOT_TIMED_OUT: return CLI_TIMEOUT;
    case MOOT_CANCELLED:
    case MOOT_GONE:
    case MOOT_LOST: return CLI_FAILED;
    }
    return CLI_FAILED;
}

int session_fail(struct session *session, enum moot_err err)
{
    struct buf out;

    session_quiet(session);
    buf_init(&out, TEXT_BYTES);
    put_foreign(&out, moot_why(session->moot));
    if (err == MOOT_FORBIDDEN)
        (void)cli_fail("your capabilities do not allow that; `moot who` shows them");
    else if (err == MOOT_TOO_LARGE)
        (void)cli_fail("this is longer than an envelope may be here");
    else
        (void)cli_fail("%s", out.len ? buf_cstr(&out) : moot_strerror(err));
    buf_done(&out);
    switch (err) {
    case MOOT_INVALID: return CLI_USAGE;
    case MOOT_FORBIDDEN:
    case MOOT_STATE: return CLI_REFUSED;
    case MOOT_OK:
    case MOOT_OFFLINE:
    case MOOT_TOO_LARGE:
    case MOOT_FULL:
    case MOOT_UNKNOWN:
    case MOOT_ENDED: break;
    }
    return CLI_FAILED;
}

static const char *outcome_name(const struct moot_outcome *outcome)
{
    switch (outcome->type) {
    case MOOT_RESULT: return "result";
    case MOOT_TOOL_ERROR: return "tool error";
    case MOOT_ERROR: return "error";
    case MOOT_DENIED: return "denied";
    case MOOT_REFUSED: return "refused";
    case MOOT_DECLINED: return "declined";
    case MOOT_TIMED_OUT: return "timed out";
    case MOOT_CANCELLED: return "cancelled";
    case MOOT_GONE: return "gone";
    case MOOT_LOST: return "lost";
    case MOOT_SENT: return "sent";
    }
    return "";
}

/* A result is printed as it is; all else is told with what it is. */
static void put_json(const struct session *session, const struct moot_outcome *o,
                     struct buf *out)
{
    struct str json = { o->json.ptr, o->json.len };
    struct json_writer w;
    struct buf text;

    if (o->type == MOOT_RESULT || o->type == MOOT_TOOL_ERROR) {
        result_put_json(out, json, session->form);
        return;
    }
    buf_init(&text, TEXT_BYTES);
    json_write_init(&w, &text);
    json_object_open(&w);
    json_put_str(&w, S("outcome"), str_of(outcome_name(o)));
    json_put_str(&w, S("id"), str_of(o->id));
    if (*o->by)
        json_put_str(&w, S("by"), str_of(o->by));
    if (*o->error)
        json_put_str(&w, S("error"), str_of(o->error));
    if (*o->message)
        json_put_str(&w, S("message"), str_of(o->message));
    if (json.len) {
        json_key(&w, S("details"));
        json_raw(&w, json);
    }
    json_object_close(&w);
    result_put_json(out, buf_str(&text), session->form);
    buf_done(&text);
}

/* "worker: there is no such file (not found)" */
static void complain(const struct moot_outcome *o)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES);
    if (*o->by) {
        put_foreign(&out, o->by);
        buf_put(&out, S(": "));
    }
    if (o->type == MOOT_TOOL_ERROR)
        result_put(&out, (struct str){ o->json.ptr, o->json.len }, RESULT_PLAIN);
    else
        put_foreign(&out, *o->message ? o->message : outcome_name(o));
    while (out.len && out.ptr[out.len - 1] == '\n')
        out.len--;
    if (o->type == MOOT_ERROR)
        buf_putf(&out, " (%lld)", (long long)o->code);
    else if (*o->error) {
        buf_put(&out, S(" ("));
        put_foreign(&out, o->error);
        buf_putc(&out, ')');
    }
    (void)cli_fail("%s", buf_cstr(&out));
    buf_clear(&out);
    if (o->type == MOOT_ERROR && o->code == RPC_URL_REQUIRED)
        page_put_required(&out, (struct str){ o->json.ptr, o->json.len },
                          progress_columns(STDERR_FILENO));
    fputs(buf_cstr(&out), stderr);
    buf_done(&out);
}

int session_report(struct session *session, const struct moot_outcome *outcome)
{
    struct buf out;

    if (session->is_ending)
        return code_of(outcome);
    buf_init(&out, TEXT_BYTES);
    if (session->options->json)
        put_json(session, outcome, &out);
    else if (outcome->type == MOOT_RESULT)
        result_put(&out, (struct str){ outcome->json.ptr, outcome->json.len },
                   session->form);
    if (out.is_full)
        (void)cli_fail("the result is too long to be shown whole");
    session_print(session, &out);
    buf_done(&out);
    if (outcome->type != MOOT_RESULT && outcome->type != MOOT_SENT)
        complain(outcome);
    return code_of(outcome);
}

/* --- the course of it --- */

void session_end(struct session *session, int code)
{
    if (session->is_ending)
        return;
    session_quiet(session);
    session->is_ending = true;
    session->code = code;
    session->reads_input = false;
    session->deadline_ms = clock_mono_ms() + GOODBYE_MS;
    moot_leave(session->moot);
}

void session_wake(struct session *session, uint64_t in_ms)
{
    session->wake_ms = in_ms ? clock_mono_ms() + in_ms : 0;
}

static void on_state(struct moot *m [[maybe_unused]], void *user, enum moot_state state,
                     const char *why)
{
    struct session *session = user;
    struct buf out;

    if (session->is_ending || (state != MOOT_WAITING && state != MOOT_OVER))
        return;
    session_quiet(session);
    buf_init(&out, TEXT_BYTES);
    put_foreign(&out, why ? why : "");
    if (!session->is_welcome || state == MOOT_OVER)
        session_end(session, cli_fail("%s", buf_cstr(&out)));
    else
        (void)cli_fail("the connection is lost (%s); trying again", buf_cstr(&out));
    buf_done(&out);
}

static void on_welcome(struct moot *m [[maybe_unused]], void *user,
                       bool resumed [[maybe_unused]])
{
    struct session *session = user;

    session->is_welcome = true;
}

/* Not before the step is over: what else the welcome tells of is known only then. */
static void begin(struct session *session)
{
    if (!session->is_welcome || session->has_begun || session->is_ending)
        return;
    session->has_begun = true;
    session->plan->on_begin(session);
}

static void take_signal(struct session *session)
{
    struct signalfd_siginfo got;

    if (read(session->signals, &got, sizeof(got)) != (ssize_t)sizeof(got))
        return;
    if (session->signal || session->is_ending || !session->plan->on_signal) {
        session->deadline_ms = clock_mono_ms(); /* at once, if that was the second */
        session_end(session, CLI_FAILED);
    } else {
        session->plan->on_signal(session);
    }
    session->signal = (int)got.ssi_signo;
}

static int time_left(const struct session *session)
{
    uint64_t now = clock_mono_ms();
    uint64_t until = session->deadline_ms;
    int wait = moot_timeout(session->moot);

    if (session->wake_ms && (!until || session->wake_ms < until))
        until = session->wake_ms;
    if (!until)
        return wait;
    if (until <= now)
        return 0;
    return wait < 0 || (uint64_t)wait > until - now ? (int)(until - now) : wait;
}

static bool is_due(uint64_t at_ms)
{
    return at_ms && clock_mono_ms() >= at_ms;
}

/* One turn; false: it is over. */
static bool turn(struct session *session)
{
    struct pollfd fds[] = {
        { .fd = moot_fd(session->moot), .events = moot_events(session->moot) },
        { .fd = session->signals, .events = POLLIN },
        { .fd = session->plan->follows ? STDOUT_FILENO : -1 },
        { .fd = session->reads_input ? STDIN_FILENO : -1, .events = POLLIN },
    };

    if (poll(fds, COUNT(fds), time_left(session)) < 0 && errno != EINTR)
        return false;
    if (fds[1].revents)
        take_signal(session);
    if (fds[2].revents) /* a pipe without a reader */
        session_end(session, CLI_OK);
    if (fds[3].revents && session->reads_input)
        session->plan->on_input(session);
    if (is_due(session->wake_ms) && !session->is_ending) {
        session->wake_ms = 0;
        session->plan->on_wake(session);
    }
    if (moot_step(session->moot) == MOOT_ENDED)
        return false;
    begin(session);
    return !is_due(session->deadline_ms);
}

int session_catch_signals(sigset_t *ret_old)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, ret_old);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void course(struct session *session)
{
    CLEANUP(fd_closep) int signals = -1;
    sigset_t old;

    signals = session_catch_signals(&old);
    session->signals = signals;
    while (turn(session))
        continue;
    if (!session->is_ending)
        session->code = session_fail(session, MOOT_ENDED);
    if (session->signal &&
        !session->plan->is_service) { /* dies of it, so that a shell knows */
        (void)signal(session->signal, SIG_DFL);
        (void)sigprocmask(SIG_SETMASK, &old, NULL);
        (void)raise(session->signal);
    }
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
}

static int enter(struct session *session, const char *url, const char *token)
{
    struct moot_options options = {
        .url = url,
        .token = token,
        .topic = session->options->topic,
        .ca_file = session->options->ca,
        .name = "moot",
        .version = MOOT_VERSION,
        .after = session->plan->after,
        .hears_itself = session->plan->hears_itself,
        .handlers = session->plan->handlers,
        .user = session,
    };
    enum moot_err err;

    options.handlers.on_state = on_state;
    options.handlers.on_welcome = on_welcome;
    err = moot_new(&options, &session->moot);
    if (err)
        return session_fail(session, err);
    course(session);
    return session->code;
}

int session_run_at(const struct session_options *options,
                   const struct session_target *target, const struct session_plan *plan)
{
    bool is_terminal = isatty(STDOUT_FILENO);
    struct session session = { .options = options,
                               .plan = plan,
                               .ink = palette_for(stdout),
                               .ask_ink = palette_for(stderr),
                               .form = is_terminal ? RESULT_PLAIN : RESULT_RAW,
                               .talks = isatty(STDERR_FILENO),
                               .user = plan->user };
    CLEANUP(xfreep) char *url = str_dup(buf_str(&target->url));
    char *token = str_dup(buf_str(&target->token));
    int code = enter(&session, url, token);

    crypto_wipe(token, strlen(token));
    free(token);
    moot_free(session.moot);
    return code;
}

int session_run(const struct session_options *options, const struct session_plan *plan)
{
    struct session_target target;
    int code = session_find(options, &target);

    if (code == CLI_OK)
        code = session_run_at(options, &target, plan);
    session_target_done(&target);
    return code;
}
