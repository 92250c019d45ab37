/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call: what libcurl is told about it, what it brings, and who may be connected to.
 * Nothing of its owner is called while libcurl is inside.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "fetch/fetch.h"
#include "fetch/fetch_priv.h"

enum {
    CONNECT_MS = 10'000,
    HEAD_MAX = 64 * 1024,
    TYPE_MAX = 128,
    MS_PER_S = 1000,
    UPLOAD_BYTES = 16 * 1024, /* streams that are open for days keep it: the least */
    IDLE_S = 4, /* servers close idle connections, many after five seconds: not when one
                 * is used again */
};

struct fetch_call {
    struct fetch *fetch;
    struct link link;
    struct link fed;
    CURL *easy;
    struct curl_slist *fields;
    struct fetch_ops ops;
    void *user;
    struct buf body;  /* what is sent */
    size_t sent;      /* of it */
    struct buf head;  /* the lines of the last one */
    struct buf bytes; /* of the body that were not told yet: all, without on_bytes */
    struct buf found; /* what fetch_field() gave */
    size_t total, max_answer;
    enum fetch_reach reach;
    bool is_guarded, is_secure, is_by_proxy;
    bool has_head, was_head_told;
    bool was_refused; /* an address was */
    enum err fault;   /* why we stopped it; `why` says it for people */
    const char *why;
    struct loop_task fail;
};

static void call_free(struct fetch_call *call)
{
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed left the list
    const struct curl *curl = &call->fetch->curl;

    if (call->fetch->telling == call)
        call->fetch->telling = NULL;
    (void)curl->curl_multi_remove_handle(call->fetch->multi, call->easy);
    curl->curl_easy_cleanup(call->easy);
    curl->curl_slist_free_all(call->fields);
    buf_done(&call->body);
    buf_done(&call->head);
    buf_done(&call->bytes);
    buf_done(&call->found);
    list_remove(&call->fail.link);
    list_remove(&call->fed);
    list_remove(&call->link);
    free(call);
}

void fetch_calls_free(struct fetch *fetch)
{
    while (!list_is_empty(&fetch->calls))
        call_free(CONTAINER_OF(fetch->calls.next, struct fetch_call, link));
}

/* --- telling the owner --- */

static unsigned status_of(const struct fetch_call *call)
{
    long status = 0;

    (void)call->fetch->curl.curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE,
                                              &status);
    return (unsigned)status;
}

static void tell_head(struct fetch_call *call)
{
    struct str type = fetch_field(call, S("Content-Type"));
    char small[TYPE_MAX];
    size_t len = str_find(type, ';', 0);

    type = str_trim(str_slice(type, 0, len));
    for (len = 0; len < type.len && len < sizeof(small); len++)
        small[len] =
            (char)(type.ptr[len] |
                   (type.ptr[len] >= 'A' && type.ptr[len] <= 'Z' ? 'a' - 'A' : 0));
    call->was_head_told = true;
    if (call->ops.on_head)
        call->ops.on_head(
            call->user, call,
            &(struct fetch_head){ .status = status_of(call), .type = { small, len } });
}

/* They are taken out first: the call may be cancelled meanwhile. */
static void tell_bytes(struct fetch_call *call)
{
    struct buf bytes = call->bytes;

    buf_init(&call->bytes, SIZE_MAX);
    call->ops.on_bytes(call->user, buf_str(&bytes));
    buf_done(&bytes);
}

/* False: it is gone. */
static bool tell(struct fetch_call *call)
{
    struct fetch *fetch = call->fetch;

    list_remove(&call->fed);
    fetch->telling = call;
    if (call->has_head && !call->was_head_told)
        tell_head(call);
    if (fetch->telling == call && call->ops.on_bytes && call->bytes.len > 0)
        tell_bytes(call);
    return fetch->telling == call;
}

void fetch_calls_tell(struct fetch *fetch)
{
    struct fetch_call *call;

    while ((call = LIST_FIRST(&fetch->fed, struct fetch_call, fed)))
        (void)tell(call);
}

