/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/buf.h"
#include "base/library.h"
#include "base/list.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "loop/loop.h"

/* clang-format off */
#define CURL_FUNCTIONS(X)                                                 \
    X(curl_global_init)       X(curl_global_cleanup) X(curl_slist_append) X(curl_slist_free_all) \
    X(curl_easy_init)         X(curl_easy_setopt)  X(curl_easy_getinfo)   \
    X(curl_easy_cleanup)      X(curl_easy_strerror)                       \
    X(curl_multi_init)        X(curl_multi_setopt) X(curl_multi_assign)   \
    X(curl_multi_add_handle)  X(curl_multi_remove_handle)                 \
    X(curl_multi_socket_action) X(curl_multi_info_read) X(curl_multi_cleanup) \
    X(curl_url)               X(curl_url_cleanup)  X(curl_url_set)        \
    X(curl_url_get)           X(curl_free)
/* clang-format on */

struct curl {
    CURL_FUNCTIONS(LIBRARY_POINTER)
};

struct fetch {
    struct curl curl;
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct link calls;
    struct link fed; /* calls with something to tell */
    struct link sockets;
    struct fetch_call *telling; /* the one whose owner is told; NULL when it is gone */
};

/* Tells what has come, in the order in which it came. libcurl must not be inside: its
 * handles cannot be added or removed then. */
void fetch_calls_tell(struct fetch *fetch);

/* The last word of libcurl on it. */
void fetch_call_finish(struct fetch_call *call, CURLcode result);
void fetch_calls_free(struct fetch *fetch);

/* The proxy that the environment names for this scheme and host, or NULL. This machine
 * itself is never asked for through one. */
const char *fetch_proxy_for(struct str scheme, struct str host);

enum { PLACE_SCHEME = 8, PLACE_HOST = 256, PLACE_PORT = 8 };

/* Where a URL leads, as libcurl understands it. */
struct place {
    char scheme[PLACE_SCHEME];
    char host[PLACE_HOST]; /* without brackets; numbers in the usual form */
    char port[PLACE_PORT]; /* also where it is the usual one */
};

/* ERR_INVALID: it is no URL, or names something that is not http or https. */
enum err place_read(const struct fetch *fetch, const char *url, struct place *ret);

/* The address that the host itself is, or means on this machine. */
bool place_address(const struct place *place, struct sockaddr_storage *ret);
