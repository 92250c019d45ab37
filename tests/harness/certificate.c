/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

static void add_names(X509 *cert, const char *names)
{
    X509_EXTENSION *extension =
        X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);

    CHECK(extension != NULL);
    CHECK_INT(X509_add_ext(cert, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

static X509 *make(EVP_PKEY *key, const char *names)
{
    X509 *cert = X509_new();
    X509_NAME *name = X509_get_subject_name(cert);

    (void)X509_set_version(cert, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(cert), 0);
    (void)X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    (void)X509_set_pubkey(cert, key);
    (void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                     (const unsigned char *)"localhost", -1, -1, 0);
    (void)X509_set_issuer_name(cert, name);
    if (names)
        add_names(cert, names);
    (void)X509_sign(cert, key, EVP_sha256());
    return cert;
}

static FILE *create(char *name, size_t size, const char *what)
{
    (void)snprintf(name, size, "/tmp/moot-test-%s-XXXXXX", what);
    return fdopen(mkstemp(name), "w");
}

void certificate_init(struct certificate *c, const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = make(key, names);
    FILE *cert_out = create(c->file, sizeof(c->file), "cert");
    FILE *key_out = create(c->key_file, sizeof(c->key_file), "key");

    CHECK_INT(PEM_write_X509(cert_out, cert), 1);
    CHECK_INT(PEM_write_PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL), 1);
    (void)fclose(cert_out);
    (void)fclose(key_out);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void certificate_done(const struct certificate *c)
{
    (void)unlink(c->file);
    (void)unlink(c->key_file);
}
