/* SPDX-License-Identifier: Apache-2.0 */
/* A payload is read as a request and put to a catalogue. Whatever it is, it gets one
 * answer: JSON that reads back, with the id that the request had. */
#include <stdlib.h>

#include "mcp/catalogue.h"
#include "mcp/result.h"

enum { ROOM = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void add(struct catalogue *c, struct offer offer)
{
    const char *why;

    if (catalogue_add(c, &offer, NULL, &why))
        abort();
}

static struct catalogue *stocked(void)
{
    struct catalogue *c = catalogue_new(&(struct catalogue_settings){
        .name = S("fuzz"), .version = S("1"), .max_items = 100, .max_bytes = ROOM });

    add(c, (struct offer){ .type = OFFER_TOOL, .key = S("add") });
    add(c, (struct offer){ .type = OFFER_TOOL, .key = S("sub") });
    add(c, (struct offer){ .type = OFFER_RESOURCE, .key = S("x:a") });
    add(c, (struct offer){ .type = OFFER_TEMPLATE, .key = S("x:{a}/{b}") });
    add(c, (struct offer){ .type = OFFER_PROMPT,
                           .key = S("p"),
                           .arguments = S("[{\"name\":\"a\",\"required\":true}]") });
    return c;
}

static bool is_object(struct str json)
{
    struct json_scan scan;
    struct json_span span;

    json_scan_init(&scan, json, JSON_MAX_DEPTH);
    return json_value(&scan, &span) == OK && json_scan_end(&scan) == OK &&
           span.type == JSON_OBJECT;
}

/* As whoever serves does it. */
static void check_answer(const struct rpc_request *request, const struct rpc_reply *reply)
{
    struct result_of of = { .method = request->method,
                            .is_modern = rpc_is_modern(request) };
    struct buf out;

    if (!is_object(buf_str(&reply->json)))
        abort();
    buf_init(&out, ROOM);
    if (result_write(&out, &of, buf_str(&reply->json)) || !is_object(buf_str(&out)))
        abort();
    buf_done(&out);
}

static void put(const struct rpc_request *request, struct arena *arena)
{
    struct catalogue *c = stocked();
    struct rpc_reply reply = {};
    const struct catalogue_item *item = NULL;

    buf_init(&reply.json, ROOM);
    switch (catalogue_ask(c, request, 60, arena, &reply, &item)) {
    case CATALOGUE_ANSWERED: check_answer(request, &reply); break;
    case CATALOGUE_FOUND:
        if (!item || reply.is_error || reply.json.len)
            abort();
        break;
    case CATALOGUE_OTHER:
        if (item || reply.is_error || reply.json.len)
            abort();
        break;
    }
    buf_done(&reply.json);
    catalogue_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str payload = { (const char *)bytes, size };
    struct rpc_request request;
    struct arena arena;
    const char *what = NULL;
    enum err err;

    arena_init(&arena, ROOM);
    err = rpc_read(payload, &arena, &request, &what);
    if (request.id.text.ptr && request.id.type != JSON_STRING &&
        request.id.type != JSON_NUMBER)
        abort();
    if (err == ERR_INVALID && !what)
        abort();
    if (!err)
        put(&request, &arena);
    arena_done(&arena);
    return 0;
}
