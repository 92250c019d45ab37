/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs are read by libcurl, which also follows them: what two readers could understand
 * differently is understood once.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "fetch/fetch_priv.h"

static bool part(const struct curl *curl, CURLU *url, CURLUPart what, char *out,
                 size_t size)
{
    char *text = NULL;
    int len = -1;

    if (curl->curl_url_get(url, what, &text, CURLU_DEFAULT_PORT) == CURLUE_OK)
        len = snprintf(out, size, "%s", text);
    curl->curl_free(text);
    return len > 0 && (size_t)len < size;
}

/* "[::1]" is ::1; what names a zone of a link is not needed. */
static void strip_brackets(char *host)
{
    size_t len = strlen(host);

    if (host[0] != '[' || host[len - 1] != ']')
        return;
    memmove(host, host + 1, len - 2);
    host[len - 2] = '\0';
}

enum err place_read(const struct fetch *fetch, const char *url, struct place *ret)
{
    const struct curl *curl = &fetch->curl;
    CURLU *handle = curl->curl_url();
    bool is_fine =
        handle && curl->curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK;
    struct place place;

    is_fine = is_fine &&
              part(curl, handle, CURLUPART_SCHEME, place.scheme, sizeof(place.scheme)) &&
              part(curl, handle, CURLUPART_HOST, place.host, sizeof(place.host)) &&
              part(curl, handle, CURLUPART_PORT, place.port, sizeof(place.port));
    curl->curl_url_cleanup(handle);
    if (!is_fine ||
        (strcmp(place.scheme, "http") != 0 && strcmp(place.scheme, "https") != 0))
        return ERR_INVALID;
    strip_brackets(place.host);
    *ret = place;
    return OK;
}

bool place_address(const struct place *place, struct sockaddr_storage *ret)
{
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    struct str host = str_of(place->host);

    *ret = (struct sockaddr_storage){};
    if (inet_pton(AF_INET6, place->host, &in6.sin6_addr) == 1) {
        memcpy(ret, &in6, sizeof(in6));
        return true;
    }
    if (str_ends(host, S(".")))
        host.len--;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (inet_pton(AF_INET, place->host, &in.sin_addr) != 1 &&
        !str_ieq(host, S("localhost")))
        return false;
    memcpy(ret, &in, sizeof(in));
    return true;
}

enum err fetch_join(const struct fetch *fetch, const char *base, const char *reference,
                    struct buf *out)
{
    const struct curl *curl = &fetch->curl;
    CURLU *handle = curl->curl_url();
    char *text = NULL;
    bool is_fine = handle &&
                   curl->curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OK &&
                   curl->curl_url_set(handle, CURLUPART_URL, reference, 0) == CURLUE_OK &&
                   curl->curl_url_get(handle, CURLUPART_URL, &text, 0) == CURLUE_OK;
    struct place place;

    is_fine = is_fine && !place_read(fetch, text, &place);
    if (is_fine)
        buf_put(out, str_of(text));
    curl->curl_free(text);
    curl->curl_url_cleanup(handle);
    return is_fine ? OK : ERR_INVALID;
}

bool fetch_is_same_origin(const struct fetch *fetch, const char *a, const char *b)
{
    struct place one, other;

    if (place_read(fetch, a, &one) || place_read(fetch, b, &other))
        return false;
    return strcmp(one.scheme, other.scheme) == 0 && strcmp(one.port, other.port) == 0 &&
           str_ieq(str_of(one.host), str_of(other.host));
}
