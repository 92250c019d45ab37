/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "bench/bench.h"
#include "json/json.h"

enum { BAR_WIDTH = 44, COUNT_SIZE = 32 };

/* What can go wrong, in the order in which it is told. */
/* clang-format off */
static const struct fault {
    const char *key;
    const char *words;
    size_t offset;
} faults[] = {
    { "lost",          "lost",                   offsetof(struct bench_result, lost) },
    { "duplicates",    "doubled",                offsetof(struct bench_result, duplicates) },
    { "disorder",      "out of order",           offsetof(struct bench_result, disorder) },
    { "order_differs", "members saw another order", offsetof(struct bench_result, order_differs) },
    { "strays",        "in the wrong topic",     offsetof(struct bench_result, strays) },
    { "errors",        "refused",                offsetof(struct bench_result, errors) },
    { "unchecked",     "too far behind to be checked", offsetof(struct bench_result, churn.unchecked) },
    { "closed",        "connections closed",     offsetof(struct bench_result, closed) },
    { "skipped",       "not sent: the server did not read", offsetof(struct bench_result, skipped) },
};

/* What members did that come and go. */
static const struct fault deeds[] = {
    { "leaves", "left",                 offsetof(struct bench_result, churn.leaves) },
    { "resets", "broke off",            offsetof(struct bench_result, churn.resets) },
    { "stalls", "stalled",              offsetof(struct bench_result, churn.stalls) },
    { "slow",   "closed as too slow",   offsetof(struct bench_result, churn.slow) },
    { "warned", "warned of it",         offsetof(struct bench_result, churn.warned) },
};

static const struct percentile {
    const char *key;
    const char *words;
    double percent;
} percentiles[] = {
    { "p50",  "p50",   50   },
    { "p90",  "p90",   90   },
    { "p99",  "p99",   99   },
    { "p999", "p99.9", 99.9 },
    { "max",  "max",   100  },
};
/* clang-format on */

static uint64_t fault_count(const struct bench_result *result, const struct fault *fault)
{
    return *(const uint64_t *)(const void *)((const char *)result + fault->offset);
}

static double per(double amount, double count)
{
    return count > 0 ? amount / count : 0;
}

/* Negative when the server gave memory back. */
static double rss_growth(const struct bench_result *result)
{
    return (double)result->rss_after - (double)result->rss_before;
}

/* --- JSON --- */

static void put_decimal(struct json_writer *w, struct str key, int digits, double value)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "%.*f", digits, value);
    json_key(w, key);
    json_raw(w, str_of(text));
}

static void put_usage(struct json_writer *w, const struct bench_result *result)
{
    double cpu_ns = (double)result->cpu_ns;

    put_decimal(w, S("cpu_ns_per_delivery"), 1, per(cpu_ns, (double)result->deliveries));
    put_decimal(w, S("cpu_ns_per_published"), 1, per(cpu_ns, (double)result->published));
    put_decimal(w, S("cpu_share"), 3, per(cpu_ns, result->seconds * 1e9));
    json_put_uint(w, S("user_ms"), result->user_ms);
    json_put_uint(w, S("system_ms"), result->system_ms);
    json_put_uint(w, S("rss_before"), result->rss_before);
    json_put_uint(w, S("rss_after"), result->rss_after);
    put_decimal(w, S("cpu_ms"), 3, cpu_ns / 1e6);
    if (result->joined && !result->deliveries)
        put_decimal(w, S("cpu_us_per_join"), 1,
                    per(cpu_ns / 1000, (double)result->joined));
    if (result->idle_added)
        put_decimal(w, S("rss_per_connection"), 1,
                    per(rss_growth(result), (double)result->idle_added));
}

