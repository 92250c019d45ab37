/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is offered to MCP clients: tools, resources, prompts. When something changes after
 * the room has met us, it is told so, once for all changes of a step.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "client/moot_priv.h"
#include "mcp/catalogue.h"
#include "participant/ask.h"

enum { MAX_ITEMS = 10'000, MAX_BYTES = 256 << 20 };

struct catalogue *offers_new(const struct moot_options *options)
{
    return catalogue_new(&(struct catalogue_settings){
        .name = str_of(options->name ? options->name : "libmoot"),
        .version = str_of(options->version ? options->version : MOOT_VERSION),
        .max_items = MAX_ITEMS,
        .max_bytes = MAX_BYTES,
        .drop = free,
    });
}

/* Before the first welcome nobody has asked for anything. */
static void note_change(struct moot *m, enum offer_type type)
{
    if (m->id[0])
        m->changed |= 1U << type;
}

static enum moot_err add(struct moot *m, const struct offer *offer,
                         struct offered offered)
{
    struct offered *kept;
    const char *why = NULL;
    enum err err;

    if (!offered.serve)
        return handle_fail(m, ERR_INVALID, "there is no function that serves it");
    kept = xmalloc(sizeof(*kept));
    *kept = offered;
    err = catalogue_add(m->catalogue, offer, kept, &why);
    if (err) {
        free(kept);
        return handle_fail(m, err, why);
    }
    note_change(m, offer->type);
    return MOOT_OK;
}

enum moot_err moot_add_tool(struct moot *m, const struct moot_tool *tool)
{
    return add(m,
               &(struct offer){
                   .type = OFFER_TOOL,
                   .key = str_of(tool->name),
                   .title = str_of(tool->title),
                   .description = str_of(tool->description),
                   .input_schema = str_of(tool->input_schema),
                   .output_schema = str_of(tool->output_schema),
                   .annotations = str_of(tool->annotations),
               },
               (struct offered){ tool->call, tool->user });
}

static enum offer_type resource_type(struct str uri)
{
    bool has_braces = str_find(uri, '{', 0) < uri.len || str_find(uri, '}', 0) < uri.len;

    return has_braces ? OFFER_TEMPLATE : OFFER_RESOURCE;
}

enum moot_err moot_add_resource(struct moot *m, const struct moot_resource *r)
{
    return add(m,
               &(struct offer){
                   .type = resource_type(str_of(r->uri)),
                   .key = str_of(r->uri),
                   .name = str_of(r->name),
                   .title = str_of(r->title),
                   .description = str_of(r->description),
                   .mime_type = str_of(r->mime_type),
               },
               (struct offered){ r->read, r->user });
}

enum moot_err moot_add_prompt(struct moot *m, const struct moot_prompt *prompt)
{
    return add(m,
               &(struct offer){
                   .type = OFFER_PROMPT,
                   .key = str_of(prompt->name),
                   .title = str_of(prompt->title),
                   .description = str_of(prompt->description),
                   .arguments = str_of(prompt->arguments),
               },
               (struct offered){ prompt->get, prompt->user });
}

static enum moot_err take_back(struct moot *m, enum offer_type type, const char *key)
{
    enum err err = catalogue_remove(m->catalogue, type, str_of(key));

    if (!err)
        note_change(m, type);
    return handle_fail(m, err, "nothing of that name was added");
}

enum moot_err moot_remove_tool(struct moot *m, const char *name)
{
    return take_back(m, OFFER_TOOL, name);
}

enum moot_err moot_remove_resource(struct moot *m, const char *uri)
{
    return take_back(m, resource_type(str_of(uri)), uri);
}

enum moot_err moot_remove_prompt(struct moot *m, const char *name)
{
    return take_back(m, OFFER_PROMPT, name);
}

/* --- telling the room --- */

#define BIT(type) (1U << (type))

static const struct {
    unsigned types;
    struct str method;
} notices[] = {
    { BIT(OFFER_TOOL), S("notifications/tools/list_changed") },
    { BIT(OFFER_RESOURCE) | BIT(OFFER_TEMPLATE),
      S("notifications/resources/list_changed") },
    { BIT(OFFER_PROMPT), S("notifications/prompts/list_changed") },
};

bool offers_are_changed(const struct moot *m)
{
    return m->changed && m->state == MOOT_JOINED && !m->leaving;
}

/* Who may not tell it keeps silent. */
void offers_tell(struct moot *m)
{
    unsigned changed = m->changed;

    m->changed = 0;
    for (size_t i = 0; i < COUNT(notices); i++)
        if (changed & notices[i].types)
            (void)occupant_notify(m->occupant, S(""), notices[i].method, S(""),
                                  handle_now(), NULL);
}
