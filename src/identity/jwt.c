/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/jwt.h"

#include "base/cleanup.h"
#include "crypto/crypto.h"
#include "json/json.h"

enum { TIME_DIGITS = 12 }; /* of a NumericDate: beyond the year 9999 */

/* header.claims.signature, each still base64url; `signed_part` is the first two. */
struct parts {
    struct str header, claims, signature;
    struct str signed_part;
};

static bool is_base64url(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_alnum =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

        if (!is_alnum && c != '-' && c != '_')
            return false;
    }
    return text.len > 0;
}

static bool split(struct str text, struct parts *ret)
{
    struct str rest = text;

    if (text.len > JWT_MAX_BYTES)
        return false;
    ret->header = str_cut(&rest, '.');
    ret->claims = str_cut(&rest, '.');
    ret->signature = rest;
    ret->signed_part = str_slice(text, 0, ret->header.len + 1 + ret->claims.len);
    return rest.ptr && is_base64url(ret->header) && is_base64url(ret->claims) &&
           is_base64url(ret->signature);
}

bool jwt_is_likely(struct str text)
{
    struct parts parts;

    return split(text, &parts);
}

static enum err refuse(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_UNAUTHORIZED;
}

/* The object that a part stands for, or NULL. */
static const struct json *object_of(struct str part, struct arena *arena)
{
    CLEANUP(buf_done) struct buf bytes;
    const struct json *json = NULL;
    struct str text;

    buf_init(&bytes, JWT_MAX_BYTES);
    if (base64url_parse(part, &bytes))
        return NULL;
    text = arena_str(arena, buf_str(&bytes));
    if (!text.ptr || json_parse(text, arena, &json, NULL) || json->type != JSON_OBJECT)
        return NULL;
    return json;
}

static const struct json *header_of(const struct parts *parts, struct arena *arena,
                                    const char **ret_why)
{
    const struct json *header = object_of(parts->header, arena);

    if (!header)
        *ret_why = "The header of the JWT is no JSON object.";
    if (!json_find(header, S("crit")))
        return header;
    *ret_why = "The JWT has critical extensions that are not known.";
    return NULL;
}

bool jwt_names_secret(struct str text)
{
    CLEANUP(arena_done) struct arena arena;
    struct parts parts;

    arena_init(&arena, JWT_ARENA);
    return split(text, &parts) &&
           str_starts(json_text(json_find(object_of(parts.header, &arena), S("alg"))),
                      S("HS"));
}

static enum err check_mac(const struct parts *parts, struct str secret,
                          const char **ret_why)
{
    CLEANUP(buf_done) struct buf given;
    uint8_t wanted[SHA256_BYTES];
    bool is_equal;

    buf_init(&given, SHA256_BYTES);
    crypto_hmac_sha256(secret, parts->signed_part, wanted);
    is_equal = base64url_parse(parts->signature, &given) == OK &&
               given.len == sizeof(wanted) &&
               crypto_equal(given.ptr, wanted, sizeof(wanted));
    crypto_wipe(wanted, sizeof(wanted));
    return is_equal ? OK : refuse(ret_why, "The signature of the JWT does not fit.");
}

static enum err check_by_secret(const struct parts *parts, struct str secret,
                                struct arena *arena, const char **ret_why)
{
    enum err err = check_mac(parts, secret, ret_why);
    const struct json *header = err ? NULL : header_of(parts, arena, ret_why);

    if (!header)
        return ERR_UNAUTHORIZED;
    if (!str_eq(json_text(json_find(header, S("alg"))), S("HS256")))
        return refuse(ret_why, "The JWT must be signed with HS256.");
    return OK;
}

static enum err check_by_keys(const struct parts *parts, const struct jwks *keys,
                              struct arena *arena, const char **ret_why)
{
    const struct json *header = header_of(parts, arena, ret_why);
    CLEANUP(buf_done) struct buf bytes;
    enum err err;

    buf_init(&bytes, JWT_MAX_BYTES);
    if (!header)
        return ERR_UNAUTHORIZED;
    if (base64url_parse(parts->signature, &bytes))
        return refuse(ret_why, "The signature of the JWT does not fit.");
    err = jwks_verify(keys, &(struct jwks_signature){
                                .algorithm = json_text(json_find(header, S("alg"))),
                                .kid = json_text(json_find(header, S("kid"))),
                                .text = parts->signed_part,
                                .signature = buf_str(&bytes) });
    if (err == ERR_NOT_FOUND)
        *ret_why = "The JWT is signed with a key that its issuer does not publish.";
    else if (err)
        *ret_why = "The signature of the JWT does not fit.";
    return err;
}