void bench_write_json(const struct bench_result *result, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("connections"), result->connections);
    put_decimal(&w, S("seconds"), 3, result->seconds);
    json_put_uint(&w, S("published"), result->published);
    json_put_uint(&w, S("deliveries"), result->deliveries);
    put_decimal(&w, S("published_per_s"), 1,
                per((double)result->published, result->seconds));
    put_decimal(&w, S("deliveries_per_s"), 1,
                per((double)result->deliveries, result->seconds));
    put_decimal(&w, S("connecting"), 3, result->connecting);
    if (result->joined) {
        json_put_uint(&w, S("joined"), result->joined);
        put_decimal(&w, S("joined_per_s"), 1,
                    per((double)result->joined, result->seconds));
        json_put_uint(&w, S("resumed"), result->resumed);
        put_decimal(&w, S("welcome_bytes"), 1,
                    per((double)result->welcome_bytes, (double)result->joined));
        json_put_uint(&w, S("member_frames"), result->member_frames);
        json_put_uint(&w, S("member_bytes"), result->member_bytes);
    }
    put_decimal(&w, S("own_cpu_share"), 3,
                per((double)result->own_cpu_ns, result->seconds * 1e9));
    put_decimal(&w, S("own_cpu_ns_per_delivery"), 1,
                per((double)result->own_cpu_ns, (double)result->deliveries));
    if (result->has_usage)
        put_usage(&w, result);
    for (size_t i = 0; i < COUNT(deeds) && result->churn.stalls + result->churn.leaves;
         i++)
        json_put_uint(&w, str_of(deeds[i].key), fault_count(result, &deeds[i]));
    json_key(&w, S("latency_us"));
    json_object_open(&w);
    for (size_t i = 0; i < COUNT(percentiles); i++)
        put_decimal(&w, str_of(percentiles[i].key), 1,
                    (double)histogram_at(&result->latency, percentiles[i].percent) /
                        1000);
    json_object_close(&w);
    for (size_t i = 0; i < COUNT(faults); i++)
        json_put_uint(&w, str_of(faults[i].key), fault_count(result, &faults[i]));
    json_object_close(&w);
    buf_putc(out, '\n');
}

/* --- text --- */