static enum err meaning(const struct fetch_call *call, CURLcode result)
{
    if (result == CURLE_OK)
        return OK;
    if (call->fault)
        return call->fault;
    if (result == CURLE_OPERATION_TIMEDOUT)
        return ERR_TIMEOUT;
    if (result == CURLE_COULDNT_CONNECT && call->was_refused)
        return ERR_FORBIDDEN;
    return ERR_IO;
}

static void end(struct fetch_call *call, struct fetch_answer *answer)
{
    (void)call->fetch->curl.curl_multi_remove_handle(call->fetch->multi, call->easy);
    list_remove(&call->link);
    answer->status = status_of(call);
    answer->body = buf_str(&call->bytes);
    call->ops.on_done(call->user, answer);
    call_free(call);
}

void fetch_call_finish(struct fetch_call *call, CURLcode result)
{
    struct fetch_answer answer = { .err = meaning(call, result) };

    answer.why = call->fetch->curl.curl_easy_strerror(result);
    if (answer.err && call->fault)
        answer.why = call->why;
    if (result == CURLE_SEND_FAIL_REWIND)
        answer.why = "the connection was closed before an answer came";
    if (answer.err == ERR_FORBIDDEN)
        answer.why = "its address must not be reached";
    end(call, &answer);
}

static void on_fail(struct loop_task *task)
{
    struct fetch_call *call = CONTAINER_OF(task, struct fetch_call, fail);

    end(call, &(struct fetch_answer){ .err = call->fault, .why = call->why });
}

/* --- what libcurl brings --- */

static void feed(struct fetch_call *call)
{
    if (!link_is_set(&call->fed))
        list_append(&call->fetch->fed, &call->fed);
}

static size_t stop(struct fetch_call *call, const char *why)
{
    call->fault = ERR_TOO_BIG;
    call->why = why;
    return 0;
}

/* Heads of 1xx come before the real one, trailers after the body. */
static size_t on_head_line(char *bytes, size_t size, size_t count, void *user)
{
    struct fetch_call *call = user;
    struct str line = { bytes, size * count };

    if (call->has_head)
        return line.len;
    if (str_starts(line, S("HTTP/")))
        buf_clear(&call->head);
    buf_put(&call->head, line);
    if (call->head.is_full)
        return stop(call, "the head of the answer is too long");
    call->has_head = (line.len == 0 || line.ptr[0] == '\r' || line.ptr[0] == '\n') &&
                     status_of(call) >= 200;
    if (call->has_head)
        feed(call);
    return line.len;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct fetch_call *call = user;

    call->total += size * count;
    if (call->total > call->max_answer)
        return stop(call, "the answer is too long");
    buf_put(&call->bytes, (struct str){ bytes, size * count });
    feed(call);
    return size * count;
}

/* Nothing is sent twice: where a kept connection turns out to be closed, libcurl would
 * send the request again, not knowing whether it arrived. It cannot when the body can be
 * read only once. */
static size_t on_body_wanted(char *out, size_t size, size_t count, void *user)
{
    struct fetch_call *call = user;
    struct str part =
        str_slice(buf_str(&call->body), call->sent, call->sent + size * count);

    if (part.len > 0)
        memcpy(out, part.ptr, part.len);
    call->sent += part.len;
    return part.len;
}

/* Without TLS only this machine may be spoken to, where not everybody may be. */
static bool may_reach(const struct fetch_call *call, const struct sockaddr *address)
{
    if (!fetch_may_reach(call->reach, address))
        return false;
    return call->reach == FETCH_ANYWHERE || call->is_secure ||
           !fetch_may_reach(FETCH_PUBLIC, address);
}

static curl_socket_t on_socket_made(void *user, curlsocktype purpose [[maybe_unused]],
                                    struct curl_sockaddr *address)
{
    struct fetch_call *call = user;

