/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/signature.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "crypto/crypto.h"

enum {
    RSA_MIN_BITS = 2048, /* RFC 7518 3.3 */
    RSA_MAX_BITS = 8192, /* what verifying costs grows with it */
    EXPONENT_MAX = 8,
    POINT_MAX = 66, /* bytes of a coordinate: P-521 */
    DER_MAX = 2 * POINT_MAX + 16,
};

struct public_key {
    enum key_kind kind;
    EVP_PKEY *key; /* all but Ed25519 */
    uint8_t ed25519[ED25519_PUBLIC];
};

struct algorithm {
    struct str name;
    enum key_kind kind;
    const char *hash;
    bool is_pss;
};

/* clang-format off */
static const struct algorithm algorithms[] = {
    { S("RS256"), KEY_RSA,     "SHA256", false },
    { S("RS384"), KEY_RSA,     "SHA384", false },
    { S("RS512"), KEY_RSA,     "SHA512", false },
    { S("PS256"), KEY_RSA,     "SHA256", true  },
    { S("PS384"), KEY_RSA,     "SHA384", true  },
    { S("PS512"), KEY_RSA,     "SHA512", true  },
    { S("ES256"), KEY_P256,    "SHA256", false },
    { S("ES384"), KEY_P384,    "SHA384", false },
    { S("ES512"), KEY_P521,    "SHA512", false },
    { S("EdDSA"), KEY_ED25519, NULL,     false },
    { S("Ed25519"), KEY_ED25519, NULL,   false },
};

static const struct {
    const char *name;
    size_t bytes; /* of a coordinate */
} curves[] = {
    [KEY_P256] = { "P-256", 32 },
    [KEY_P384] = { "P-384", 48 },
    [KEY_P521] = { "P-521", 66 },
};
/* clang-format on */

static const struct algorithm *algorithm_of(const struct public_key *key, struct str name)
{
    for (size_t i = 0; i < COUNT(algorithms); i++)
        if (str_eq(algorithms[i].name, name) && algorithms[i].kind == key->kind)
            return &algorithms[i];
    return NULL;
}

static const uint8_t *bytes_of(struct str s)
{
    return (const uint8_t *)s.ptr;
}

/* --- keys --- */

static EVP_PKEY *key_from(const char *type, OSSL_PARAM_BLD *numbers)
{
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(numbers);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;

    if (!params || !context || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    return key;
}

/* The number may have zeros before it, which do not count. */
static bool is_rsa(const BIGNUM *n, const BIGNUM *e)
{
    return n && e && BN_num_bits(n) >= RSA_MIN_BITS && BN_num_bits(n) <= RSA_MAX_BITS &&
           BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e);
}

static EVP_PKEY *rsa_new(const struct key_numbers *numbers)
{
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *n = NULL, *e = NULL;
    EVP_PKEY *key = NULL;

    if (numbers->n.len <= RSA_MAX_BITS / 8 + 1 && numbers->e.len <= EXPONENT_MAX) {
        n = BN_bin2bn(bytes_of(numbers->n), (int)numbers->n.len, NULL);
        e = BN_bin2bn(bytes_of(numbers->e), (int)numbers->e.len, NULL);
    }
    if (build && is_rsa(n, e) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e))
        key = key_from("RSA", build);
    BN_free(n);
    BN_free(e);
    OSSL_PARAM_BLD_free(build);
    return key;
}

/* That the point is on the curve is what libcrypto sees to. */
static EVP_PKEY *curve_new(const struct key_numbers *numbers)
{
    size_t bytes = curves[numbers->kind].bytes;
    uint8_t point[1 + 2 * POINT_MAX] = { POINT_CONVERSION_UNCOMPRESSED };
    OSSL_PARAM_BLD *build;
    EVP_PKEY *key = NULL;

    if (numbers->x.len != bytes || numbers->y.len != bytes)
        return NULL;
    memcpy(point + 1, numbers->x.ptr, bytes);
    memcpy(point + 1 + bytes, numbers->y.ptr, bytes);
    build = OSSL_PARAM_BLD_new();
    if (build &&
        OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME,
                                        curves[numbers->kind].name, 0) &&
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point,
                                         1 + 2 * bytes))
        key = key_from("EC", build);
    OSSL_PARAM_BLD_free(build);
    return key;
}

enum err public_key_new(const struct key_numbers *numbers, struct public_key **ret)
{
    struct public_key made = { .kind = numbers->kind };

    switch (numbers->kind) {
    case KEY_RSA: made.key = rsa_new(numbers); break;
    case KEY_P256:
    case KEY_P384:
    case KEY_P521: made.key = curve_new(numbers); break;
    case KEY_ED25519:
        if (numbers->x.len != ED25519_PUBLIC)
            return ERR_INVALID;
        memcpy(made.ed25519, numbers->x.ptr, ED25519_PUBLIC);
        break;
    }
    if (numbers->kind != KEY_ED25519 && !made.key)
        return ERR_INVALID;
    *ret = xmalloc(sizeof(**ret));
    **ret = made;
    return OK;
}

void public_key_free(struct public_key *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->key);
    free(key);
}

bool public_key_fits(const struct public_key *key, struct str algorithm)
{
    return algorithm_of(key, algorithm) != NULL;
}

/* --- verifying --- */

/* R and S one behind the other (RFC 7518 3.4), as libcrypto wants them. 0: they are none.
 */
static size_t der_of(struct str signature, size_t bytes, uint8_t der[static DER_MAX])
{
    ECDSA_SIG *pair;
    BIGNUM *r, *s;
    uint8_t *at = der;
    int len = 0;

    if (signature.len != 2 * bytes)
        return 0;
    pair = ECDSA_SIG_new();
    r = BN_bin2bn(bytes_of(signature), (int)bytes, NULL);
    s = BN_bin2bn(bytes_of(signature) + bytes, (int)bytes, NULL);
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s)) {
        if (i2d_ECDSA_SIG(pair, NULL) <= DER_MAX)
            len = i2d_ECDSA_SIG(pair, &at);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(pair);
    return len > 0 ? (size_t)len : 0;
}

static bool set_padding(EVP_PKEY_CTX *context, const struct algorithm *algorithm)
{
    if (algorithm->kind != KEY_RSA)
        return true;
    if (!algorithm->is_pss)
        return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1;
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

static bool verify(const struct public_key *key, const struct algorithm *algorithm,
                   struct str text, struct str signature)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *terms = NULL; /* the context's */
    bool is_good = context &&
                   EVP_DigestVerifyInit_ex(context, &terms, algorithm->hash, NULL, NULL,
                                           key->key, NULL) == 1 &&
                   set_padding(terms, algorithm) &&
                   EVP_DigestVerify(context, bytes_of(signature), signature.len,
                                    bytes_of(text), text.len) == 1;

    EVP_MD_CTX_free(context);
    return is_good;
}

bool public_key_verify(const struct public_key *key, struct str algorithm,
                       struct str text, struct str signature)
{
    const struct algorithm *found = algorithm_of(key, algorithm);
    uint8_t der[DER_MAX];
    size_t len;

    if (!found)
        return false;
    switch (key->kind) {
    case KEY_RSA: return verify(key, found, text, signature);
    case KEY_P256:
    case KEY_P384:
    case KEY_P521:
        len = der_of(signature, curves[key->kind].bytes, der);
        return len && verify(key, found, text, (struct str){ (char *)der, len });
    case KEY_ED25519:
        return signature.len == ED25519_SIGNATURE &&
               ed25519_verify(key->ed25519, text, bytes_of(signature));
    }
    return false;
}
