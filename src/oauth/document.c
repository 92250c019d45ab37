/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/document.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "oauth/uri.h"

enum { LIST_MAX = 256 };

const struct str token_method_names[TOKEN_METHODS] = {
    [TOKEN_BASIC] = { "client_secret_basic", 19 },
    [TOKEN_POST] = { "client_secret_post", 18 },
    [TOKEN_NONE] = { "none", 4 },
};

static enum err bad(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_INVALID;
}

static enum err read_object(struct str text, struct arena *arena, const struct json **ret,
                            const char **ret_why)
{
    const struct json *json;
    enum err err = json_parse(text, arena, &json, NULL);

    if (err == ERR_TOO_BIG)
        return err;
    if (err || json->type != JSON_OBJECT)
        return bad(ret_why, "it is no JSON object");
    *ret = json;
    return OK;
}

/* What goes into a header or an address: printable ASCII without blanks. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

/* A member that is a plain text; "" where it is missing. False: it is something else. */
static bool take_plain(const struct json *object, struct str key, struct str *ret)
{
    const struct json *member = json_find(object, key);

    *ret = json_text(member);
    return !member || member->type == JSON_NULL ||
           (member->type == JSON_STRING && is_plain(*ret));
}

static bool take_address(const struct json *object, struct str key, struct str *ret)
{
    struct uri uri;

    return take_plain(object, key, ret) &&
           (ret->len == 0 || (!uri_parse(*ret, &uri) && !uri.has_fragment));
}

static bool is_true(const struct json *object, struct str key)
{
    const struct json *member = json_find(object, key);

    return member && member->type == JSON_TRUE;
}

static bool list_has(const struct json *object, struct str key, struct str text)
{
    const struct json *list = json_find(object, key);

    if (!list || list->type != JSON_ARRAY)
        return false;
    JSON_FOREACH(item, list)
        if (str_eq(json_text(item), text))
            return true;
    return false;
}

/* A list of scopes as one text. */
static enum err take_scopes(const struct json *object, struct arena *arena,
                            struct str *ret, const char **ret_why)
{
    const struct json *list = json_find(object, S("scopes_supported"));
    CLEANUP(buf_done) struct buf all;

    buf_init(&all, 16 << 10);
    if (!list || list->type != JSON_ARRAY)
        return OK;
    JSON_FOREACH(item, list) {
        if (!scopes_are_valid(json_text(item)))
            return bad(ret_why, "a scope has characters that no scope has");
        scopes_put(&all, json_text(item));
    }
    if (all.is_full)
        return bad(ret_why, "it has too many scopes");
    *ret = arena_str(arena, buf_str(&all));
    return ret->ptr ? OK : ERR_TOO_BIG;
}

/* --- a resource --- */

static enum err take_servers(const struct json *object, struct arena *arena,
                             struct str_list *ret, const char **ret_why)
{
    const struct json *list = json_find(object, S("authorization_servers"));
    struct str *items;
    struct uri uri;

    if (!list || list->type != JSON_ARRAY || !list->first || list->count > LIST_MAX)
        return bad(ret_why, "it names no authorization server");
    items = arena_alloc(arena, list->count * sizeof(*items));
    if (!items)
        return ERR_TOO_BIG;
    *ret = (struct str_list){ items, 0 };
    JSON_FOREACH(item, list) {
        struct str text = json_text(item);

        if (uri_parse(text, &uri) || uri.has_fragment || uri.query.ptr)
            return bad(ret_why, "an authorization server is no address");
        items[ret->count++] = text;
    }
    return OK;
}

enum err resource_document_read(struct str text, struct arena *arena,
                                struct resource_document *ret, const char **ret_why)
{
    struct resource_document document = {};
    const struct json *object;
    enum err err = read_object(text, arena, &object, ret_why);

    if (err)
        return err;
    if (!take_address(object, S("resource"), &document.resource) ||
        document.resource.len == 0)
        return bad(ret_why, "its resource is no address");
    err = take_servers(object, arena, &document.authorization_servers, ret_why);
    if (!err)
        err = take_scopes(object, arena, &document.scopes, ret_why);
    if (!err)
        *ret = document;
    return err;
}

const char *resource_document_fault(const struct resource_document *document,
                                    struct str server_url)
{
    struct uri resource, server;

    if (uri_parse(server_url, &server) || uri_parse(document->resource, &resource))
        return "its resource is no address";
    if (!uri_is_above(&resource, &server))
        return "it describes another resource than the server";
    return NULL;
}

