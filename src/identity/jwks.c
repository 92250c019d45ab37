/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/jwks.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "crypto/crypto.h"
#include "crypto/signature.h"
#include "json/json.h"

enum { TREE_BYTES = 8 << 20, NUMBER_BYTES = 2048, TEXT_MAX = 512 };

struct jwk {
    struct public_key *key;
    char *kid;       /* "": was not said */
    char *algorithm; /* likewise */
};

struct jwks {
    size_t count;
    struct jwk keys[];
};

static enum err bad(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_INVALID;
}

/* --- one key --- */

/* A number of the key, as bytes in the arena; ptr NULL: it is none. */
static struct str number_of(const struct json *key, struct str name, struct arena *arena)
{
    CLEANUP(buf_done) struct buf bytes;
    struct str text = json_text(json_find(key, name));

    buf_init(&bytes, NUMBER_BYTES);
    if (text.len == 0 || base64url_parse(text, &bytes) || bytes.is_full)
        return (struct str){};
    return arena_str(arena, buf_str(&bytes));
}

static bool kind_of(const struct json *key, enum key_kind *ret)
{
    static const struct {
        struct str kty, crv;
        enum key_kind kind;
    } kinds[] = {
        { S("RSA"), S(""), KEY_RSA },
        { S("EC"), S("P-256"), KEY_P256 },
        { S("EC"), S("P-384"), KEY_P384 },
        { S("EC"), S("P-521"), KEY_P521 },
        { S("OKP"), S("Ed25519"), KEY_ED25519 },
    };
    struct str kty = json_text(json_find(key, S("kty")));
    struct str crv = json_text(json_find(key, S("crv")));

    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (!str_eq(kty, kinds[i].kty) || !str_eq(crv, kinds[i].crv))
            continue;
        *ret = kinds[i].kind;
        return true;
    }
    return false;
}

/* Is it for verifying, as far as it says so (RFC 7517 4.2 and 4.3)? */
static bool is_for_signatures(const struct json *key)
{
    const struct json *use = json_find(key, S("use"));
    const struct json *operations = json_find(key, S("key_ops"));

    if (use && !str_eq(json_text(use), S("sig")))
        return false;
    if (!operations)
        return true;
    if (operations->type != JSON_ARRAY)
        return false;
    JSON_FOREACH(item, operations)
        if (str_eq(json_text(item), S("verify")))
            return true;
    return false;
}

/* A text that may be missing, but is nothing else than a text. */
static bool take_text(const struct json *key, struct str name, struct str *ret)
{
    const struct json *member = json_find(key, name);

    *ret = json_text(member);
    return !member || (member->type == JSON_STRING && ret->len && ret->len <= TEXT_MAX);
}

static bool read_key(const struct json *item, struct arena *arena, struct jwk *ret)
{
    struct key_numbers numbers = {};
    struct str kid, algorithm;

    if (item->type != JSON_OBJECT || !kind_of(item, &numbers.kind) ||
        !is_for_signatures(item) || !take_text(item, S("kid"), &kid) ||
        !take_text(item, S("alg"), &algorithm))
        return false;
    numbers.n = number_of(item, S("n"), arena);
    numbers.e = number_of(item, S("e"), arena);
    numbers.x = number_of(item, S("x"), arena);
    numbers.y = number_of(item, S("y"), arena);
    if (public_key_new(&numbers, &ret->key))
        return false;
    ret->kid = str_dup(kid);
    ret->algorithm = str_dup(algorithm);
    return true;
}

/* --- the set --- */

enum err jwks_parse(struct str text, struct jwks **ret, const char **ret_why)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *list;
    struct jwks *set;

    arena_init(&arena, TREE_BYTES);
    if (text.len > JWKS_MAX_BYTES)
        return bad(ret_why, "the set of keys is too large");
    if (json_parse(text, &arena, &root, NULL))
        return bad(ret_why, "the set of keys is no JSON");
    list = json_find(root, S("keys"));
    if (!list || list->type != JSON_ARRAY)
        return bad(ret_why, "the set of keys has no \"keys\"");
    set = xcalloc(1, sizeof(*set) + JWKS_MAX_KEYS * sizeof(set->keys[0]));
    JSON_FOREACH(item, list)
        if (set->count < JWKS_MAX_KEYS)
            set->count += read_key(item, &arena, &set->keys[set->count]);
    if (set->count == 0) {
        jwks_free(set);
        return bad(ret_why, "the set of keys holds none that is of use");
    }
    *ret = set;
    return OK;
}

void jwks_free(struct jwks *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++) {
        public_key_free(set->keys[i].key);
        free(set->keys[i].kid);
        free(set->keys[i].algorithm);
    }
    free(set);
}

size_t jwks_count(const struct jwks *set)
{
    return set->count;
}

/* A key may be bound to one algorithm, and is never good for those of another kind. */
static bool fits(const struct jwk *key, const struct jwks_signature *signature)
{
    struct str algorithm = str_of(key->algorithm);

    return (signature->kid.len == 0 || str_eq(str_of(key->kid), signature->kid)) &&
           (algorithm.len == 0 || str_eq(algorithm, signature->algorithm)) &&
           public_key_fits(key->key, signature->algorithm);
}

enum err jwks_verify(const struct jwks *set, const struct jwks_signature *signature)
{
    enum err err = ERR_NOT_FOUND;

    for (size_t i = 0; i < set->count; i++) {
        const struct jwk *key = &set->keys[i];

        if (!fits(key, signature))
            continue;
        if (public_key_verify(key->key, signature->algorithm, signature->text,
                              signature->signature))
            return OK;
        if (signature->kid.len)
            err = ERR_UNAUTHORIZED;
    }
    return err;
}
