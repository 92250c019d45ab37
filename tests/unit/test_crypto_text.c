/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

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

TEST(base64_for_urls_has_no_padding_and_one_spelling)
{
    static const struct {
        struct str bytes, text;
    } cases[] = {
        { S(""), S("") },        { S("f"), S("Zg") },        { S("fo"), S("Zm8") },
        { S("foo"), S("Zm9v") }, { S("foob"), S("Zm9vYg") }, { S("\xfb\xff"), S("-_8") },
    };
    static const struct str wrong[] = {
        S("Z"),   S("Zg=="),  S("Zg="),  S("Zh"),    S("Zm9"),
        S("+/8"), S("Zm9vY"), S("Zm 9"), S("Zm9\n"),
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 100);
        base64url_write(&out, c->bytes);
        CHECK_STR(buf_str(&out), c->text);
        buf_clear(&out);
        CHECK_INT(base64url_parse(c->text, &out), OK);
        CHECK_STR(buf_str(&out), c->bytes);
        buf_done(&out);
    }
    FOR_EACH_CASE(c, wrong) {
        struct buf out;

        buf_init(&out, 100);
        CHECK_INT(base64url_parse(*c, &out), ERR_INVALID);
        buf_done(&out);
    }
}

TEST(the_hashes_are_the_known_ones)
{
    uint8_t hash[SHA256_BYTES];
    char long_key[131];
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
    memset(long_key, 0xaa, sizeof(long_key)); /* RFC 4231, test case 6 */
    crypto_hmac_sha256((struct str){ long_key, sizeof(long_key) },
                       S("Test Using Larger Than Block-Size Key - Hash Key First"), hash);
    hex_write(&out, (struct str){ (const char *)hash, sizeof(hash) });
    CHECK_STR(buf_str(&out),
              S("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
    buf_clear(&out);
    crypto_hmac_sha256(S(""), S(""), hash);
    hex_write(&out, (struct str){ (const char *)hash, sizeof(hash) });
    CHECK_STR(buf_str(&out),
              S("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"));
    buf_clear(&out);
    crypto_sha1(S("abc"), hash);
    hex_write(&out, (struct str){ (const char *)hash, SHA1_BYTES });
    CHECK_STR(buf_str(&out), S("a9993e364706816aba3e25717850c26c9cd0d89d"));
    buf_done(&out);
}

TEST(random_bytes_fill_all_and_differ)
{
    static uint8_t first[4096], second[4096]; /* more than the kernel gives at once */
    int zeros = 0;

    crypto_random(first, sizeof(first));
    crypto_random(second, sizeof(second));
    CHECK(memcmp(first, second, sizeof(first)) != 0);
    for (size_t i = sizeof(first) - 256; i < sizeof(first); i++)
        zeros += first[i] == 0;
    CHECK(zeros < 32);
    crypto_random(first, 0);
}

TEST(a_hash_of_parts_is_that_of_the_whole)
{
    struct str parts[] = { S("a"), {}, S("b"), S(""), S("c") };
    uint8_t whole[SHA256_BYTES], hash[SHA256_BYTES];

    crypto_sha256(S("abc"), whole);
    crypto_sha256_parts(parts, 5, hash);
    CHECK(crypto_equal(whole, hash, SHA256_BYTES));
    crypto_sha256(S(""), whole);
    crypto_sha256_parts(NULL, 0, hash);
    CHECK(crypto_equal(whole, hash, SHA256_BYTES));
}

TEST(hex_has_small_digits_and_the_right_length)
{
    static const struct str bad[] = { S(""),      S("00"),   S("000"),
                                      S("00000"), S("00fF"), S("0g00"),
                                      S("00 0"),  S("0x00"), S("+100") };
    uint8_t bytes[2] = { 7, 7 };

    FOR_EACH_CASE(c, bad) {
        CHECK_INT(hex_parse(*c, bytes, 2), ERR_INVALID);
        CHECK(bytes[0] == 7 && bytes[1] == 7);
    }
    CHECK_INT(hex_parse(S("0af9"), bytes, 2), OK);
    CHECK(bytes[0] == 0x0a && bytes[1] == 0xf9);
    CHECK_INT(hex_parse(S(""), bytes, 0), OK);
}

/* RFC 8032 7.1 */
TEST(signatures_are_those_of_rfc_8032)
{
    static const struct {
        struct str secret, public, text, signature;
    } cases[] = {
        { S("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
          S("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"), S(""),
          S("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b") },
        { S("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"),
          S("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"),
          S("\xaf\x82"),
          S("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a") },
    };

    FOR_EACH_CASE(c, cases) {
        uint8_t secret[ED25519_SECRET], public[ED25519_PUBLIC];
        uint8_t want[ED25519_SIGNATURE], signature[ED25519_SIGNATURE];
        struct ed25519_key key;

        CHECK_INT(hex_parse(c->secret, secret, sizeof(secret)), OK);
        CHECK_INT(hex_parse(c->public, public, sizeof(public)), OK);
        CHECK_INT(hex_parse(c->signature, want, sizeof(want)), OK);
        ed25519_from_secret(secret, &key);
        CHECK(crypto_equal(key.public, public, sizeof(public)));
        CHECK(crypto_equal(key.secret, secret, sizeof(secret)));
        ed25519_sign(&key, c->text, signature);
        CHECK(crypto_equal(signature, want, sizeof(want)));
        CHECK(ed25519_verify(public, c->text, signature));
    }
}

TEST(a_signature_holds_for_its_text_and_key_alone)
{
    uint8_t signature[ED25519_SIGNATURE];
    struct ed25519_key key, other;

    ed25519_make(&key);
    ed25519_make(&other);
    CHECK(!crypto_equal(key.secret, other.secret, ED25519_SECRET));
    ed25519_sign(&key, S("text"), signature);
    CHECK(ed25519_verify(key.public, S("text"), signature));
    CHECK(!ed25519_verify(key.public, S("texT"), signature));
    CHECK(!ed25519_verify(other.public, S("text"), signature));
    for (size_t bit = 0; bit < 8 * sizeof(signature); bit++) {
        signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(!ed25519_verify(key.public, S("text"), signature));
        signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}
