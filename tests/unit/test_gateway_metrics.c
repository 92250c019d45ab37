/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/metrics.h"
#include "harness.h"

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!(name.ptr[i] >= 'a' && name.ptr[i] <= 'z') && name.ptr[i] != '_')
            return false;
    return str_starts(name, S("moot_"));
}

/* The text format of Prometheus 0.0.4: HELP, TYPE and one sample for each metric. */
static void check_metric(struct str *rest, uint64_t value)
{
    struct str help = str_cut(rest, '\n'), type = str_cut(rest, '\n');
    struct str sample = str_cut(rest, '\n');
    struct str name = str_cut(&sample, ' ');
    uint64_t got = 0;

    CHECK(is_name(name));
    CHECK(str_starts(help, S("# HELP ")));
    help = str_slice(help, 7, help.len);
    CHECK_STR(str_cut(&help, ' '), name);
    CHECK(str_ends(help, S(".")));
    CHECK_INT(str_find(help, '\\', 0), help.len); /* would have to be escaped */
    CHECK(str_starts(type, S("# TYPE ")));
    type = str_slice(type, 7, type.len);
    CHECK_STR(str_cut(&type, ' '), name);
    CHECK_STR(type, str_ends(name, S("_total")) ? S("counter") : S("gauge"));
    CHECK_INT(str_to_u64(sample, UINT64_MAX, &got), OK);
    CHECK_INT(got, value);
}

TEST(metrics_are_well_formed_and_each_has_its_own_value)
{
    struct metrics metrics = {};
    uint64_t *values = (uint64_t *)&metrics;
    size_t count = offsetof(struct metrics, refused_by) / sizeof(*values);
    struct str rest;
    struct buf out;

    for (size_t i = 0; i < count; i++)
        values[i] = i * 1000 + 7;
    values[0] = UINT64_MAX;
    buf_init(&out, 1 << 20);
    metrics_write(&metrics, &out);
    CHECK(!out.is_full);
    CHECK(str_ends(buf_str(&out), S("\n")));
    rest = buf_str(&out);
    for (size_t i = 0; i < count; i++)
        check_metric(&rest, values[i]);
    CHECK(str_starts(rest, S("# HELP moot_violations_total ")));
    buf_done(&out);
}

TEST(violations_are_counted_by_error)
{
    struct str want = S("# TYPE moot_violations_total counter\n"
                        "moot_violations_total{error=\"reserved_namespace\"} 1\n"
                        "moot_violations_total{error=\"from_mismatch\"} 0\n"
                        "moot_violations_total{error=\"capability_violation\"} 2\n"
                        "moot_violations_total{error=\"kind_payload_mismatch\"} 3\n");
    struct metrics metrics = {}, total = {};
    struct buf out;

    metrics_count_verdict(&metrics, OK);
    metrics_count_verdict(&metrics, ERR_RATE_LIMITED);
    metrics_count_verdict(&metrics, ERR_RESERVED_NAMESPACE);
    for (size_t i = 0; i < 2; i++)
        metrics_count_verdict(&metrics, ERR_CAPABILITY_VIOLATION);
    for (size_t i = 0; i < 3; i++)
        metrics_count_verdict(&metrics, ERR_KIND_PAYLOAD_MISMATCH);
    metrics_add(&total, &metrics);
    CHECK_INT(total.envelopes_admitted, 1);
    CHECK_INT(total.envelopes_refused, 7);
    buf_init(&out, 1 << 20);
    metrics_write(&total, &out);
    CHECK(str_ends(buf_str(&out), want));
    buf_done(&out);
}

TEST(no_two_metrics_have_one_name)
{
#define NAME(field, type, name, help) S(name),
    static const struct str names[] = { METRICS_LIST(NAME) };
#undef NAME

    FOR_EACH_CASE(a, names)
        for (const struct str *b = names; b < a; b++)
            CHECK(!str_eq(*a, *b));
}

TEST(the_sum_over_workers_is_field_by_field)
{
    struct metrics total = { .requests = 1, .topics = 2 };
    struct metrics part = { .requests = 10, .members = 5, .http_connections = 3 };

    metrics_add(&total, &part);
    metrics_add(&total, &part);
    CHECK_INT(total.requests, 21);
    CHECK_INT(total.topics, 2);
    CHECK_INT(total.members, 10);
    CHECK_INT(total.http_connections, 6);
    CHECK_INT(total.connections_accepted, 0);
}