/* --- an authorization server --- */

static void take_methods(const struct json *object, struct server_document *ret)
{
    struct str key = S("token_endpoint_auth_methods_supported");

    /* Without a list it is client_secret_basic (RFC 8414 2); that a public client may
     * come without a secret is what MCP relies on. */
    if (!json_find(object, key)) {
        ret->has_method[TOKEN_BASIC] = true;
        ret->has_method[TOKEN_NONE] = true;
        return;
    }
    for (size_t i = 0; i < TOKEN_METHODS; i++)
        ret->has_method[i] = list_has(object, key, token_method_names[i]);
}

static bool take_endpoints(const struct json *object, struct server_document *ret)
{
    return take_address(object, S("authorization_endpoint"),
                        &ret->authorization_endpoint) &&
           take_address(object, S("token_endpoint"), &ret->token_endpoint) &&
           take_address(object, S("registration_endpoint"),
                        &ret->registration_endpoint) &&
           take_address(object, S("jwks_uri"), &ret->jwks_uri) &&
           ret->authorization_endpoint.len > 0 && ret->token_endpoint.len > 0;
}

enum err server_document_read(struct str text, struct str issuer, struct arena *arena,
                              struct server_document *ret, const char **ret_why)
{
    struct server_document document = {};
    const struct json *object;
    enum err err = read_object(text, arena, &object, ret_why);

    if (err)
        return err;
    if (!take_plain(object, S("issuer"), &document.issuer) ||
        !str_eq(document.issuer, issuer))
        return bad(ret_why, "it is of another issuer");
    if (!take_endpoints(object, &document))
        return bad(ret_why, "its endpoints are no addresses");
    take_methods(object, &document);
    document.has_s256 =
        list_has(object, S("code_challenge_methods_supported"), S("S256"));
    document.takes_metadata_urls =
        is_true(object, S("client_id_metadata_document_supported"));
    document.sends_issuer =
        is_true(object, S("authorization_response_iss_parameter_supported"));
    err = take_scopes(object, arena, &document.scopes, ret_why);
    if (!err)
        *ret = document;
    return err;
}

/* --- answers --- */

enum err client_document_read(struct str text, struct arena *arena,
                              struct client_document *ret, const char **ret_why)
{
    struct client_document document = {};
    const struct json *object;
    enum err err = read_object(text, arena, &object, ret_why);

    if (err)
        return err;
    if (!take_plain(object, S("client_id"), &document.client_id) ||
        !take_plain(object, S("client_secret"), &document.client_secret) ||
        !take_plain(object, S("token_endpoint_auth_method"), &document.method) ||
        document.client_id.len == 0)
        return bad(ret_why, "it holds no client id");
    *ret = document;
    return OK;
}

/* A whole number of seconds, which some write as a text. */
static uint64_t seconds(const struct json *member)
{
    uint64_t value;

    if (!member || (member->type != JSON_NUMBER && member->type != JSON_STRING) ||
        str_to_u64(member->text, UINT32_MAX, &value))
        return UINT64_MAX;
    return value;
}

enum err token_document_read(struct str text, struct arena *arena,
                             struct token_document *ret, const char **ret_why)
{
    struct token_document document = {};
    const struct json *object;
    enum err err = read_object(text, arena, &object, ret_why);

    if (err)
        return err;
    if (!take_plain(object, S("access_token"), &document.access_token) ||
        !take_plain(object, S("refresh_token"), &document.refresh_token) ||
        !take_plain(object, S("id_token"), &document.id_token) ||
        document.access_token.len == 0)
        return bad(ret_why, "it holds no token");
    if (!str_ieq(json_text(json_find(object, S("token_type"))), S("Bearer")))
        return bad(ret_why, "its token is of another type than Bearer");
    document.scope = json_text(json_find(object, S("scope")));
    if (!scopes_are_valid(document.scope))
        return bad(ret_why, "a scope has characters that no scope has");
    document.lasts_s = seconds(json_find(object, S("expires_in")));
    *ret = document;
    return OK;
}

struct str oauth_error_read(struct str text, struct arena *arena)
{
    const struct json *object;
    const char *why;
    struct str code = {};

    if (read_object(text, arena, &object, &why) ||
        !take_plain(object, S("error"), &code) || code.len > 64)
        return (struct str){};
    return code;
}
