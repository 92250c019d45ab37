/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's part is the same for everybody: programs and libraries below /usr, and the
 * few files of /etc that they cannot do without. Nothing of /home, /var, /run, /sys.
 */
#include "sandbox/places.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* Each is taken where it is there: as a link where it is one (merged /usr). */
/* clang-format off */
static const struct str system_places[] = {
    S("/usr"), S("/bin"), S("/sbin"), S("/lib"), S("/lib32"), S("/lib64"), S("/libx32"),
    S("/etc/alternatives"), S("/etc/ld.so.cache"), S("/etc/ld.so.conf"),
    S("/etc/ld.so.conf.d"), S("/etc/localtime"), S("/etc/mime.types"),
    S("/etc/pki/ca-trust/extracted"), S("/etc/pki/tls/certs"), S("/etc/protocols"),
    S("/etc/services"), S("/etc/ssl/certs"), S("/etc/ssl/openssl.cnf"),
};

/* Doors to the kernel, which the sandbox makes itself or keeps shut. */
static const struct str closed_places[] = { S("/proc"), S("/sys"), S("/dev") };
/* clang-format on */

bool path_is_below(struct str path, struct str folder)
{
    if (str_eq(folder, S("/")) || str_eq(path, folder))
        return true;
    return str_starts(path, folder) && path.ptr[folder.len] == '/';
}

struct str path_resolve(struct sandbox_plan *plan, struct str path)
{
    CLEANUP(xfreep) char *text = str_dup(path);
    CLEANUP(xfreep) char *real = realpath(text, NULL);

    return real ? plan_text(plan, str_of(real)) : S("");
}

static void add_place(struct sandbox_plan *plan, struct place place)
{
    plan->places[plan->place_count++] = place;
}

static void add_system_place(struct sandbox_plan *plan, struct str path)
{
    char target[PATH_MAX];
    struct stat st;
    ssize_t len;

    if (lstat(path.ptr, &st) < 0)
        return;
    if (!S_ISLNK(st.st_mode)) {
        add_place(plan, (struct place){ PLACE_READ, path, path });
        return;
    }
    len = readlink(path.ptr, target, sizeof(target));
    if (len <= 0 || (size_t)len == sizeof(target))
        return;
    add_place(plan, (struct place){ PLACE_LINK,
                                    plan_text(plan, (struct str){ target, (size_t)len }),
                                    path });
}

/* What it is called inside: as it was given, where that is a plain path. */
static struct str name_inside(struct sandbox_plan *plan, struct str given,
                              struct str real)
{
    struct str rest = given;

    while (rest.ptr) {
        struct str part = str_cut(&rest, '/');

        if (str_eq(part, S("..")) || str_eq(part, S(".")))
            return real;
    }
    while (given.len > 1 && str_ends(given, S("/")))
        given.len--;
    return plan_text(plan, given);
}

/* A path below one that the server writes leads where the server wants. */
static enum err check_leads_nowhere(struct planning *planning, struct str given,
                                    struct str real)
{
    const struct permit *permit = planning->permit;

    for (size_t i = 0; i < permit->write_count; i++) {
        struct str folder = path_resolve(planning->plan, permit->write[i]);

        if (path_is_below(given, permit->write[i]) && !path_is_below(real, folder))
            return planning_fail(planning, ERR_FORBIDDEN,
                                 STR_FMT
                                 " is a link that the server can have made: it leads "
                                 "to " STR_FMT,
                                 STR_ARG(given), STR_ARG(real));
    }
    return OK;
}

static enum err add_permitted(struct planning *planning, enum place_type type,
                              struct str given)
{
    struct sandbox_plan *plan = planning->plan;
    struct str real = path_resolve(plan, given);

