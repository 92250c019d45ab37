/* SPDX-License-Identifier: Apache-2.0 */
/* What strangers say on the way to a token: challenges, documents, answers and queries.
 * Whatever they are, nothing that is taken from them can leave its place in a header or
 * an address. */
#include <stdlib.h>

#include "base/buf.h"
#include "oauth/challenge.h"
#include "oauth/document.h"
#include "oauth/grant.h"
#include "oauth/request.h"
#include "oauth/uri.h"

enum { ROOM = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        must(text.ptr[i] > ' ' && text.ptr[i] <= '~');
}

static void check_uri(struct str text)
{
    struct uri uri, again;
    struct buf out;

    if (uri_parse(text, &uri))
        return;
    buf_init(&out, ROOM);
    uri_put_canonical(&out, &uri);
    must(uri_parse(buf_str(&out), &again) == OK);
    must(uri_is_same_origin(&uri, &again) && uri_is_above(&again, &uri));
    for (enum uri_place place = URI_AT_ROOT; place <= URI_AFTER_PATH; place++) {
        buf_clear(&out);
        uri_put_well_known(&out, &uri, S("x"), place);
        must(uri_parse(buf_str(&out), &again) == OK && uri_is_same_origin(&uri, &again));
    }
    buf_done(&out);
}

static void check_documents(struct str text, struct arena *arena)
{
    struct resource_document resource;
    struct server_document server;
    struct client_document client;
    struct token_document token;
    const char *why = NULL;

    if (!resource_document_read(text, arena, &resource, &why)) {
        must(resource.authorization_servers.count > 0);
        must(scopes_are_valid(resource.scopes));
    }
    if (!server_document_read(text, S("https://b"), arena, &server, &why)) {
        check_plain(server.authorization_endpoint);
        check_plain(server.token_endpoint);
        check_plain(server.registration_endpoint);
    }
    if (!client_document_read(text, arena, &client, &why)) {
        check_plain(client.client_id);
        check_plain(client.client_secret);
    }
    if (!token_document_read(text, arena, &token, &why)) {
        check_plain(token.access_token);
        check_plain(token.refresh_token);
        must(scopes_are_valid(token.scope));
    }
    check_plain(oauth_error_read(text, arena));
}

static void check_grant(struct str text)
{
    struct oauth_grant grant = {}, again = {};
    struct buf out;

    if (oauth_grant_read(text, &grant))
        return;
    buf_init(&out, ROOM);
    oauth_grant_write(&out, &grant);
    must(oauth_grant_read(buf_str(&out), &again) == OK);
    for (enum grant_text i = 0; i < GRANT_TEXTS; i++)
        must(str_eq(oauth_grant_get(&grant, i), oauth_grant_get(&again, i)));
    must(grant.ends_ms == again.ends_ms);
    oauth_grant_done(&grant);
    oauth_grant_done(&again);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct bearer_challenge challenge = {};
    struct sign_in_answer answer = {};
    struct arena arena;

    arena_init(&arena, ROOM);
    (void)!bearer_challenge_read(text, &arena, &challenge);
    must(challenge.scope.len <= size && challenge.resource_metadata.len <= size);
    check_uri(text);
    check_uri(challenge.resource_metadata);
    if (!sign_in_answer_read(text, &arena, &answer))
        (void)sign_in_answer_fault(&answer, S("https://b"), true);
    check_documents(text, &arena);
    check_grant(text);
    arena_done(&arena);
    return 0;
}
