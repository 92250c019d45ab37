/* SPDX-License-Identifier: Apache-2.0 */
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { SAMPLES = 1 << 22 };

uint64_t samples_now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void samples_begin(struct samples *s)
{
    if (!s->took_ns)
        s->took_ns = calloc(SAMPLES, sizeof(*s->took_ns));
    if (!s->took_ns) {
        (void)fprintf(stderr, "no memory for the samples\n");
        exit(1);
    }
    s->count = s->errors = 0;
    s->began_ns = samples_now_ns();
}

void samples_add(struct samples *s, uint64_t began_ns)
{
    if (s->count < SAMPLES)
        s->took_ns[s->count++] = samples_now_ns() - began_ns;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static double cpu_us(int who)
{
    struct rusage usage;

    (void)getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void samples_print(struct samples *s)
{
    double count = (double)s->count;
    double seconds = (double)(samples_now_ns() - s->began_ns) / 1e9;

    qsort(s->took_ns, s->count, sizeof(*s->took_ns), by_size);
    (void)printf("{\"calls\":%zu,\"errors\":%zu,\"calls_per_s\":%.0f,\"p50_us\":%.1f,"
                 "\"p99_us\":%.1f,\"own_cpu_us_per_call\":%.2f,"
                 "\"child_cpu_us_per_call\":%.2f",
                 s->count, s->errors, count / seconds,
                 (double)s->took_ns[s->count / 2] / 1e3,
                 (double)s->took_ns[s->count * 99 / 100] / 1e3,
                 cpu_us(RUSAGE_SELF) / count, cpu_us(RUSAGE_CHILDREN) / count);
}

void samples_done(struct samples *s)
{
    free(s->took_ns);
    s->took_ns = NULL;
}
