/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that run elsewhere: nothing is started, and there is nothing to limit. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/carriage_priv.h"
#include "bridge/secret.h"
#include "bridge/supervisor.h"
#include "transport/http.h"

enum { MAX_STREAMS = 64 };

struct url_carriage {
    struct carriage carriage;
    struct carriage_events events;
    void *user;
    struct http_carrier *http;
};

static struct url_carriage *url_of(struct carriage *carriage)
{
    return CONTAINER_OF(carriage, struct url_carriage, carriage);
}

static struct carrier *url_carrier(struct carriage *carriage)
{
    return http_carrier_of(url_of(carriage)->http);
}

static void url_close(struct carriage *carriage)
{
    http_carrier_close(url_of(carriage)->http);
}

static void url_free(struct carriage *carriage)
{
    struct url_carriage *self = url_of(carriage);

    http_carrier_free(self->http);
    free(self);
}

static const struct carriage_ops url_ops = {
    .carrier = url_carrier,
    .close = url_close,
    .free = url_free,
};

static void on_ended(void *user, const char *why)
{
    struct url_carriage *self = user;

    self->events.on_ended(self->user, why, false);
}

/* --- its headers --- */

struct headers {
    const struct carriage_order *order;
    struct str *fields;
    size_t count;
    struct arena arena;
};

static void headers_init(struct headers *headers, const struct carriage_order *order)
{
    *headers = (struct headers){ .order = order };
    headers->fields = xcalloc(order->spec->header_count + 1, sizeof(*headers->fields));
    arena_init(&headers->arena, 4 << 20);
}

static void headers_done(struct headers *headers)
{
    for (size_t i = 0; i < headers->count; i++)
        secret_wipe(&headers->order->spec->headers[i], headers->fields[i]);
    arena_done(&headers->arena);
    free(headers->fields);
}

static bool is_value(struct str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < ' ' && value.ptr[i] != '\t')
            return false;
    return true;
}

static enum err refuse(struct str name, const char *what, char **ret_why)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "the header " STR_FMT " %s", STR_ARG(name), what);
    *ret_why = xstrdup(text);
    return ERR_INVALID;
}

static enum err read_header(struct headers *headers, const struct server_variable *header,
                            char **ret_why)
{
    const struct carriage_order *order = headers->order;
    struct str value, field;
    char *text;
    enum err err = secret_read(header, &headers->arena, &value, ret_why);

    if (err)
        return err;
    if (!is_value(value))
        return refuse(header->name, "has a control character", ret_why);
    field.len = header->name.len + 2 + value.len;
    text = arena_alloc(&headers->arena, field.len + 1);
    if (!text)
        return refuse(header->name, "is one too many", ret_why);
    (void)snprintf(text, field.len + 1, STR_FMT ": " STR_FMT, STR_ARG(header->name),
                   STR_ARG(value));
    field.ptr = text;
    if (header->source != SECRET_PLAIN && order->events->on_secret)
        order->events->on_secret(order->user, value);
    secret_wipe(header, value);
    headers->fields[headers->count++] = field;
    return OK;
}

/* --- opening --- */

enum err carriage_open_url(const struct supervisor_means *means,
                           const struct carriage_order *order, struct carriage **ret,
                           char **ret_why)
{
    CLEANUP(headers_done) struct headers headers;
    CLEANUP(xfreep) char *url = str_dup(order->spec->url);
    static const struct http_carrier_ops ops = { .on_ended = on_ended };
    struct fetch *fetch = means->fetch ? means->fetch(means->user) : NULL;
    struct url_carriage *self;
    enum err err = OK;

    headers_init(&headers, order);
    if (!fetch) {
        *ret_why = xstrdup("servers by url need libcurl, which is not here (libcurl4)");
        return ERR_NOT_FOUND;
    }
    for (size_t i = 0; !err && i < order->spec->header_count; i++)
        err = read_header(&headers, &order->spec->headers[i], ret_why);
    if (err)
        return err;
    self = xcalloc(1, sizeof(*self));
    self->carriage.ops = &url_ops;
    self->events = *order->events;
    self->user = order->user;
    self->http = http_carrier_open(
        fetch, means->loop,
        &(struct http_carrier_settings){
            .url = url,
            .fields = headers.fields,
            .field_count = headers.count,
            .credential =
                means->credential ? means->credential(means->user, order->spec) : NULL,
            .reach = order->spec->is_public ? FETCH_PUBLIC : FETCH_ANYWHERE,
            .max_message = order->spec->max_message,
            .max_streams = MAX_STREAMS,
        },
        &ops, self);
    *ret = &self->carriage;
    return OK;
}