/* A NumericDate: seconds since 1970, perhaps with a fraction, which is dropped. */
static bool read_time(const struct json *claim, uint64_t *ret_ms)
{
    uint64_t seconds;
    struct str text, whole;

    if (!claim || claim->type != JSON_NUMBER)
        return false;
    text = claim->text;
    whole = str_cut(&text, '.');
    if (whole.len > TIME_DIGITS || str_to_u64(whole, UINT64_MAX / 1000, &seconds))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false; /* an exponent */
    *ret_ms = seconds * 1000;
    return true;
}

/* Must have come: `nbf` and `iat`, where there is one. */
static bool has_come(const struct json *claim, uint64_t wall_ms)
{
    uint64_t ms;

    return !claim || (read_time(claim, &ms) && ms <= wall_ms + JWT_LEEWAY_MS);
}

static enum err check_times(const struct json *claims, uint64_t wall_ms,
                            uint64_t *ret_expires_ms, const char **ret_why)
{
    if (!read_time(json_find(claims, S("exp")), ret_expires_ms))
        return refuse(ret_why, "The JWT must say when it expires (exp).");
    if (wall_ms >= *ret_expires_ms + JWT_LEEWAY_MS)
        return refuse(ret_why, "The JWT has expired.");
    if (!has_come(json_find(claims, S("nbf")), wall_ms))
        return refuse(ret_why, "The JWT is not valid yet (nbf).");
    if (!has_come(json_find(claims, S("iat")), wall_ms))
        return refuse(ret_why, "The JWT was issued in the future (iat).");
    return OK;
}

/* An ID token is the answer to one question, and made out to who asked. */
static enum err check_nonce(const struct json *claims, const struct jwt_terms *terms,
                            const char **ret_why)
{
    const struct json *party = json_find(claims, S("azp"));
    const struct json *audience = json_find(claims, S("aud"));
    bool has_others = audience && audience->type == JSON_ARRAY && audience->count > 1;

    if (terms->nonce.len == 0)
        return OK;
    if (!str_eq_secret(json_text(json_find(claims, S("nonce"))), terms->nonce))
        return refuse(ret_why, "The JWT belongs to another sign-in (nonce).");
    if ((party || has_others) && !str_eq(json_text(party), terms->audience))
        return refuse(ret_why, "The JWT is made out to another client (azp).");
    return OK;
}

static enum err check_claims(const struct json *claims, const struct jwt_terms *terms,
                             uint64_t wall_ms, struct jwt_claims *ret,
                             const char **ret_why)
{
    struct str subject = json_text(json_find(claims, S("sub")));
    uint64_t expires_ms = 0;
    enum err err = check_times(claims, wall_ms, &expires_ms, ret_why);

    if (err)
        return err;
    if (!json_says(json_find(claims, S("aud")), terms->audience)) /* RFC 7519 4.1.3 */
        return refuse(ret_why, "The JWT is not for this gateway (aud).");
    if (terms->issuer.len &&
        !str_eq(json_text(json_find(claims, S("iss"))), terms->issuer))
        return refuse(ret_why, "The JWT comes from somebody else (iss).");
    if (subject.len == 0)
        return refuse(ret_why, "The JWT must say whose it is (sub).");
    err = check_nonce(claims, terms, ret_why);
    if (!err)
        *ret = (struct jwt_claims){ subject, expires_ms, claims };
    return err;
}

static bool may_verify(const struct jwt_terms *terms)
{
    bool has_means = terms->keys ? terms->secret.len == 0 && terms->issuer.len > 0
                                 : terms->secret.len >= JWT_MIN_SECRET;

    return has_means && terms->audience.len > 0;
}

enum err jwt_verify(struct str text, const struct jwt_terms *terms, uint64_t wall_ms,
                    struct arena *arena, struct jwt_claims *ret, const char **ret_why)
{
    const struct json *claims;
    struct parts parts;
    enum err err;

    if (!may_verify(terms))
        return refuse(ret_why, "JWTs are not accepted here.");
    if (!split(text, &parts))
        return refuse(ret_why, "This is no JWT.");
    if (terms->keys)
        err = check_by_keys(&parts, terms->keys, arena, ret_why);
    else
        err = check_by_secret(&parts, terms->secret, arena, ret_why);
    if (err)
        return err;
    claims = object_of(parts.claims, arena);
    if (!claims)
        return refuse(ret_why, "The claims of the JWT are no JSON object.");
    return check_claims(claims, terms, wall_ms, ret, ret_why);
}
