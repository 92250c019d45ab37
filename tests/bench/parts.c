/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the way of an envelope cost on this machine, in nanoseconds, with
 * each set of instructions that it has: unmasking, passing over strings, checking UTF-8,
 * the scan of whole envelopes, and what may follow it: comparing the payload with the
 * kind, conditions of a capability. The best of many batches, since whatever disturbs
 * only adds.
 *
 *     build/tests/bench/parts [PART]    only parts whose name contains this text
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/simd.h"
#include "base/utf8.h"
#include "envelope/envelope.h"
#include "envelope/strict.h"
#include "json/json_priv.h"
#include "policy/capability.h"
#include "ws/ws.h"
#include "ws/ws_priv.h"

enum { BATCHES = 50, BATCH_BYTES = 1 << 18, MAX_DEPTH = 128, ROOM = 1 << 20 };

/* What a run of a part works on; it is given back in `sum`, lest it be optimised away. */
struct job {
    enum simd level;
    struct str text;
    char *out; /* as large as the text */
    struct arena *scratch;
    struct envelope env;    /* the text, scanned, where it is one */
    struct capability *cap; /* that allows it */
    size_t sum;
};

static void run_unmask(struct job *job)
{
    ws_unmask_at(job->level, job->out, job->text.ptr, job->text.len, 0x12345678);
    job->sum += (size_t)job->out[0];
}

static void run_skip(struct job *job)
{
    const char *end = job->text.ptr + job->text.len;

    job->sum += (size_t)(json_skip_at(job->level, job->text.ptr, end, JSON_PLAIN) - end);
}

static void run_utf8(struct job *job)
{
    job->sum += utf8_valid_at(job->level, job->text);
}

static void run_scan(struct job *job)
{
    struct envelope env;

    arena_reset(job->scratch);
    job->sum += (size_t)envelope_scan(job->text, MAX_DEPTH, DIALECT_SLASH, job->scratch,
                                      &env, NULL);
}

static void run_strict(struct job *job)
{
    struct strict_problem problem;

    job->sum +=
        (size_t)strict_check(&job->env.kind, job->env.payload, job->scratch, &problem);
}

static void run_arguments(struct job *job)
{
    arena_reset(job->scratch); /* of the envelope only the text is needed */
    job->sum +=
        !capability_allows(job->cap, job->env.kind.text, job->env.payload, job->scratch);
}

/* Repeats `unit` up to the size, never cutting it. */
static void put_text(struct buf *out, struct str unit, size_t size)
{
    while (out->len + unit.len <= size)
        buf_put(out, unit);
}

static void put_ascii(struct buf *out, size_t size)
{
    put_text(out, S("a"), size);
}

static void put_wide(struct buf *out, size_t size)
{
    put_text(out, S("\xe5\xa4\xa9"), size); /* three bytes */
}

static void put_head(struct buf *out)
{
    buf_put(
        out,
        S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"9f0c2a1e-52a8-4c5e-9a5b-0d1f2f3a4b5c"
          "\",\"ts\":\"2025-06-01T12:00:00.000Z\",\"from\":\"planner\",\"to\":["
          "\"weather\"],\"kind\":\"mcp/request:tools/call:note\",\"payload\":{\"jsonrpc\""
          ":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{\"name\":\"note\","
          "\"arguments\":{\"days\":3,\"detail\":true,\"text\":\""));
}

static const struct str TAIL = S("\"}}}}");

static void put_envelope(struct buf *out, size_t size)
{
    put_head(out);
    put_ascii(out, size - TAIL.len);
    buf_put(out, TAIL);
}

static void put_wide_envelope(struct buf *out, size_t size)
{
    put_head(out);
    put_wide(out, size - TAIL.len);
    buf_put(out, TAIL);
}

/* clang-format off */
static const struct part {
    const char *name;
    void (*put)(struct buf *out, size_t size);
    void (*run)(struct job *job);
    bool has_levels; /* else it chooses by itself */
    bool is_verdict; /* on an envelope that is fine: 0 each time */
} parts[] = {
    { "unmask",                 put_ascii,         run_unmask, .has_levels = true },
    { "skip string",            put_ascii,         run_skip,   .has_levels = true },
    { "UTF-8, ASCII",           put_ascii,         run_utf8,   .has_levels = true },
    { "UTF-8, 3-byte",          put_wide,          run_utf8,   .has_levels = true },
    { "scan envelope, ASCII",   put_envelope,      run_scan,   .is_verdict = true },
    { "scan envelope, 3-byte",  put_wide_envelope, run_scan,   .is_verdict = true },
    { "payload against kind",   put_envelope,      run_strict, .is_verdict = true },
    { "capability, 3 leaves",   put_envelope,      run_arguments, .is_verdict = true },
};
/* clang-format on */

static const size_t sizes[] = { 400, 4096, 65536 };
static const char *const level_names[SIMD_LEVELS] = { "words", "ssse3", "avx2" };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_ns(const struct part *part, struct job *job)
{
    size_t count = BATCH_BYTES / job->text.len;
    double best = 0;

    for (size_t batch = 0; batch < BATCHES; batch++) {
        double start = now_ns(), each;

        for (size_t i = 0; i < count; i++)
            part->run(job);
        each = (now_ns() - start) / (double)count;
        if (batch == 0 || each < best)
            best = each;
    }
    return best;
}

/* What follows the scan needs what it has found. */
static void prepare(struct job *job)
{
    job->sum += (size_t)envelope_scan(job->text, MAX_DEPTH, DIALECT_SLASH, job->scratch,
                                      &job->env, NULL);
    job->sum += (size_t)kind_parse(job->env.kind_text, &job->env.kind);
    job->sum += (size_t)capability_new(
        S("{\"kind\":\"mcp/request:tools/*\",\"payload\":{\"params\":{"
          "\"arguments\":{\"days\":3,\"detail\":true},\"name\":[\"no*\",\"x\"]}}}"),
        &job->cap, NULL);
}

static double measure(const struct part *part, enum simd level, size_t size)
{
    struct arena scratch;
    struct buf text, out;
    struct job job;
    double ns;

    arena_init(&scratch, ROOM);
    buf_init(&text, ROOM);
    buf_init(&out, ROOM);
    part->put(&text, size);
    buf_put(&out, buf_str(&text));
    job = (struct job){
        .level = level, .text = buf_str(&text), .out = out.ptr, .scratch = &scratch
    };
    if (part->is_verdict)
        prepare(&job);
    ns = best_ns(part, &job);
    if (part->is_verdict && job.sum)
        fprintf(stderr, "parts: the envelope is refused\n");
    capability_free(job.cap);
    buf_done(&out);
    buf_done(&text);
    arena_done(&scratch);
    return ns;
}

static void print_row(const struct part *part, const char *variant, enum simd level)
{
    printf("%-24s %-8s", part->name, variant);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        printf(" %9.0f", measure(part, level, sizes[i]));
    printf("\n");
}

static void print_part(const struct part *part)
{
    if (!part->has_levels) {
        print_row(part, "chosen", simd_best());
        return;
    }
    for (enum simd level = SIMD_NONE; level < SIMD_LEVELS; level++)
        if (simd_has(level))
            print_row(part, level_names[level], level);
}

int main(int argc, char **argv)
{
    printf("%-24s %-8s %9s %9s %9s\n", "ns, best of 50 batches", "variant", "400 B",
           "4 KiB", "64 KiB");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (argc < 2 || strstr(parts[i].name, argv[1]))
            print_part(&parts[i]);
    return 0;
}
