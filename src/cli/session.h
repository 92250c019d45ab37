/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that takes part in a topic: where to, as whom, until when, and what the
 * process ends with. A command gives a plan, what it does once it is welcome, and calls
 * session_end() when it is done; everything else happens here.
 *
 * Results go to standard output, everything else to standard error. A reader that has had
 * enough (`| head`) ends the command quietly; a signal ends it in order. The first
 * attempt to connect must succeed, later ones are made as long as it takes.
 */
#pragma once

#include <moot.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/palette.h"
#include "cli/result.h"

struct session_options {
    const char *topic;
    const char *server;     /* NULL: $MOOT_SERVER, else the local socket of `data` */
    const char *token_file; /* NULL: $MOOT_TOKEN, else human.token of the local server */
    const char *data;
    const char *ca;
    bool json;
};

/* Rows of an option table, for a struct with a `struct session_options session`: where to
 * and as whom, and the same with --json. */
/* clang-format off */
#define CLI_SESSION(type)                                                                                       \
    { "--json",       NULL,    "answer as JSON, one value a line",                CLI_AT(type, session.json) },       \
    CLI_PLACE(type)
#define CLI_PLACE(type)                                                                                         \
    { "--topic",      "TOPIC", "instead of the argument TOPIC; or $MOOT_TOPIC",   CLI_AT(type, session.topic) },      \
    { "--server",     "URL",   "wss://HOST:PORT, https:// …; or $MOOT_SERVER",    CLI_AT(type, session.server) },     \
    { "--token-file", "FILE",  "your token; or $MOOT_TOKEN",                      CLI_AT(type, session.token_file) }, \
    { "--ca",         "FILE",  "wss: trust these certificates, not the system's", CLI_AT(type, session.ca) },         \
    { "--data",       "DIR",   "data directory of the local server",              CLI_AT(type, session.data) }
/* clang-format on */

/* Where the server is, and our token for it. */
struct session_target {
    struct buf url, token;
};

/* Of the options, the environment and the local server; afterwards $MOOT_TOKEN is gone.
 * What is wrong has been reported on stderr. To be freed in any case. */
int session_find(const struct session_options *options, struct session_target *ret);
void session_target_done(struct session_target *target);

struct session;

struct session_plan {
    void (*on_begin)(struct session *session); /* once, behind the first welcome */
    /* The first signal to end; NULL: it ends. A second one ends it in any case. */
    void (*on_signal)(struct session *session);
    void (*on_input)(struct session *session); /* standard input can be read */
    void (*on_wake)(struct session *session);  /* session_wake() is due */
    struct moot_handlers handlers;             /* on_state, on_welcome are ours */
    const char *after;
    bool hears_itself;
    bool follows;    /* goes on until nobody reads any more */
    bool is_service; /* a signal is how it ends: its exit code stays its own */
    void *user;
};

struct session {
    struct moot *moot;
    const struct session_options *options;
    const struct session_plan *plan;
    const struct palette *ink;     /* of standard output */
    const struct palette *ask_ink; /* of standard error, where questions are asked */
    enum result_form form;         /* the same */
    bool talks;                    /* standard error is a terminal: progress is shown */
    void *user;                    /* the plan's */
    int code;
    int signals; /* a descriptor that tells of them */
    int signal;  /* that ended it, or 0 */
    bool is_welcome, has_begun, is_ending, reads_input;
    bool has_status;               /* a line of session_status() stands on the terminal */
    uint64_t wake_ms, deadline_ms; /* monotonic; 0: none */
};

/* Runs until the end; returns the exit code. Handlers get the session as `user`. */
int session_run(const struct session_options *options, const struct session_plan *plan);

/* The same, by a target that was found before and is the caller's. */
int session_run_at(const struct session_options *options,
                   const struct session_target *target, const struct session_plan *plan);

/* Leaves when everything has been sent, with this exit code; the first counts. */
void session_end(struct session *session, int code);

/* The exit code of a function of the library that failed; says why on stderr. */
int session_fail(struct session *session, enum moot_err err);

/* Prints an outcome where it belongs, as text or as JSON; returns its exit code. Behind
 * session_end() it is nobody's news and not printed. */
int session_report(struct session *session, const struct moot_outcome *outcome);

/* Is this participant here? Says on stderr if not. */
bool session_has(struct session *session, const char *participant);

/* May this one send the kind, as far as its capabilities are shown? Those that ask for a
 * payload, which nobody knows yet, may allow it. */
bool session_may_send(const struct moot_participant *who, struct str kind);

/* What is for standard output: at once, and empties it. While nobody reads, it waits for
 * that or for a signal. */
void session_print(struct session *session, struct buf *out);

/* "moot: …" for the eyes of a person at a terminal, who waits. */
void session_tell(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same on one line that the next one is written over, and everything else as well;
 * cut where the terminal ends. */
void session_status(struct session *session, struct str line);

/* Takes that line away, for whoever writes to standard error himself. */
void session_quiet(struct session *session);

/* Calls on_wake in so many milliseconds; 0: not at all. */
void session_wake(struct session *session, uint64_t in_ms);

/* SIGINT, SIGTERM and SIGHUP come out of the descriptor from now on, which is the
 * caller's (-1: there is none left); SIGPIPE is ignored. `ret_old` may be NULL. */
int session_catch_signals(sigset_t *ret_old);
