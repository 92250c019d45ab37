/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cors.h"

/* Mcp-Param-NAME: tools say which there are. */
static const struct str param_prefix = { "mcp-param-", 10 };

enum { PARAMS_MAX = 32 };

static bool is_mcp(const struct exchange *x)
{
    struct str path = x->request.path;

    return str_eq(path, S("/mcp")) || str_starts(path, S("/mcp/"));
}

void cors_write(const struct exchange *x, struct buf *out)
{
    if (x->allowed_origin.len == 0)
        return;
    buf_put(out, S("Access-Control-Allow-Origin: "));
    buf_put(out, x->allowed_origin);
    buf_put(out, S("\r\nVary: Origin\r\n"));
    if (is_mcp(x))
        buf_put(out, S("Access-Control-Expose-Headers: Mcp-Session-Id\r\n"));
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return name.len > 0;
}

/* Those that are asked for: they cannot be listed, and `*` does not hold where a
 * credential is sent. */
static void put_params(const struct exchange *x, struct buf *out)
{
    struct str asked =
        http_header_find(&x->request, S("Access-Control-Request-Headers"), NULL);

    for (size_t count = 0; asked.ptr && count < PARAMS_MAX;) {
        struct str name = str_trim(str_cut(&asked, ','));

        if (name.len <= param_prefix.len || !is_name(name) ||
            !str_ieq(str_slice(name, 0, param_prefix.len), param_prefix))
            continue;
        buf_put(out, S(", "));
        buf_put(out, name);
        count++;
    }
}

void cors_write_options(const struct exchange *x, struct str allow, struct buf *out)
{
    if (x->allowed_origin.len == 0)
        return;
    buf_put(out, S("Access-Control-Allow-Methods: "));
    buf_put(out, allow);
    buf_put(out, S("\r\nAccess-Control-Allow-Headers: authorization, content-type"));
    if (is_mcp(x)) {
        buf_put(out, S(", mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, "
                       "last-event-id"));
        put_params(x, out);
    }
    buf_put(out, S("\r\nAccess-Control-Max-Age: 600\r\n"));
}
