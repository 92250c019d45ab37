/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test harness: tests register themselves, every check prints both values, table
 * cases are numbered, the output is TAP.
 *
 *     TEST(a_pattern_matches_the_kinds_it_names)
 *     {
 *         static const struct { struct str a; bool is_short; } cases[] = { … };
 *
 *         FOR_EACH_CASE(c, cases)
 *             CHECK_INT(is_short(c->a), c->is_short);
 *     }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

void test_register(struct test *test);

/* The number of the table case that runs, or -1 outside FOR_EACH_CASE. */
extern long test_case;

void test_check(bool passed, const char *file, int line, const char *what);
void test_check_int(int64_t got, int64_t want, const char *file, int line,
                    const char *what);
void test_check_str(struct str got, struct str want, const char *file, int line,
                    const char *what);

#define TEST(name)                                                 \
    static void name(void);                                        \
    static struct test test_##name = { #name, name, NULL };        \
    __attribute__((constructor)) static void register_##name(void) \
    {                                                              \
        test_register(&test_##name);                               \
    }                                                              \
    static void name(void)

#define FOR_EACH_CASE(var, cases)                                                    \
    test_case = -1;                                                                  \
    for (const typeof((cases)[0]) *var = (cases);                                    \
         (test_case = var - (cases)) < (long)(sizeof(cases) / sizeof((cases)[0])) || \
         (test_case = -1, false);                                                    \
         var++)

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(got, want) \
    test_check_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) test_check_str((got), (want), __FILE__, __LINE__, #got)
