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

TEST(a_box_is_xchacha20_poly1305)
{
    /* draft-irtf-cfrg-xchacha-03, A.3.1: nonce, ciphertext, tag. */
    static const struct str known = S(
        "404142434445464748494a4b4c4d4e4f5051525354555657"
        "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa644"
        "0bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e"
        "3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52e"
        "c0875924c1c7987947deafd8780acf49");
    static const struct str text = S(
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for "
        "the future, sunscreen would be it.");
    static const struct str about = S("PQRS\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7");
    uint8_t box[154], secret[SEAL_KEY];
    struct buf opened;

    for (size_t i = 0; i < SEAL_KEY; i++)
        secret[i] = (uint8_t)(0x80 + i);
    CHECK_INT(hex_parse(known, box, sizeof(box)), OK);
    buf_init(&opened, 200);
    CHECK_INT(crypto_open(secret, about, (struct str){ (const char *)box, sizeof(box) },
                          &opened),
              OK);
    CHECK_STR(buf_str(&opened), text);
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
