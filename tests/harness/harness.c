/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

static struct test *first;
static struct test **last = &first;
static bool has_failed;
long test_case = -1;

void test_register(struct test *test)
{
    *last = test;
    last = &test->next;
}

static void say_where(const char *file, int line, const char *what)
{
    has_failed = true;
    printf("# %s:%d: ", file, line);
    if (test_case >= 0)
        printf("case %ld: ", test_case);
    printf("%s", what);
}

void test_check(bool passed, const char *file, int line, const char *what)
{
    if (passed)
        return;
    say_where(file, line, what);
    printf(" is false\n");
}

void test_check_int(int64_t got, int64_t want, const char *file, int line,
                    const char *what)
{
    if (got == want)
        return;
    say_where(file, line, what);
    printf(" is %lld, expected %lld\n", (long long)got, (long long)want);
}

static void print_str(struct str s)
{
    putchar('"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c >= ' ' && c < 0x7f)
            putchar(c);
        else
            printf("\\x%02x", c);
    }
    putchar('"');
}

void test_check_str(struct str got, struct str want, const char *file, int line,
                    const char *what)
{
    if (str_eq(got, want))
        return;
    say_where(file, line, what);
    printf(" is ");
    print_str(got);
    printf(", expected ");
    print_str(want);
    putchar('\n');
}

/* With arguments only the tests whose names contain one of them run. */
static bool is_wanted(const struct test *test, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(test->name, argv[i]))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    int count = 0;
    int failed = 0;

    for (struct test *test = first; test; test = test->next) {
        if (!is_wanted(test, argc, argv))
            continue;
        has_failed = false;
        test_case = -1;
        test->run();
        failed += has_failed;
        printf("%s %d - %s\n", has_failed ? "not ok" : "ok", ++count, test->name);
        (void)fflush(stdout);
    }
    printf("1..%d\n", count);
    return failed ? 1 : 0;
}
