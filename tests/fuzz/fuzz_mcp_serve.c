/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an MCP client posts. Lines of headers, each begun by a letter, an empty line, and
 * the body:
 *
 *     c  Content-Type     a  Accept      v  MCP-Protocol-Version
 *     m  Mcp-Method       n  Mcp-Name    pNAME=VALUE  Mcp-Param-NAME
 *     g  the revision of its session     t  the tool that it calls      s  stdio
 *
 * What is let through is what it claims to be; what is not is answered with an error that
 * can be read, and with the id of the request.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/rpc.h"
#include "mcp/serve.h"

enum { ROOM = 1 << 22, DEPTH = 32, PARAMS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct sent {
    struct serve_post post;
    struct serve_param params[PARAMS];
    struct str tool;
};

static void check(bool is_fine)
{
    if (!is_fine)
        abort();
}

static void read_param(struct sent *sent, struct str line)
{
    struct str name = str_cut(&line, '=');

    if (sent->post.param_count == PARAMS || !line.ptr)
        return;
    sent->params[sent->post.param_count++] = (struct serve_param){ name, line };
}

static void read_line(struct sent *sent, struct str line)
{
    struct str value = str_slice(line, 1, line.len);

    switch (line.ptr[0]) {
    case 'c': sent->post.content_type = value; break;
    case 'a': sent->post.accept = value; break;
    case 'v': sent->post.version = value; break;
    case 'm': sent->post.method = value; break;
    case 'n': sent->post.name = value; break;
    case 'g': sent->post.agreed = value; break;
    case 't': sent->tool = value; break;
    case 'p': read_param(sent, value); break;
    case 's': sent->post.is_http = false; break;
    default: break;
    }
}

static void check_error(const struct serve_post *post, unsigned status,
                        const struct buf *error)
{
    struct mcp_message told, sent;
    const char *what;

    check(!error->is_full && !memchr(error->ptr, '\n', error->len));
    check(mcp_message_read(buf_str(error), DEPTH, &told, &what) == OK);
    check(told.type == MESSAGE_ERROR);
    if (status == 406 || status == 415 ||
        mcp_message_read(post->body, DEPTH, &sent, &what) || sent.type != MESSAGE_REQUEST)
        return;
    check(told.id.type == sent.id.type && str_eq(told.id.text, sent.id.text));
}

static void check_batch(const struct serve_post *post, const struct serve_incoming *in)
{
    struct mcp_message_walk walk;
    struct serve_incoming item;
    size_t count = 0;

    check(in->era == ERA_LEGACY && str_eq(post->agreed, S("2025-03-26")));
    check(mcp_message_walk_begin(&walk, post->body, DEPTH) == OK);
    while (serve_batch_next(in, &walk, &item)) {
        check(item.era == ERA_LEGACY && !str_eq(item.message.method, S("initialize")));
        count++;
    }
    check(walk.is_over && count > 0 && count <= SERVE_BATCH);
}

static void check_can(struct json_span capable)
{
    unsigned can = client_can(capable);
    struct buf out;

    buf_init(&out, ROOM);
    client_can_put(&out, can);
    check(client_can((struct json_span){ JSON_OBJECT, false, buf_str(&out) }) ==
          (can & ~(unsigned)CAN_TELL_ROOTS));
    buf_done(&out);
}

static void check_modern(const struct serve_post *post, const struct serve_incoming *in)
{
    check(str_eq(in->version, mcp_versions[0]) && in->capable.type == JSON_OBJECT);
    check(in->message.type <= MESSAGE_NOTIFICATION);
    check(!in->log_level.len || serve_level(in->log_level) >= 0);
    if (post->is_http && in->message.type == MESSAGE_REQUEST)
        check(str_eq(str_trim(post->method), in->message.method));
    check_can(in->capable);
    (void)client_must(in->message.method, in->message.params);
}

static void check_params(const struct sent *sent, const struct serve_incoming *in)
{
    struct buf error;
    unsigned status;

    buf_init(&error, ROOM);
    status = serve_judge_params(&sent->post, in, sent->tool, &error);
    check(status == 0 ? error.len == 0 : status == 400);
    if (status)
        check_error(&sent->post, status, &error);
    buf_done(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct sent sent = { .post = { .is_http = true, .max_depth = DEPTH } };
    struct serve_incoming in;
    struct buf error;
    unsigned status;

    if (size > ROOM / 16)
        return 0;
    while (rest.ptr) {
        struct str line = str_cut(&rest, '\n');

        if (!line.len)
            break;
        read_line(&sent, line);
    }
    sent.post.body = rest;
    sent.post.params = sent.params;
    buf_init(&error, ROOM);
    status = serve_judge(&sent.post, &in, &error);
    if (status) {
        check(status == 400 || status == 404 || status == 406 || status == 415);
        check_error(&sent.post, status, &error);
    } else {
        check(error.len == 0 && in.era != ERA_UNKNOWN);
        if (in.is_batch)
            check_batch(&sent.post, &in);
        if (in.era == ERA_MODERN)
            check_modern(&sent.post, &in);
        check_params(&sent, &in);
    }
    buf_done(&error);
    return 0;
}