/* 1234567 as 1,234,567. */
static const char *grouped(double value, char text[static COUNT_SIZE])
{
    char digits[COUNT_SIZE];
    int len = snprintf(digits, sizeof(digits), "%.0f", value);
    size_t at = 0;

    for (int i = 0; i < len && at + 2 < COUNT_SIZE; i++) {
        if (i && (len - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void put_setting(const struct bench_options *o, const struct bench_result *result,
                        struct buf *out)
{
    buf_putf(out, "%s: %zu connection%s", o->url, result->connections,
             plural(result->connections));
    if (o->joins)
        buf_putf(out, ", %" PRIu64 " of them come to the others\n\n", o->joins);
    if (o->joins)
        return;
    if (o->idle || o->is_cycling) {
        buf_put(out, o->idle ? S(", idle\n\n") : S(" at a time, again and again\n\n"));
        return;
    }
    buf_putf(out, " in %" PRIu64 " topic%s", o->topics, plural(o->topics));
    if (o->is_pingpong)
        buf_put(out, S(", request and response"));
    else
        buf_putf(out, ", %" PRIu64 " publisher%s each", o->publishers,
                 plural(o->publishers));
    if (o->rate)
        buf_putf(out, ", %" PRIu64 " messages/s", o->rate);
    else
        buf_putf(out, ", window %" PRIu64, o->window);
    buf_putf(out, ", %" PRIu64 " bytes, %.1f s\n\n", o->size, result->seconds);
}

static void put_rate(const char *label, uint64_t count, double seconds, struct buf *out)
{
    char rate[COUNT_SIZE];
    char total[COUNT_SIZE];

    buf_putf(out, "%-12s %12s /s %16s in all\n", label,
             grouped(per((double)count, seconds), rate), grouped((double)count, total));
}

static void put_joins(const struct bench_result *result, struct buf *out)
{
    char frames[COUNT_SIZE];
    char bytes[COUNT_SIZE];

    put_rate("joins", result->joined, result->connecting, out);
    buf_putf(out, "%-12s %12s bytes each\n", "welcome",
             grouped(per((double)result->welcome_bytes, (double)result->joined), bytes));
    buf_putf(out, "%-12s %12s frames, %s bytes in all\n", "members got",
             grouped((double)result->member_frames, frames),
             grouped((double)result->member_bytes, bytes));
}

static void put_faults(const struct bench_result *result, struct buf *out)
{
    char text[COUNT_SIZE];
    bool has_any = false;

    buf_putf(out, "%-12s ", "faults");
    for (size_t i = 0; i < COUNT(faults); i++) {
        uint64_t count = fault_count(result, &faults[i]);

        if (count)
            buf_putf(out, "%s%s %s", has_any ? ", " : "", grouped((double)count, text),
                     faults[i].words);
        has_any |= count != 0;
    }
    buf_put(out, has_any ? S("\n") : S("none: nothing lost, doubled or out of order\n"));
    if (*result->first_error)
        buf_putf(out, "  first refusal: %s\n", result->first_error);
    if (*result->first_close)
        buf_putf(out, "  first close: %s\n", result->first_close);
}

static void put_deeds(const struct bench_result *result, struct buf *out)
{
    char text[COUNT_SIZE];

    buf_putf(out, "%-12s %s joined", "members", grouped((double)result->joined, text));
    for (size_t i = 0; i < COUNT(deeds); i++)
        buf_putf(out, ", %s %s", grouped((double)fault_count(result, &deeds[i]), text),
                 deeds[i].words);
    buf_putc(out, '\n');
}

static void put_latency(const struct bench_options *o, const struct bench_result *result,
                        enum plot_style style, struct buf *out)
{
    const char *what = o->is_pingpong ? "round trip" : "latency";

    buf_putf(out, "%-12s ", o->is_cycling || o->joins ? "to be ready" : what);
    for (size_t i = 0; i < COUNT(percentiles); i++) {
        buf_putf(out, "%s%s ", i ? "   " : "", percentiles[i].words);
        plot_time(histogram_at(&result->latency, percentiles[i].percent), style, out);
    }
    buf_put(out, S("\n\n"));
    plot_write(&result->latency, style, BAR_WIDTH, out);
}

static void put_server(const struct bench_options *o, const struct bench_result *result,
                       struct buf *out)
{
    uint64_t count = o->is_pingpong ? result->published : result->deliveries;
    char text[COUNT_SIZE];

    buf_putf(out, "%-12s ", "server");
    if (count)
        buf_putf(out, "%s ns of CPU per %s, %.0f %% of a core, ",
                 grouped((double)result->cpu_ns / (double)count, text),
                 o->is_pingpong ? "message" : "delivery",
                 100 * per((double)result->cpu_ns, result->seconds * 1e9));
    if (o->is_cycling || o->joins)
        buf_putf(out, "%.3f ms of CPU per connection, %.0f %% of a core, ",
                 per((double)result->cpu_ns / 1e6, (double)result->joined),
                 100 * per((double)result->cpu_ns, result->seconds * 1e9));
    buf_putf(out, "%.1f MiB of memory (%+.1f)\n", (double)result->rss_after / (1 << 20),
             rss_growth(result) / (1 << 20));
    buf_putf(out, "%-12s %.0f %% of a core\n", "generator",
             100 * per((double)result->own_cpu_ns, result->seconds * 1e9));
    if (result->idle_added)
        buf_putf(out, "%-12s %s bytes of memory\n", "connection",
                 grouped(per(rss_growth(result), (double)result->idle_added), text));
}

void bench_write_text(const struct bench_options *options,
                      const struct bench_result *result, enum plot_style style,
                      struct buf *out)
{
    put_setting(options, result, out);
    if (options->is_cycling) {
        put_rate("connections", result->joined, result->seconds, out);
        put_rate("resumed", result->resumed, result->seconds, out);
    } else if (options->joins) {
        put_joins(result, out);
    } else if (!options->idle) {
        put_rate("deliveries", result->deliveries, result->seconds, out);
        put_rate("published", result->published, result->seconds, out);
    }
    if (options->is_churning)
        put_deeds(result, out);
    put_faults(result, out);
    if (result->latency.count)
        put_latency(options, result, style, out);
    if (result->has_usage) {
        if (result->latency.count)
            buf_putc(out, '\n');
        put_server(options, result, out);
    }
}
