/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors were made by another program (docs/RECORD-FORMAT.md tells how): where one
 * of them changes, records that exist do not verify any more. */
#include "audit/chain.h"
#include "harness.h"

#define INSTALLATION S("0123456789abcdef0123456789abcdef")

static const struct audit_record first = {
    .at_ms = 1763229600000,
    .event = AUDIT_SERVER,
    .kind = S("start"),
    .verdict = S("allowed"),
};

static const struct audit_record second = {
    .at_ms = 1763229600001,
    .event = AUDIT_ENVELOPE,
    .topic = S("room"),
    .participant = S("ann"),
    .kind = S("chat"),
    .id = S("\xc3\xbc"
            "1"),
    .correlation = S("c0"),
    .verdict = S("allowed"),
    .by = S("chat"),
    .body = S("{\"payload\":{\"text\":\"hi\"}}"),
};

static void check_hex(const uint8_t *bytes, size_t len, struct str want)
{
    struct buf text;

    buf_init(&text, 2 * len);
    hex_write(&text, (struct str){ (const char *)bytes, len });
    CHECK_STR(buf_str(&text), want);
    buf_done(&text);
}

static struct audit_head chain_both(void)
{
    struct audit_record a = first, b = second;
    struct audit_head head;

    audit_chain_begin(INSTALLATION, &head);
    audit_seal_body(&a);
    audit_chain(&head, &a);
    audit_seal_body(&b);
    audit_chain(&head, &b);
    return head;
}

TEST(the_canonical_form_is_the_one_written_down)
{
    struct audit_record a = first, b = second;
    struct audit_head head;
    uint8_t hash[SHA256_BYTES];

    audit_chain_begin(INSTALLATION, &head);
    CHECK_INT(head.seq, 0);
    check_hex(head.hash, SHA256_BYTES,
              S("455392d017f3218a3c6f6d690058a7de9b29880c450b8c52172e76ca0c8e3c47"));
    audit_seal_body(&a);
    audit_chain(&head, &a);
    CHECK_INT(a.seq, 1);
    check_hex(a.hash, SHA256_BYTES,
              S("0cf0ccd425686e524e74fea51594fa42348b19cb1d25c4d8e6032ef280bef64d"));
    audit_seal_body(&b);
    b.seq = 2;
    audit_hash(&head, &b, hash);
    audit_chain(&head, &b);
    CHECK(memcmp(hash, b.hash, SHA256_BYTES) == 0);
    check_hex(b.hash, SHA256_BYTES,
              S("20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"));
    CHECK_INT(head.seq, 2);
    CHECK_INT(head.at_ms, 1763229600001);
    CHECK(memcmp(head.hash, b.hash, SHA256_BYTES) == 0);
}

TEST(a_checkpoint_is_the_one_written_down)
{
    struct audit_head head = chain_both();
    struct audit_checkpoint checkpoint;
    uint8_t secret[ED25519_SECRET];
    struct ed25519_key key;

    CHECK_INT(
        hex_parse(S("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
                  secret, sizeof(secret)),
        OK);
    ed25519_from_secret(secret, &key);
    audit_checkpoint_sign(&head, INSTALLATION, &key, &checkpoint);
    check_hex(checkpoint.signature, ED25519_SIGNATURE,
              S("1882d1512ead5d93829a113859cbf638021bf1045be6b9a73f50353e2eb63937"
                "dab63269981389343433dda61c2944ef374b6733c5debf75bb9ef90ea1c07c09"));
    CHECK(audit_checkpoint_holds(&checkpoint, INSTALLATION, key.public));
    CHECK(!audit_checkpoint_holds(&checkpoint, S("other"), key.public));
    checkpoint.head.seq++;
    CHECK(!audit_checkpoint_holds(&checkpoint, INSTALLATION, key.public));
    checkpoint.head.seq--;
    checkpoint.head.at_ms++;
    CHECK(!audit_checkpoint_holds(&checkpoint, INSTALLATION, key.public));
    checkpoint.head.at_ms--;
    checkpoint.head.hash[31] ^= 1;
    CHECK(!audit_checkpoint_holds(&checkpoint, INSTALLATION, key.public));
}

TEST(time_never_goes_back)
{
    struct audit_head head = chain_both();
    struct audit_record record = { .at_ms = 1 };

    audit_chain(&head, &record);
    CHECK_INT(record.at_ms, 1763229600001);
    CHECK_INT(head.at_ms, 1763229600001);
}

TEST(what_stands_where_matters)
{
    struct audit_head head;
    struct audit_record a = { .topic = S("ab"), .participant = S("c") };
    struct audit_record b = { .topic = S("a"), .participant = S("bc") };
    uint8_t one[SHA256_BYTES], other[SHA256_BYTES];

    audit_chain_begin(INSTALLATION, &head);
    audit_hash(&head, &a, one);
    audit_hash(&head, &b, other);
    CHECK(memcmp(one, other, SHA256_BYTES) != 0);
}

TEST(no_body_is_sealed_with_zeros)
{
    struct audit_record record = { .body_bytes = 9, .body_hash = { 9 } };
    static const uint8_t zeros[SHA256_BYTES];

    audit_seal_body(&record);
    CHECK_INT(record.body_bytes, 0);
    CHECK(memcmp(record.body_hash, zeros, SHA256_BYTES) == 0);
    record.body = S("");
    audit_seal_body(&record);
    CHECK(memcmp(record.body_hash, zeros, SHA256_BYTES) == 0);
    record.body = S("abc");
    audit_seal_body(&record);
    CHECK_INT(record.body_bytes, 3);
    check_hex(record.body_hash, SHA256_BYTES,
              S("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

TEST(a_head_as_text_reads_back)
{
    struct audit_head head = chain_both();
    struct audit_head again = {};
    char space[AUDIT_HEAD_TEXT];
    struct str text = audit_head_text(&head, space);

    CHECK_STR(text,
              S("2:20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"));
    CHECK_INT(audit_head_parse(text, &again), OK);
    CHECK_INT(again.seq, 2);
    CHECK(memcmp(head.hash, again.hash, SHA256_BYTES) == 0);
    head.seq = UINT64_MAX;
    CHECK_INT(audit_head_text(&head, space).len, AUDIT_HEAD_TEXT);
}

TEST(what_is_no_head_is_refused)
{
    static const struct str cases[] = {
        S(""),
        S("2"),
        S("2:"),
        S(":20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"),
        S("-2:20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"),
        S("2:20B3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"),
        S("2:20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a"),
        S("2:20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2 "),
        S("99999999999999999999:20b3cc57d33511e1d8eca5dc76a57c29c088d3e9d1675bb6c944edf69332e2a2"),
    };
    struct audit_head head = { .seq = 7 };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(audit_head_parse(*c, &head), ERR_INVALID);
    CHECK_INT(head.seq, 7);
}