    if (!real.len)
        return planning_fail(planning, ERR_NOT_FOUND, STR_FMT ": %s", STR_ARG(given),
                             strerror(errno));
    if (str_eq(real, S("/")))
        return planning_fail(planning, ERR_INVALID,
                             STR_FMT " is the whole machine: name the folders",
                             STR_ARG(given));
    for (size_t i = 0; i < COUNT(closed_places); i++)
        if (path_is_below(real, closed_places[i]))
            return planning_fail(planning, ERR_INVALID,
                                 STR_FMT " cannot be permitted: nothing below " STR_FMT
                                         " can",
                                 STR_ARG(given), STR_ARG(closed_places[i]));
    add_place(plan, (struct place){ type, real, name_inside(plan, given, real) });
    return check_leads_nowhere(planning, given, real);
}

/* Parents before what is below them; what is to be written behind the same to be read. */
static int compare_places(const void *a, const void *b)
{
    const struct place *left = a;
    const struct place *right = b;
    int order = str_cmp(left->to, right->to);

    return order ? order : (int)left->type - (int)right->type;
}

/* A path that is permitted twice, say by a profile as well, is one place. */
static void drop_repeated(struct sandbox_plan *plan, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < plan->place_count; i++)
        if (kept == first || compare_places(&plan->places[kept - 1], &plan->places[i]))
            plan->places[kept++] = plan->places[i];
    plan->place_count = kept;
}

static enum err add_all_permitted(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    const struct permit *permit = planning->permit;
    size_t first = plan->place_count;
    enum err err = OK;

    for (size_t i = 0; i < permit->read_count && !err; i++)
        err = add_permitted(planning, PLACE_READ, permit->read[i]);
    for (size_t i = 0; i < permit->write_count && !err; i++)
        err = add_permitted(planning, PLACE_WRITE, permit->write[i]);
    if (plan->home.len)
        add_place(plan, (struct place){ PLACE_WRITE, plan->home, plan->home });
    qsort(plan->places + first, plan->place_count - first, sizeof(*plan->places),
          compare_places);
    drop_repeated(plan, first);
    return err;
}

static bool is_visible(const struct sandbox_plan *plan, struct str path)
{
    for (size_t i = 0; i < plan->place_count; i++)
        if (path_is_below(path, plan->places[i].to))
            return true;
    return false;
}

/* The program is seen wherever it is; its name is kept where it can be, since some look
 * at how they were called (busybox, a virtual environment of Python). */
static enum err add_program(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;
    struct str real = path_resolve(plan, plan->words[0]);

    if (!real.len)
        return planning_fail(planning, ERR_NOT_FOUND, STR_FMT ": %s",
                             STR_ARG(plan->words[0]), strerror(errno));
    if (is_visible(plan, plan->words[0]) && is_visible(plan, real))
        return OK;
    plan->words[0] = real;
    if (!is_visible(plan, real))
        add_place(plan, (struct place){ PLACE_READ, real, real });
    return OK;
}

/* Where it starts must be there for it. */
static enum err check_folder(struct planning *planning)
{
    struct sandbox_plan *plan = planning->plan;

    if (!planning->command->folder.len || is_visible(plan, plan->folder))
        return OK;
    return planning_fail(planning, ERR_INVALID,
                         "the folder " STR_FMT " is not among what it may read",
                         STR_ARG(plan->folder));
}

enum err plan_places(struct planning *planning, const struct place *texts, size_t count)
{
    struct sandbox_plan *plan = planning->plan;
    const struct permit *permit = planning->permit;
    enum { HOME_AND_PROGRAM = 2 };
    enum err err;

    plan->places = plan_alloc(plan,
                              COUNT(system_places) + count + permit->read_count +
                                  permit->write_count + HOME_AND_PROGRAM,
                              sizeof(*plan->places));
    for (size_t i = 0; i < COUNT(system_places); i++)
        add_system_place(plan, system_places[i]);
    for (size_t i = 0; i < count; i++)
        add_place(plan, texts[i]);
    err = add_all_permitted(planning);
    if (!err)
        err = check_folder(planning);
    return err ? err : add_program(planning);
}
