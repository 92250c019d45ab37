/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life and loop: the library, the terminal, signals and children are waited for in one
 * poll(); what came is handled, then the screen is drawn once, and not too often.
 */
#include "tui/tui.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "tui/tui_priv.h"

enum {
    FRAME_MS = 20,   /* between two drawings */
    TICK_MS = 1000,  /* of what counts down */
    LEAVE_MS = 2000, /* to say goodbye */
    KEYS_AT_ONCE = 4096,
};

/* What the loop knows and nobody else needs. */
struct loop {
    int signals;
    uint64_t drawn_ms; /* monotonic */
    uint64_t tick_ms;
    bool is_hung_up;
};

void tui_notice(struct tui *tui, enum style style, const char *format, ...)
{
    char text[NOTICE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_clear(&tui->notice.text);
    buf_put(&tui->notice.text, str_of(text));
    tui->notice.style = style;
    tui->needs_drawing = true;
}

/* --- the editor --- */

void tui_edit(struct tui *tui, struct str text)
{
    const char *why = "";

    screen_suspend();
    if (edit_begin(&tui->edit, text, &why) == OK)
        return;
    screen_resume();
    tui_notice(tui, STYLE_BAD, "%s", why);
    tui_drop_verdict(tui);
}

static void end_edit(struct tui *tui, int status)
{
    const char *why = "";
    struct buf text;

    buf_init(&text, EDIT_BYTES);
    screen_resume();
    if (edit_end(&tui->edit, status, &text, &why) == OK) {
        tui_edited(tui, buf_str(&text));
    } else {
        tui_notice(tui, STYLE_BAD, "%s", why);
        tui_drop_verdict(tui);
    }
    buf_done(&text);
    tui->needs_drawing = true;
}

/* --- signals --- */

static void reap(struct tui *tui)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == tui->edit.pid)
            end_edit(tui, status);
        else
            (void)hook_reap(&tui->hook, pid, clock_mono_ms());
    }
}

static void take_signals(struct tui *tui, struct loop *loop)
{
    struct signalfd_siginfo got;

    while (read(loop->signals, &got, sizeof(got)) == (ssize_t)sizeof(got)) {
        switch (got.ssi_signo) {
        case SIGCHLD: reap(tui); break;
        case SIGWINCH: tui->needs_drawing = true; break;
        case SIGINT: break; /* of the terminal, while the editor has it */
        default: tui->is_leaving = true; loop->is_hung_up = true;
        }
    }
}

