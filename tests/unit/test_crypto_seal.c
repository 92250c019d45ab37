/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "crypto/crypto.h"
#include "harness.h"

static const uint8_t key[SEAL_KEY] = { 1, 2, 3 };

TEST(what_was_sealed_is_opened_again)
{
    static const struct {
        struct str about, bytes;
    } cases[] = {
        { S(""), S("") },
        { S("oauth:files"), S("a token") },
        { S(""), S("\0\xff not text") },
        { S("x"), S("") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf box, opened;

        buf_init(&box, 100);
        buf_init(&opened, 100);
        crypto_seal(key, c->about, c->bytes, &box);
        CHECK_INT(box.len, c->bytes.len + SEAL_MORE);
        CHECK_INT(crypto_open(key, c->about, buf_str(&box), &opened), OK);
        CHECK_STR(buf_str(&opened), c->bytes);
        buf_done(&box);
        buf_done(&opened);
    }
}

TEST(a_box_is_aes_256_gcm)
{
    static const uint8_t zeros[SEAL_KEY] = {};
    uint8_t box[12 + 16 + 16];
    struct buf opened;

    /* Test case 14 of the GCM specification: zero key, nonce and text. */
    memset(box, 0, 12);
    CHECK_INT(
        hex_parse(S("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
                  box + 12, 32),
        OK);
    buf_init(&opened, 100);
    CHECK_INT(crypto_open(zeros, S(""), (struct str){ (const char *)box, sizeof(box) },
                          &opened),
              OK);
    CHECK_STR(buf_str(&opened), S("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
    buf_done(&opened);
}

TEST(every_changed_byte_is_noticed_and_nothing_comes_out)
{
    struct buf box, opened;

    buf_init(&box, 100);
    buf_init(&opened, 100);
    crypto_seal(key, S("about"), S("secret"), &box);
    for (size_t i = 0; i < box.len; i++) {
        box.ptr[i] ^= 1;
        CHECK_INT(crypto_open(key, S("about"), buf_str(&box), &opened), ERR_INVALID);
        CHECK_INT(opened.len, 0);
        box.ptr[i] ^= 1;
    }
    for (size_t len = 0; len < box.len; len++)
        CHECK_INT(crypto_open(key, S("about"), str_slice(buf_str(&box), 0, len), &opened),
                  ERR_INVALID);
    CHECK_INT(crypto_open(key, S("about"), buf_str(&box), &opened), OK);
    buf_done(&box);
    buf_done(&opened);
}

TEST(another_key_or_another_purpose_opens_nothing)
{
    static const uint8_t other[SEAL_KEY] = { 1, 2, 4 };
    struct buf box, opened;

    buf_init(&box, 100);
    buf_init(&opened, 100);
    crypto_seal(key, S("oauth:a"), S("secret"), &box);
    CHECK_INT(crypto_open(other, S("oauth:a"), buf_str(&box), &opened), ERR_INVALID);
    CHECK_INT(crypto_open(key, S("oauth:b"), buf_str(&box), &opened), ERR_INVALID);
    CHECK_INT(crypto_open(key, S(""), buf_str(&box), &opened), ERR_INVALID);
    buf_done(&box);
    buf_done(&opened);
}

TEST(two_boxes_of_one_text_differ)
{
    struct buf a, b;

    buf_init(&a, 100);
    buf_init(&b, 100);
    crypto_seal(key, S(""), S("secret"), &a);
    crypto_seal(key, S(""), S("secret"), &b);
    CHECK(!str_eq(buf_str(&a), buf_str(&b)));
    CHECK(memcmp(a.ptr, b.ptr, 12) != 0);
    buf_done(&a);
    buf_done(&b);
}

TEST(what_does_not_fit_is_said)
{
    struct buf box, opened;

    buf_init(&box, SEAL_MORE);
    crypto_seal(key, S(""), S("x"), &box);
    CHECK(box.is_full && box.len == 0);
    buf_done(&box);
    buf_init(&box, 100);
    buf_init(&opened, 3);
    crypto_seal(key, S(""), S("four"), &box);
    CHECK_INT(crypto_open(key, S(""), buf_str(&box), &opened), ERR_TOO_BIG);
    buf_done(&box);
    buf_done(&opened);
}
