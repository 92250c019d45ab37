/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS: the settings of a server, and the session of a connection.
 *
 * The session reads and writes through a BIO of our own whose write always succeeds: what
 * the socket does not take becomes the connection's `ciphertext`. So SSL_write() never
 * has to be repeated with the same bytes, and its caller may forget them at once.
 */
#include "net/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/xalloc.h"
#include "net/net_priv.h"

/* Never reached: nothing is pulled while ciphertext waits, and the peer cannot make us
 * answer more than this without reading. */
enum { MAX_CIPHERTEXT = 1024 * 1024 };

struct tls {
    SSL_CTX *settings;
    atomic_uint refs;
};

/* Encrypted keys are refused instead of asking the terminal. */
static int no_password(char *, int, int, void *)
{
    return -1;
}

static int choose_protocol(SSL *, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *offers, unsigned offers_len, void *)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen = NULL;

    if (SSL_select_next_proto(&chosen, out_len, ours, sizeof(ours) - 1, offers,
                              offers_len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static bool apply_settings(SSL_CTX *settings)
{
    (void)SSL_CTX_set_options(settings, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                            SSL_OP_CIPHER_SERVER_PREFERENCE);
    (void)SSL_CTX_set_mode(settings, SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_OFF); /* tickets do */
    SSL_CTX_set_read_ahead(settings, 1);
    SSL_CTX_set_default_passwd_cb(settings, no_password);
    SSL_CTX_set_alpn_select_cb(settings, choose_protocol, NULL);
    return SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(settings, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

static char *describe(const char *what, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    struct buf text;

    buf_init(&text, 4096);
    buf_putf(&text, "%s %s: %s", what, file, reason ? reason : "cannot be used");
    ERR_clear_error();
    if (text.is_full)
        buf_clear(&text);
    (void)buf_cstr(&text);
    return text.ptr;
}

enum err tls_new(const char *certificate, const char *key, struct tls **ret,
                 char **ret_why)
{
    SSL_CTX *settings = SSL_CTX_new(TLS_server_method());
    struct tls *tls;

    ERR_clear_error();
    if (!settings || !apply_settings(settings))
        *ret_why = describe("settings of", "OpenSSL");
    else if (SSL_CTX_use_certificate_chain_file(settings, certificate) != 1)
        *ret_why = describe("certificate", certificate);
    else if (SSL_CTX_use_PrivateKey_file(settings, key, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(settings) != 1)
        *ret_why = describe("key", key);
    else {
        tls = xcalloc(1, sizeof(*tls));
        tls->settings = settings;
        atomic_init(&tls->refs, 1);
        *ret = tls;
        return OK;
    }
    SSL_CTX_free(settings);
    return ERR_INVALID;
}

struct tls *tls_ref(struct tls *tls)
{
    atomic_fetch_add_explicit(&tls->refs, 1, memory_order_relaxed);
    return tls;
}

void tls_unref(struct tls *tls)
{
    if (!tls || atomic_fetch_sub_explicit(&tls->refs, 1, memory_order_acq_rel) > 1)
        return;
    SSL_CTX_free(tls->settings);
    free(tls);
}

static int bio_read(BIO *bio, char *out, int size)
{
    const struct conn *conn = BIO_get_data(bio);
    ssize_t len = recv(conn->io.fd, out, (size_t)size, 0);

    BIO_clear_retry_flags(bio);
    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    return (int)len;
}

static enum err keep_ciphertext(struct conn *conn, struct str bytes)
{
    if (!conn->ciphertext) {
        conn->ciphertext = xmalloc(sizeof(struct buf));
        buf_init(conn->ciphertext, MAX_CIPHERTEXT);
    }
    return buf_append(conn->ciphertext, bytes);
}

static int bio_write(BIO *bio, const char *bytes, int size)
{
    struct conn *conn = BIO_get_data(bio);
    struct str all = { bytes, (size_t)size };
    size_t sent = 0;

    BIO_clear_retry_flags(bio);
    if (!conn->ciphertext && conn_send(conn, all, &sent))
        return -1;
    if (sent < all.len && keep_ciphertext(conn, str_slice(all, sent, all.len)))
        return -1;
    return size;
}

static long bio_ctrl(BIO *, int command, long, void *)
{
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *bio_method;

/* A constant table in all but name: OpenSSL wants it built at run time. */
static void make_bio_method(void)
{
    bio_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "conn");
    if (!bio_method || !BIO_meth_set_read(bio_method, bio_read) ||
        !BIO_meth_set_write(bio_method, bio_write) ||
        !BIO_meth_set_ctrl(bio_method, bio_ctrl))
        abort(); /* out of memory */
}

static BIO *bio_new(struct conn *conn)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    BIO *bio;

    (void)pthread_once(&once, make_bio_method);
    bio = BIO_new(bio_method);
    if (!bio)
        abort(); /* out of memory */
    BIO_set_data(bio, conn);
    BIO_set_init(bio, 1);
    return bio;
}

enum err conn_tls_start(struct conn *conn, struct tls *tls)
{
    BIO *bio;

    conn->ssl = SSL_new(tls->settings);
    if (!conn->ssl)
        return ERR_IO;
    bio = bio_new(conn);
    SSL_set_bio(conn->ssl, bio, bio);
    SSL_set_accept_state(conn->ssl);
    return OK;
}

void conn_tls_bind(struct conn *conn)
{
    BIO_set_data(SSL_get_wbio(conn->ssl), conn);
}

void conn_tls_free(struct ssl_st *ssl)
{
    SSL_free(ssl);
}

/* What a call that did not succeed means for the connection. */
static enum err judge(const struct conn *conn, int result)
{
    int error = SSL_get_error(conn->ssl, result);

    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ)
        return ERR_AGAIN;
    return error == SSL_ERROR_ZERO_RETURN ? ERR_CLOSED : ERR_IO;
}

enum err conn_tls_handshake(struct conn *conn)
{
    int result;

    ERR_clear_error(); /* the queue belongs to the thread, not to the session */
    result = SSL_accept(conn->ssl);
    return result == 1 ? OK : judge(conn, result);
}

enum err conn_tls_read(struct conn *conn, char *buffer, size_t size, size_t *ret_len)
{
    *ret_len = 0;
    ERR_clear_error();
    while (*ret_len < size) {
        size_t len;
        int result = SSL_read_ex(conn->ssl, buffer + *ret_len, size - *ret_len, &len);

        if (result != 1)
            return judge(conn, result);
        *ret_len += len;
    }
    return OK;
}

bool conn_tls_has_pending(const struct conn *conn)
{
    return SSL_has_pending(conn->ssl) == 1;
}

enum err conn_tls_write(struct conn *conn, struct str text)
{
    size_t len;

    ERR_clear_error();
    return SSL_write_ex(conn->ssl, text.ptr, text.len, &len) == 1 ? OK : ERR_IO;
}

void conn_tls_shut(struct conn *conn)
{
    if (SSL_get_shutdown(conn->ssl) & SSL_SENT_SHUTDOWN)
        return;
    ERR_clear_error();
    (void)SSL_shutdown(conn->ssl);
}

enum err conn_tls_flush(struct conn *conn)
{
    size_t sent;
    enum err err = conn_send(conn, buf_str(conn->ciphertext), &sent);

    if (err)
        return err;
    if (sent)
        conn_progress(conn);
    buf_drop(conn->ciphertext, sent);
    if (conn->ciphertext->len == 0)
        conn_buf_free(&conn->ciphertext);
    return OK;
}