    if (call->is_guarded && !call->is_by_proxy && !may_reach(call, &address->addr)) {
        call->was_refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* --- what libcurl is told --- */

#define SET(option, value) \
    (void)curl->curl_easy_setopt(call->easy, CURLOPT_##option, (value))

static void set_up(struct fetch_call *call, const char *url)
{
    const char *authorities = getenv("SSL_CERT_FILE");
    const struct curl *curl = &call->fetch->curl;

    SET(URL, url);
    SET(PROTOCOLS_STR, "http,https");
    SET(PROXY, "");
    SET(NOPROXY, "");
    SET(FOLLOWLOCATION, 0L);
    SET(NOSIGNAL, 1L);
    SET(QUICK_EXIT, 1L); /* a name server that is silent must not hold up a cancel */
    SET(CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    SET(TCP_KEEPALIVE, 1L);
    SET(SUPPRESS_CONNECT_HEADERS, 1L);
    SET(HTTPHEADER, call->fields);
    SET(OPENSOCKETFUNCTION, on_socket_made);
    SET(OPENSOCKETDATA, call);
    SET(HEADERFUNCTION, on_head_line);
    SET(HEADERDATA, call);
    SET(WRITEFUNCTION, on_body);
    SET(WRITEDATA, call);
    SET(PRIVATE, call);
    if (authorities && *authorities)
        SET(CAINFO, authorities);
}

static void set_body(struct fetch_call *call, struct str body)
{
    const struct curl *curl = &call->fetch->curl;

    SET(POST, 1L);
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    SET(POSTFIELDS, body.len ? body.ptr : "");
}

static void set_times(struct fetch_call *call, const struct fetch_order *order)
{
    const struct curl *curl = &call->fetch->curl;

    if (order->connect_ms)
        SET(CONNECTTIMEOUT_MS, (long)order->connect_ms);
    SET(TIMEOUT_MS, (long)order->timeout_ms);
    if (!order->silence_ms)
        return;
    SET(LOW_SPEED_LIMIT, 1L);
    SET(LOW_SPEED_TIME, (long)((order->silence_ms + MS_PER_S - 1) / MS_PER_S));
}

/* A connection that was made for whoever may go anywhere is not for the others. */
static void set_way(struct fetch_call *call, const struct fetch_order *order,
                    const struct place *place)
{
    const struct curl *curl = &call->fetch->curl;
    const char *proxy = order->uses_proxies
                            ? fetch_proxy_for(str_of(place->scheme), str_of(place->host))
                            : NULL;

    SET(DISALLOW_USERNAME_IN_URL, 1L);
    SET(MAXAGE_CONN, (long)IDLE_S);
    SET(UPLOAD_BUFFERSIZE, (long)UPLOAD_BYTES);
    if (order->reach == FETCH_PUBLIC)
        SET(PROTOCOLS_STR, "https");
    if (order->reach != FETCH_ANYWHERE) {
        SET(FRESH_CONNECT, 1L);
        SET(FORBID_REUSE, 1L);
    }
    call->is_by_proxy = proxy != NULL;
    if (proxy)
        SET(PROXY, proxy);
}

static void set_method(struct fetch_call *call, const struct fetch_order *order)
{
    const struct curl *curl = &call->fetch->curl;

    if (strcmp(order->method, "POST") != 0) {
        SET(CUSTOMREQUEST, order->method);
        return;
    }
    buf_put(&call->body, order->body);
    SET(POST, 1L);
    SET(POSTFIELDSIZE_LARGE, (curl_off_t)order->body.len);
    SET(READFUNCTION, on_body_wanted);
    SET(READDATA, call);
}

#undef SET

/* --- beginning and ending --- */

static struct fetch_call *call_new(struct fetch *fetch, const struct fetch_ops *ops,
                                   void *user)
{
    struct fetch_call *call = xcalloc(1, sizeof(*call));

    *call = (struct fetch_call){ .fetch = fetch,
                                 .easy = fetch->curl.curl_easy_init(),
                                 .ops = *ops,
                                 .user = user,
                                 .fail.run = on_fail };
    if (!call->easy)
        abort(); /* out of memory */
    buf_init(&call->body, SIZE_MAX);
    buf_init(&call->head, HEAD_MAX);
    buf_init(&call->bytes, SIZE_MAX);
    buf_init(&call->found, HEAD_MAX);
    list_append(&fetch->calls, &call->link);
    return call;
}

static void add_fields(struct fetch_call *call, const char *const *fields, size_t count)
{
    const struct curl *curl = &call->fetch->curl;

    call->fields = curl->curl_slist_append(NULL, "Expect:"); /* says what it has to say */
    for (size_t i = 0; i < count; i++)
        call->fields = curl->curl_slist_append(call->fields, fields[i]);
}

struct fetch_call *
fetch_post(struct fetch *fetch, const struct fetch_request *request,
           void (*on_done)(void *user, const struct fetch_answer *answer), void *user)
{
    struct fetch_call *call =
        call_new(fetch, &(struct fetch_ops){ .on_done = on_done }, user);

    call->max_answer = request->max_answer;
    add_fields(call, request->fields, request->field_count);
    set_up(call, request->url);
    set_times(call, &(struct fetch_order){ .timeout_ms = request->timeout_ms });
    set_body(call, request->body);
    (void)fetch->curl.curl_multi_add_handle(fetch->multi, call->easy);
    return call;
}

static bool is_field(const char *field)
{
    for (; *field; field++)
        if ((unsigned char)*field < ' ' && *field != '\t')
            return false;
    return true;
}

/* What can be said before anybody is asked. */
static void judge(struct fetch_call *call, const struct fetch_order *order,
                  struct place *ret)
{
    struct sockaddr_storage address;

    call->fault = place_read(call->fetch, order->url, ret);
    call->why = "the URL is malformed, or is not one of http and https";
    for (size_t i = 0; !call->fault && i < order->field_count; i++)
        if (!is_field(order->fields[i])) {
            call->fault = ERR_INVALID;
            call->why = "a field of the request has a control character";
        }
    call->is_secure = !call->fault && strcmp(ret->scheme, "https") == 0;
    if (!call->fault && place_address(ret, &address) &&
        !may_reach(call, (const struct sockaddr *)&address)) {
        call->fault = ERR_FORBIDDEN;
        call->why = "its address must not be reached";
    }
}

struct fetch_call *fetch_start(struct fetch *fetch, const struct fetch_order *order,
                               const struct fetch_ops *ops, void *user)
{
    struct fetch_call *call = call_new(fetch, ops, user);
    struct place place;

    call->reach = order->reach;
    call->is_guarded = true;
    call->max_answer = order->max_answer;
    if (ops->on_bytes && !order->max_answer)
        call->max_answer = SIZE_MAX;
    judge(call, order, &place);
    if (call->fault) {
        loop_defer(fetch->loop, &call->fail);
        return call;
    }
    add_fields(call, order->fields, order->field_count);
    set_up(call, order->url);
    set_times(call, order);
    set_way(call, order, &place);
    set_method(call, order);
    (void)fetch->curl.curl_multi_add_handle(fetch->multi, call->easy);
    return call;
}

void fetch_cancel(struct fetch_call *call)
{
    call_free(call);
}

struct str fetch_field(struct fetch_call *call, struct str name)
{
    struct str rest = buf_str(&call->head);

    buf_clear(&call->found);
    while (rest.ptr) {
        struct str line = str_cut(&rest, '\n');
        size_t colon = str_find(line, ':', 0);

        if (!str_ieq(str_slice(line, 0, colon), name) || colon == line.len)
            continue;
        line = str_slice(line, colon + 1, line.len);
        if (str_ends(line, S("\r")))
            line.len--;
        if (call->found.len > 0)
            buf_putc(&call->found, '\n');
        buf_put(&call->found, str_trim(line));
    }
    return buf_str(&call->found);
}
