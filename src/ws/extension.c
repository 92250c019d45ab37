/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Negotiation of permessage-deflate (RFC 7692 5 and 7.1). The grammar of the header is
 * that of RFC 6455 9.1:
 *
 *     permessage-deflate; server_max_window_bits=10, permessage-deflate; …
 *     `------------------- offer ------------------'
 */
#include <string.h>

#include "base/cleanup.h"
#include "ws/deflate.h"

enum { LEAST_BITS = 8, LEAST_ZLIB_BITS = 9, MOST_BITS = 15 };

enum param {
    PARAM_SERVER_RESET = 1 << 0,
    PARAM_CLIENT_RESET = 1 << 1,
    PARAM_SERVER_BITS = 1 << 2,
    PARAM_CLIENT_BITS = 1 << 3,
};

enum value { VALUE_NONE, VALUE_BITS, VALUE_MAYBE_BITS };

/* clang-format off */
static const struct {
    struct str name;
    enum param param;
    enum value value;
} params[] = {
    { { "server_no_context_takeover", 26 }, PARAM_SERVER_RESET, VALUE_NONE },
    { { "client_no_context_takeover", 26 }, PARAM_CLIENT_RESET, VALUE_NONE },
    { { "server_max_window_bits",     22 }, PARAM_SERVER_BITS,  VALUE_BITS },
    { { "client_max_window_bits",     22 }, PARAM_CLIENT_BITS,  VALUE_MAYBE_BITS },
};
/* clang-format on */

struct offer {
    bool is_ours;  /* permessage-deflate, nothing unacceptable so far */
    unsigned seen; /* of enum param */
    int server_bits;
    int client_bits;
};

struct value_text {
    struct str text;
    bool is_given;
};

static void skip_space(struct str *rest)
{
    while (rest->len && (*rest->ptr == ' ' || *rest->ptr == '\t')) {
        rest->ptr++;
        rest->len--;
    }
}

static bool skip_char(struct str *rest, char c)
{
    skip_space(rest);
    if (!rest->len || *rest->ptr != c)
        return false;
    rest->ptr++;
    rest->len--;
    return true;
}

static bool is_token_char(char c)
{
    return c > ' ' && c < 0x7f && !strchr("()<>@,;:\\\"/[]?={}", c);
}

static enum err read_token(struct str *rest, struct str *ret)
{
    size_t len = 0;

    skip_space(rest);
    while (len < rest->len && is_token_char(rest->ptr[len]))
        len++;
    if (len == 0)
        return ERR_BAD_REQUEST;
    *ret = str_slice(*rest, 0, len);
    *rest = str_slice(*rest, len, rest->len);
    return OK;
}

/* A token or a quoted token. Escapes inside the quotes are not resolved: no parameter we
 * know has a value that would need one, so that such an offer is passed over anyway. */
static enum err read_value(struct str *rest, struct str *ret)
{
    size_t len = 0;

    if (!skip_char(rest, '"'))
        return read_token(rest, ret);
    while (len < rest->len && rest->ptr[len] != '"') {
        if (rest->ptr[len] == '\\')
            len++;
        if (len >= rest->len || !is_token_char(rest->ptr[len]))
            return ERR_BAD_REQUEST; /* RFC 6455 9.1: a token after unquoting */
        len++;
    }
    if (len == 0 || len >= rest->len)
        return ERR_BAD_REQUEST;
    *ret = str_slice(*rest, 0, len);
    *rest = str_slice(*rest, len + 1, rest->len);
    return OK;
}

/* RFC 7692 7.1.2.1: 8 to 15, without leading zeros. */
static bool read_bits(struct str text, int *ret)
{
    uint64_t bits;

    if (text.len == 0 || text.ptr[0] == '0' || str_to_u64(text, MOST_BITS, &bits) ||
        bits < LEAST_BITS)
        return false;
    *ret = (int)bits;
    return true;
}

static bool take_param(struct offer *offer, struct str name, struct value_text value)
{
    size_t at = 0;
    int bits = MOST_BITS;

    while (at < COUNT(params) && !str_eq(params[at].name, name))
        at++;
    if (at == COUNT(params) || offer->seen & params[at].param)
        return false;
    offer->seen |= params[at].param;
    if (value.is_given &&
        (params[at].value == VALUE_NONE || !read_bits(value.text, &bits)))
        return false;
    if (!value.is_given && params[at].value == VALUE_BITS)
        return false;
    if (params[at].param == PARAM_SERVER_BITS)
        offer->server_bits = bits;
    if (params[at].param == PARAM_CLIENT_BITS)
        offer->client_bits = bits;
    return true;
}

/* Reads one offer up to the comma behind it. */
static enum err read_offer(struct str *rest, struct offer *ret)
{
    struct offer offer = { .server_bits = MOST_BITS, .client_bits = MOST_BITS };
    struct str name;
    enum err err = read_token(rest, &name);

    if (err)
        return err;
    offer.is_ours = str_eq(name, S("permessage-deflate"));
    while (skip_char(rest, ';')) {
        struct value_text value = {};

        err = read_token(rest, &name);
        if (err)
            return err;
        value.is_given = skip_char(rest, '=');
        if (value.is_given)
            err = read_value(rest, &value.text);
        if (err)
            return err;
        if (!take_param(&offer, name, value))
            offer.is_ours = false;
    }
    *ret = offer;
    return OK;
}

static bool is_acceptable(const struct offer *offer, int min_bits)
{
    return offer->is_ours && offer->server_bits >= min_bits &&
           offer->server_bits >= LEAST_ZLIB_BITS;
}

/* Reads the next offer with the comma behind it. An element of the list may be empty; it
 * reads as an offer that is not ours. */
static enum err next_offer(struct str *rest, struct offer *ret)
{
    struct offer offer = {};
    enum err err;

    if (skip_char(rest, ',')) {
        *ret = offer;
        return OK;
    }
    err = read_offer(rest, &offer);
    if (err)
        return err;
    if (!skip_char(rest, ',') && rest->len)
        return ERR_BAD_REQUEST;
    *ret = offer;
    return OK;
}

enum err ws_extension_choose(struct str offers, int min_bits, struct ws_extension *ret)
{
    struct ws_extension chosen = { .server_bits = MOST_BITS };

    skip_space(&offers);
    while (offers.len) {
        struct offer offer;
        enum err err = next_offer(&offers, &offer);

        if (err)
            return err;
        skip_space(&offers);
        if (chosen.is_on || !is_acceptable(&offer, min_bits))
            continue;
        chosen.is_on = true;
        chosen.server_bits = offer.server_bits;
        chosen.names_server_bits = offer.seen & PARAM_SERVER_BITS;
        /* Never more than a client said it would use. */
        chosen.names_client_bits =
            offer.seen & PARAM_CLIENT_BITS && offer.client_bits == MOST_BITS;
    }
    *ret = chosen;
    return OK;
}

void ws_extension_write(struct buf *out, const struct ws_extension *ext)
{
    buf_put(out, S("permessage-deflate; server_no_context_takeover; "
                   "client_no_context_takeover"));
    if (ext->names_server_bits) {
        buf_put(out, S("; server_max_window_bits="));
        buf_putu(out, (uint64_t)ext->server_bits);
    }
    if (ext->names_client_bits)
        buf_put(out, S("; client_max_window_bits=15"));
}
