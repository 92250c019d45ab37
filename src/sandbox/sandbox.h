/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a child is confined. A *permit* says what it may touch; a *plan* is what follows
 * from it on this machine: the exact command, mounts, environment, limits and filter. It
 * is made and explained in the program that wants the child, and carried out in a fresh
 * process that has one thread (sandbox_enter). What a plan says is what happens: a level
 * that cannot be had here is an error when the plan is made, never a lower level.
 *
 *     strict   bubblewrap (mounts, pid, ipc, net, user) + filter + limits + cgroup
 *     basic    Landlock + filter + limits + cgroup, no new privileges; network: none
 *     off      limits and the process group only
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum sandbox_level { SANDBOX_STRICT, SANDBOX_BASIC, SANDBOX_OFF };
enum sandbox_network { NETWORK_NONE, NETWORK_LOOPBACK, NETWORK_HOSTS, NETWORK_ANY };
/* NETWORK_ANY: `off` alone. */

struct sandbox_variable {
    struct str name, value;
    bool is_secret; /* explained as ***, never logged */
};

struct permit {
    enum sandbox_level level;
    enum sandbox_network network;
    const struct str *read, *write; /* absolute paths; what is there today */
    size_t read_count, write_count;
    const struct str *hosts; /* NETWORK_HOSTS: HOST or HOST:PORT, "*.example.org" */
    size_t host_count;
    const struct sandbox_variable *variables; /* the whole environment, besides PATH,
                                               * HOME, LANG, TMPDIR and the proxy's */
    size_t variable_count;
    struct str home;   /* its own folder, to write, made when it starts; "": strict gives
                        * it an empty one in memory, basic none, off that of ours */
    size_t memory;     /* bytes; 0: the default, as the next ones: 512 MiB */
    size_t processes;  /* 64, threads included */
    size_t files;      /* 256 open at a time */
    size_t file_bytes; /* the largest written: 1 GiB */
    unsigned cpu_percent; /* of one core, where there is a cgroup: 100 */
    uid_t uid;            /* started by root: whom it becomes; 0: 64000, off: root */
    gid_t gid;            /* 0: the same number */
};

struct sandbox_command {
    const struct str *words;
    size_t count;
    struct str folder; /* where it starts; "": its home */
};

struct sandbox_plan; /* immutable, freed with sandbox_plan_free() */

/* ERR_NOT_FOUND (the command, bubblewrap, a path), ERR_FORBIDDEN (a level or limit that
 * this machine does not give), ERR_INVALID; *ret_why, owned by the caller, says all. */
enum err sandbox_plan_make(const struct permit *permit,
                           const struct sandbox_command *command,
                           struct sandbox_plan **ret, char **ret_why);
void sandbox_plan_free(struct sandbox_plan *plan);

/* What is started and what it may touch, for people; secrets by name alone. And the same
 * as one JSON object. */
void sandbox_explain(const struct sandbox_plan *plan, struct buf *out);
void sandbox_explain_json(const struct sandbox_plan *plan, struct buf *out);

/* What is dangerous about a command, each a sentence: sudo, rm -rf, a shell with -c, curl
 * into a shell, the whole home or / to write, docker's socket, …. In the arena. */
size_t sandbox_warnings(const struct sandbox_command *command,
                        const struct permit *permit, struct arena *arena,
                        const struct str **ret);

/* Between programs of the same build. */
void sandbox_plan_write(const struct sandbox_plan *plan, struct buf *out);
enum err sandbox_plan_read(struct str bytes, struct sandbox_plan **ret);

/* In a process that was forked for it and has one thread; 0, 1 and 2 are set up, all
 * other descriptors are closed here. Signals are as a new program expects them, and it
 * ends with its parent. Does not return on success. On failure *ret_why (static) and
 * errno say what could not be done. `send_fd` is called with a listening socket inside
 * the child's own network, for the proxy (NETWORK_HOSTS), before the command starts. */
enum err sandbox_enter(const struct sandbox_plan *plan,
                       void (*send_fd)(int fd, void *user), void *user,
                       const char **ret_why);

/* The cgroup that the plan has, made by whoever forks, before; "": none. The forked
 * process joins it before it enters. Ending kills all that is in it. */
enum err sandbox_group_make(const struct sandbox_plan *plan, struct buf *ret_path);
enum err sandbox_group_join(const char *path);
void sandbox_group_end(const char *path);

/* Where memory is not limited by a cgroup: bytes that the process and all below it hold
 * now, and how many they are. */
void sandbox_usage(pid_t pid, size_t *ret_bytes, size_t *ret_processes);
size_t sandbox_plan_memory(const struct sandbox_plan *plan);
bool sandbox_plan_is_watched(const struct sandbox_plan *plan); /* no cgroup: watch it */

/* What this machine gives, found out once: bubblewrap, user namespaces, Landlock's
 * version, cgroups. As lines for people. */
void sandbox_machine(struct buf *out);
