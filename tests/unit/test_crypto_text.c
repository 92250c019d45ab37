/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/crypto.h"
#include "harness.h"

TEST(base64_is_that_of_rfc_4648)
{
    static const struct {
        struct str bytes, text;
    } cases[] = {
        { S(""), S("") },
        { S("f"), S("Zg==") },
        { S("fo"), S("Zm8=") },
        { S("foo"), S("Zm9v") },
        { S("foob"), S("Zm9vYg==") },
        { S("fooba"), S("Zm9vYmE=") },
        { S("foobar"), S("Zm9vYmFy") },
        { S("\xfb\xff"), S("+/8=") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 100);
        base64_write(&out, c->bytes);
        CHECK_STR(buf_str(&out), c->text);
        buf_clear(&out);
        CHECK_INT(base64_parse(c->text, &out), OK);
        CHECK_STR(buf_str(&out), c->bytes);
        buf_done(&out);
    }
}

TEST(base64_that_is_not_canonical_is_refused)
{
    static const struct str cases[] = {
        S("Zg"),   S("Zg="),      S("Zg==="), S("Zh=="), S("Zm9="), S("Z==="),
        S("===="), S("Zg==Zg=="), S("Zm9\n"), S("Zm-_"), S(" Zg="),
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 100);
        CHECK_INT(base64_parse(*c, &out), ERR_INVALID);
        buf_done(&out);
    }
}

TEST(the_hashes_are_the_known_ones)
{
    uint8_t hash[SHA256_BYTES];
    struct buf out;

    buf_init(&out, 200);
    crypto_sha256(S("abc"), hash);
    hex_write(&out, (struct str){ (const char *)hash, sizeof(hash) });
    CHECK_STR(buf_str(&out),
              S("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    buf_clear(&out);
    crypto_hmac_sha256(S("Jefe"), S("what do ya want for nothing?"), hash);
    hex_write(&out, (struct str){ (const char *)hash, sizeof(hash) });
    CHECK_STR(buf_str(&out),
              S("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
    buf_clear(&out);
    crypto_sha1(S("abc"), hash);
    hex_write(&out, (struct str){ (const char *)hash, SHA1_BYTES });
    CHECK_STR(buf_str(&out), S("a9993e364706816aba3e25717850c26c9cd0d89d"));
    buf_done(&out);
}
