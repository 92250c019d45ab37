/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration as a whole: from a file or a text to the struct, and what went wrong.
 */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/config_priv.h"

/* A megabyte of the shortest possible entries needs no more than this. */
enum { MEMORY_MAX = 256 << 20, READ_SIZE = 16 << 10 };

CLEANUP_FOR(struct config, config_free)

static enum err fail_va(struct str file, struct config_mark mark,
                        struct config_problem *problem, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

static enum err fail_va(struct str file, struct config_mark mark,
                        struct config_problem *problem, const char *format, va_list args)
{
    if (!problem)
        return ERR_INVALID;
    (void)snprintf(problem->file, sizeof(problem->file), STR_FMT, STR_ARG(file));
    (void)vsnprintf(problem->message, sizeof(problem->message), format, args);
    problem->mark = mark;
    return ERR_INVALID;
}

enum err config_fail(const struct config *config, struct config_mark mark,
                     struct config_problem *problem, const char *format, ...)
{
    enum err err;
    va_list args;

    va_start(args, format);
    err = fail_va(config->file, mark, problem, format, args);
    va_end(args);
    return err;
}

void config_problem_put(const struct config_problem *problem, struct buf *out)
{
    buf_put(out, str_of(problem->file));
    if (problem->mark.line)
        buf_putf(out, ":%u:%u", problem->mark.line, problem->mark.column);
    buf_putf(out, ": %s", problem->message);
}

static struct config *config_new(const char *name)
{
    struct config *config = xcalloc(1, sizeof(*config));

    arena_init(&config->arena, MEMORY_MAX);
    config->file = arena_str(&config->arena, str_of(name));
    return config;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    arena_done(&config->arena);
    free(config);
}

static enum err keep_warnings(struct reader *reader)
{
    size_t count = reader->warning_count;
    struct arena *arena = &reader->config->arena;
    struct config_mark *marks = arena_alloc(arena, sizeof(reader->warning_marks));
    struct str *items = arena_alloc(arena, sizeof(reader->warnings));

    if (!marks || !items)
        return ERR_TOO_BIG;
    memcpy(marks, reader->warning_marks, sizeof(reader->warning_marks));
    memcpy(items, reader->warnings, sizeof(reader->warnings));
    reader->config->warnings = (struct config_strs){ items, count, marks };
    return OK;
}

/* What a text comes from, and what lies over it. */
struct origin {
    const char *name;
    const char *base_dir;
    const struct config_overlay *overlay; /* NULL: nothing */
};

static enum err parse_over(struct str text, const struct origin *from,
                           struct config **ret, struct config_problem *problem)
{
    CLEANUP(config_freep) struct config *config = config_new(from->name);
    struct reader reader = { .config = config,
                             .base_dir = from->base_dir,
                             .problem = problem };
    const struct node *root;
    enum err err;

    if (text.len > CONFIG_FILE_MAX) {
        (void)config_fail(config, (struct config_mark){}, problem,
                          "the file is larger than 1 MiB");
        return ERR_TOO_BIG;
    }
    arena_init(&reader.nodes, MEMORY_MAX);
    err = tree_parse(&reader, text, &root);
    if (!err && from->overlay)
        err = overlay_put(&reader, &root, from->overlay);
    if (!err)
        err = read_config(&reader, root);
    if (!err)
        err = keep_warnings(&reader);
    arena_done(&reader.nodes);
    if (err)
        return err;
    *ret = TAKE(config);
    return OK;
}

enum err config_parse(struct str text, const char *name, const char *base_dir,
                      struct config **ret, struct config_problem *problem)
{
    return parse_over(text, &(struct origin){ .name = name, .base_dir = base_dir }, ret,
                      problem);
}

struct config *config_default(void)
{
    struct config *config = NULL;

    if (config_parse(S(""), "defaults", NULL, &config, NULL))
        abort(); /* the option table contradicts itself */
    return config;
}

/* The absolute folder of a file, on the heap, or NULL. */
static char *folder_of(const char *path)
{
    char *copy = xstrdup(path);
    char *folder = realpath(dirname(copy), NULL);

    free(copy);
    return folder;
}

static enum err read_file(const char *path, struct buf *text)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;

    if (fd < 0)
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    while (got && text->len <= CONFIG_FILE_MAX) {
        if (buf_reserve(text, READ_SIZE))
            return ERR_TOO_BIG;
        got = read(fd, text->ptr + text->len, READ_SIZE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ERR_IO;
        text->len += (size_t)got;
    }
    return OK;
}

static enum err load_file(const char *path, const struct config_overlay *overlay,
                          struct config **ret, struct config_problem *problem)
{
    const struct config unread = { .file = str_of(path) };
    char *folder = folder_of(path);
    struct buf text;
    enum err err;

    buf_init(&text, CONFIG_FILE_MAX + 2 * READ_SIZE);
    err = read_file(path, &text);
    if (err)
        (void)config_fail(&unread, (struct config_mark){}, problem, "%s",
                          strerrordesc_np(errno));
    else
        err = parse_over(
            buf_str(&text),
            &(struct origin){ .name = path, .base_dir = folder, .overlay = overlay }, ret,
            problem);
    if (text.ptr)
        explicit_bzero(text.ptr, text.size); /* tokens may stand in it */
    buf_done(&text);
    free(folder);
    return err;
}

enum err config_load(const char *path, struct config **ret,
                     struct config_problem *problem)
{
    return load_file(path, NULL, ret, problem);
}

enum err config_load_over(const char *path, const struct config_overlay *overlay,
                          struct config **ret, struct config_problem *problem)
{
    const struct origin nowhere = { .name = "defaults", .overlay = overlay };

    return path ? load_file(path, overlay, ret, problem)
                : parse_over(S(""), &nowhere, ret, problem);
}

static int compare_name(const void *name, const void *topic)
{
    return str_cmp(*(const struct str *)name, ((const struct config_topic *)topic)->name);
}

const struct config_topic *config_topic_find(const struct config *config, struct str name)
{
    const struct config_topic *found =
        config->topics.named.count
            ? bsearch(&name, config->topics.named.items, config->topics.named.count,
                      sizeof(*found), compare_name)
            : NULL;

    return found ? found : &config->topics.defaults;
}