static int catch_signals(void)
{
    static const int numbers[] = { SIGCHLD, SIGWINCH, SIGINT, SIGTERM, SIGHUP };
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < COUNT(numbers); i++)
        (void)sigaddset(&set, numbers[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ctrl-Z. A group that nobody would wake (no shell above it) is not stopped at all:
 * that is what SIGTSTP has over SIGSTOP. */
static void stop(struct tui *tui)
{
    tui->wants_stop = false;
    screen_suspend();
    (void)signal(SIGTSTP, SIG_DFL);
    (void)kill(0, SIGTSTP);
    screen_resume();
    tui->needs_drawing = true;
}

/* --- drawing --- */

/* What counts down is drawn anew each second. */
static bool counts_down(const struct tui *tui)
{
    return tui->status.state == MOOT_WAITING ||
           (tui->view == VIEW_INBOX && tui->inbox.open_count > 0);
}

static void draw(struct tui *tui, struct loop *loop, uint64_t now)
{
    unsigned rows, columns;

    screen_measure(&rows, &columns);
    canvas_reset(&tui->canvas, rows, columns);
    tui->status.retry_ms = moot_retry_ms(tui->moot);
    tui_refresh_people(tui);
    if (tui->view == VIEW_PEOPLE)
        tui_describe_person(tui);
    if (tui->view == VIEW_INBOX)
        tui_consider(tui);
    tui_draw(tui, clock_wall_ms());
    screen_show(&tui->canvas);
    tui->needs_drawing = false;
    loop->drawn_ms = now;
    loop->tick_ms = now + TICK_MS;
}

static void draw_if_due(struct tui *tui, struct loop *loop)
{
    uint64_t now = clock_mono_ms();

    if (tui->edit.pid || tui->is_leaving)
        return;
    if (counts_down(tui) && now >= loop->tick_ms)
        tui->needs_drawing = true;
    if (tui->needs_drawing && now >= loop->drawn_ms + FRAME_MS)
        draw(tui, loop, now);
}

/* --- the loop --- */

static int until(uint64_t due, int at_most)
{
    uint64_t now = clock_mono_ms();
    uint64_t left = due > now ? due - now : 0;

    if (due == UINT64_MAX || (at_most >= 0 && left > (uint64_t)at_most))
        return at_most;
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

static int time_left(struct tui *tui, const struct loop *loop)
{
    int left = moot_timeout(tui->moot);

    left = moot_state(tui->moot) == MOOT_OVER ? -1 : left;
    left = until(hook_tick(&tui->hook, clock_mono_ms()), left);
    if (tui->edit.pid)
        return left;
    if (tui->needs_drawing)
        left = until(loop->drawn_ms + FRAME_MS, left);
    if (counts_down(tui))
        left = until(loop->tick_ms, left);
    return left;
}

static void read_keys(struct tui *tui)
{
    struct key key;

    for (size_t i = 0; i < KEYS_AT_ONCE && !tui->edit.pid && !tui->is_leaving; i++) {
        if (!screen_read(&key))
            return;
        tui_press(tui, key);
        if (tui->wants_stop)
            stop(tui);
    }
}

static void turn(struct tui *tui, struct loop *loop)
{
    struct pollfd fds[] = {
        { .fd = loop->signals, .events = POLLIN },
        { .fd = tui->edit.pid ? -1 : STDIN_FILENO, .events = POLLIN },
        { .fd = moot_fd(tui->moot), .events = moot_events(tui->moot) },
    };

    if (poll(fds, COUNT(fds), time_left(tui, loop)) < 0 && errno != EINTR) {
        tui->is_leaving = true;
        return;
    }
    if (fds[0].revents)
        take_signals(tui, loop);
    if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        tui->is_leaving = true; /* the terminal is gone */
        loop->is_hung_up = true;
    }
    if (fds[1].revents & POLLIN)
        read_keys(tui);
    if (moot_state(tui->moot) != MOOT_OVER)
        (void)moot_step(tui->moot); /* its end is a state */
}

/* Everything that was said is sent before we go. */
static void say_goodbye(struct tui *tui)
{
    uint64_t deadline = clock_mono_ms() + LEAVE_MS;

    moot_leave(tui->moot);
    while (moot_state(tui->moot) != MOOT_OVER && clock_mono_ms() < deadline) {
        struct pollfd fd = { .fd = moot_fd(tui->moot), .events = moot_events(tui->moot) };

        if (poll(&fd, 1, until(deadline, moot_timeout(tui->moot))) < 0 && errno != EINTR)
            return;
        (void)moot_step(tui->moot); /* its end is a state */
    }
}

/* --- life --- */

static void init(struct tui *tui, const struct tui_options *options)
{
    *tui = (struct tui){ .topic = options->connection.topic,
                         .needs_drawing = true,
                         .status.retry_ms = -1,
                         .hook.command = options->on_proposal };
    timeline_init(&tui->timeline, TIMELINE_ENTRIES, TIMELINE_BYTES);
    inbox_init(&tui->inbox);
    line_init(&tui->line);
    line_init(&tui->decision.line);
    buf_init(&tui->decision.edited, EDIT_BYTES);
    buf_init(&tui->status.why, 4096);
    buf_init(&tui->notice.text, NOTICE_BYTES);
    buf_init(&tui->text.title, 256);
    buf_init(&tui->text.body, TEXT_BYTES);
    buf_init(&tui->person, TEXT_BYTES);
    canvas_init(&tui->canvas);
}

static void done(struct tui *tui)
{
    moot_free(tui->moot);
    hook_done(&tui->hook);
    canvas_done(&tui->canvas);
    buf_done(&tui->person);
    buf_done(&tui->text.body);
    buf_done(&tui->text.title);
    buf_done(&tui->notice.text);
    buf_done(&tui->status.why);
    buf_done(&tui->decision.edited);
    verdict_done(&tui->decision.verdict);
    free(tui->decision.tried);
    line_done(&tui->decision.line);
    line_done(&tui->line);
    history_done(&tui->history);
    free(tui->tools_line);
    tools_done(&tui->tools);
    people_done(&tui->people);
    inbox_done(&tui->inbox);
    timeline_done(&tui->timeline);
}

static enum err join(struct tui *tui, const struct tui_options *options,
                     struct buf *ret_why)
{
    struct moot_options connection = options->connection;

    connection.hears_itself = true;
    connection.is_directed = false;
    connection.resolves_in_thread = true;
    connection.handlers = tui_handlers;
    connection.user = tui;
    if (moot_new(&connection, &tui->moot) == MOOT_OK) {
        moot_serve_others(tui->moot, tui_on_call, tui);
        return OK;
    }
    plain_put(ret_why, str_of(moot_why(tui->moot)), PLAIN_LINE);
    return ERR_INVALID;
}

/* It stays open when the connection has ended, so that what was said can be read; but
 * not when there was nothing to read. */
static enum err live(struct tui *tui, struct buf *ret_why)
{
    CLEANUP(fd_closep) int signals = catch_signals();
    struct loop loop = { .signals = signals };
    const char *why = "";

    if (screen_open(&why)) {
        buf_put(ret_why, str_of(why));
        return ERR_INVALID;
    }
    while (!tui->is_leaving) {
        draw_if_due(tui, &loop);
        turn(tui, &loop);
        if (moot_state(tui->moot) == MOOT_OVER && !tui->status.has_joined)
            break;
    }
    edit_abandon(&tui->edit);
    screen_close();
    if (!tui->is_leaving) {
        plain_put(ret_why, str_of(moot_why(tui->moot)), PLAIN_LINE);
        return ERR_CLOSED;
    }
    say_goodbye(tui);
    return OK;
}

enum err tui_run(const struct tui_options *options, struct buf *ret_why)
{
    struct tui *tui = xmalloc(sizeof(*tui));
    enum err err;

    (void)setlocale(LC_CTYPE, "");
    init(tui, options);
    err = join(tui, options, ret_why);
    if (!err)
        err = live(tui, ret_why);
    done(tui);
    free(tui);
    return err;
}
