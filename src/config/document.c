/* SPDX-License-Identifier: Apache-2.0 */
#include "config/document.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "config/config_priv.h"

enum { MEMORY_MAX = 256 << 20, JSON_MAX = 8 << 20 };

struct noting {
    struct config_document *document;
    size_t size;
};

static void note(void *user, size_t offset, struct config_mark mark)
{
    struct noting *n = user;
    struct config_document *d = n->document;

    if (d->count == n->size) {
        n->size = n->size ? 2 * n->size : 256;
        d->places = xrealloc(d->places, n->size * sizeof(*d->places));
    }
    d->places[d->count++] = (struct config_place){ offset, mark };
}

enum err config_document_read(struct str text, const char *name,
                              struct config_document *ret, struct config_problem *problem)
{
    struct config config = { .file = str_of(name) };
    struct reader reader = { .config = &config, .problem = problem };
    struct config_document document = {};
    struct noting noting = { .document = &document };
    const struct node *root;
    enum err err;

    if (text.len > CONFIG_FILE_MAX) {
        (void)config_fail(&config, (struct config_mark){}, problem,
                          "the file is larger than 1 MiB");
        return ERR_TOO_BIG;
    }
    arena_init(&config.arena, MEMORY_MAX);
    arena_init(&reader.nodes, MEMORY_MAX);
    buf_init(&document.json, JSON_MAX);
    err = tree_parse(&reader, text, &root);
    if (!err)
        node_put_json_watched(root, &document.json,
                              &(struct node_watcher){ .at = note, .user = &noting });
    if (!err && document.json.is_full)
        err = ERR_TOO_BIG;
    arena_done(&reader.nodes);
    arena_done(&config.arena);
    if (err)
        config_document_done(&document);
    else
        *ret = document;
    return err;
}

void config_document_done(struct config_document *document)
{
    buf_done(&document->json);
    free(document->places);
    *document = (struct config_document){};
}

struct config_mark config_document_mark(const struct config_document *document,
                                        size_t offset)
{
    struct config_mark mark = {};

    for (size_t i = 0; i < document->count && document->places[i].offset <= offset; i++)
        mark = document->places[i].mark;
    return mark;
}
