/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"

enum { READ_AHEAD = 64 * 1024 };

struct tls_client {
    SSL_CTX *settings;
    BIO_METHOD *transport;
    SSL_SESSION *ticket; /* the last one that came, or NULL */
    bool is_insecure;
};

struct tls_session {
    SSL *ssl;
    bool wants_write;
    const char *why;
};

/* --- the socket --- */

/* OpenSSL's own BIO for sockets uses write(), which ends the process where SIGPIPE is not
 * ignored; a library cannot decide that for its program. */
static int socket_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static bool is_to_be_repeated(ssize_t result)
{
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

static int transport_write(BIO *bio, const char *bytes, int len)
{
    ssize_t sent;

    BIO_clear_retry_flags(bio);
    do
        sent = send(socket_of(bio), bytes, (size_t)len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (is_to_be_repeated(sent))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int transport_read(BIO *bio, char *out, int size)
{
    ssize_t got;

    BIO_clear_retry_flags(bio);
    do
        got = recv(socket_of(bio), out, (size_t)size, 0);
    while (got < 0 && errno == EINTR);
    if (is_to_be_repeated(got))
        BIO_set_retry_read(bio);
    if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static long transport_control(BIO *bio, int command, long, void *)
{
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    default: return 0;
    }
}

/* The type is one that nobody looks for; OpenSSL has only a hundred to give away. */
static BIO_METHOD *transport_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "moot socket");

    if (method && BIO_meth_set_write(method, transport_write) == 1 &&
        BIO_meth_set_read(method, transport_read) == 1 &&
        BIO_meth_set_ctrl(method, transport_control) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

static bool give_socket(const struct tls_client *client, SSL *ssl, int fd)
{
    BIO *bio = BIO_new(client->transport);

    if (!bio)
        return false;
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return true;
}

/* --- settings --- */

/* Returning 1 keeps the reference. */
static int keep_ticket(SSL *ssl, SSL_SESSION *ticket)
{
    struct tls_client *client = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    SSL_SESSION_free(client->ticket);
    client->ticket = ticket;
    return 1;
}

static bool apply_trust(SSL_CTX *settings, const struct tls_trust *trust)
{
    if (trust->is_insecure) {
        SSL_CTX_set_verify(settings, SSL_VERIFY_NONE, NULL);
        return true;
    }
    SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, NULL);
    if (trust->cacert)
        return SSL_CTX_load_verify_file(settings, trust->cacert) == 1;
    return SSL_CTX_set_default_verify_paths(settings) == 1;
}

static void apply_settings(struct tls_client *client)
{
    SSL_CTX *settings = client->settings;

    (void)SSL_CTX_set_mode(settings, SSL_MODE_RELEASE_BUFFERS |
                                         SSL_MODE_ENABLE_PARTIAL_WRITE |
                                         SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* So that writing never waits for something to read; and an end without a farewell is
     * an end: those who speak through this know by themselves what is missing, and may
     * resume afterwards. */
    (void)SSL_CTX_set_options(settings,
                              SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_read_ahead(settings, 1);
    SSL_CTX_set_default_read_buffer_len(settings, READ_AHEAD);
    (void)SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_CLIENT |
                                                       SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(settings, keep_ticket);
    (void)SSL_CTX_set_app_data(settings, client);
}

/* The first error is the cause; that of a file has no text of OpenSSL's. */
static const char *reason_of_settings(char *out, size_t size)
{
    unsigned long error = ERR_peek_error();
    const char *reason = ERR_reason_error_string(error);

    if (ERR_SYSTEM_ERROR(error))
        return strerror_r(ERR_GET_REASON(error), out, size);
    return reason ? reason : "cannot be used";
}

static char *describe(const struct tls_trust *trust)
{
    char reason[128];
    struct buf text;

    buf_init(&text, 4096);
    buf_putf(&text, "%s: %s", trust->cacert ? trust->cacert : "the system's certificates",
             reason_of_settings(reason, sizeof(reason)));
    ERR_clear_error();
    if (text.is_full)
        buf_clear(&text);
    (void)buf_cstr(&text);
    return text.ptr;
}

enum err tls_client_new(const struct tls_trust *trust, struct tls_client **ret,
                        char **ret_why)
{
    struct tls_client *client = xcalloc(1, sizeof(*client));

    ERR_clear_error();
    client->is_insecure = trust->is_insecure;
    client->settings = SSL_CTX_new(TLS_client_method());
    client->transport = transport_new();
    if (!client->settings || !client->transport ||
        SSL_CTX_set_min_proto_version(client->settings, TLS1_2_VERSION) != 1 ||
        !apply_trust(client->settings, trust)) {
        *ret_why = describe(trust);
        tls_client_free(client);
        return ERR_INVALID;
    }
    apply_settings(client);
    *ret = client;
    return OK;
}

void tls_client_free(struct tls_client *client)
{
    if (!client)
        return;
    SSL_SESSION_free(client->ticket);
    SSL_CTX_free(client->settings);
    BIO_meth_free(client->transport);
    free(client);
}

/* --- sessions --- */

static bool is_address(const char *host)
{
    struct in6_addr address;

    return inet_pton(AF_INET, host, &address) == 1 ||
           inet_pton(AF_INET6, host, &address) == 1;
}

/* A certificate names addresses and names in different places; SNI is for names only. */
static bool expect_host(const struct tls_client *client, SSL *ssl, const char *host)
{
    CLEANUP(xfreep) char *name = NULL;

    if (is_address(host))
        return client->is_insecure ||
               X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    name = xstrdup(host); /* what OpenSSL copies must not be const */
    return SSL_set_tlsext_host_name(ssl, name) == 1 &&
           (client->is_insecure || SSL_set1_host(ssl, name) == 1);
}

enum err tls_session_new(struct tls_client *client, int fd, const char *host,
                         bool resumes, struct tls_session **ret)
{
    SSL *ssl = SSL_new(client->settings);
    struct tls_session *session;

    ERR_clear_error();
    if (!ssl || !expect_host(client, ssl, host) || !give_socket(client, ssl, fd) ||
        (resumes && client->ticket && SSL_set_session(ssl, client->ticket) != 1)) {
        SSL_free(ssl);
        return ERR_IO;
    }
    SSL_set_connect_state(ssl);
    session = xcalloc(1, sizeof(*session));
    session->ssl = ssl;
    *ret = session;
    return OK;
}

/* A session that ends without a farewell would be marked as not to be resumed. */
void tls_session_free(struct tls_session *session)
{
    if (!session)
        return;
    SSL_set_shutdown(session->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(session->ssl);
    free(session);
}

bool tls_session_is_untrusted(const struct tls_session *session)
{
    return SSL_get_verify_mode(session->ssl) != SSL_VERIFY_NONE &&
           SSL_get_verify_result(session->ssl) != X509_V_OK;
}

static const char *reason_of(const struct tls_session *session)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());

    if (tls_session_is_untrusted(session))
        return X509_verify_cert_error_string(SSL_get_verify_result(session->ssl));
    return reason ? reason : "the connection was closed";
}

/* What a call that did not succeed means. */
static enum err judge(struct tls_session *session, int result)
{
    int error = SSL_get_error(session->ssl, result);

    session->wants_write = error == SSL_ERROR_WANT_WRITE;
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return ERR_AGAIN;
    session->why = reason_of(session);
    ERR_clear_error();
    return error == SSL_ERROR_ZERO_RETURN ? ERR_CLOSED : ERR_IO;
}

enum err tls_session_handshake(struct tls_session *session)
{
    int result;

    ERR_clear_error();
    result = SSL_do_handshake(session->ssl);
    if (result == 1)
        return OK;
    return judge(session, result) == ERR_AGAIN ? ERR_AGAIN : ERR_IO;
}

const char *tls_session_why(const struct tls_session *session)
{
    return session->why ? session->why : "";
}

bool tls_session_wants_write(const struct tls_session *session)
{
    return session->wants_write;
}

bool tls_session_is_resumed(const struct tls_session *session)
{
    return SSL_session_reused(session->ssl) == 1;
}

enum err tls_session_read(struct tls_session *session, char *out, size_t size,
                          size_t *ret_len)
{
    int result;

    ERR_clear_error();
    result = SSL_read_ex(session->ssl, out, size, ret_len);
    return result == 1 ? OK : judge(session, result);
}

bool tls_session_has_pending(const struct tls_session *session)
{
    return SSL_has_pending(session->ssl) == 1;
}

enum err tls_session_write(struct tls_session *session, struct str bytes, size_t *ret_len)
{
    int result;

    ERR_clear_error();
    result = SSL_write_ex(session->ssl, bytes.ptr, bytes.len, ret_len);
    return result == 1 ? OK : judge(session, result);
}
