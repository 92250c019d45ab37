/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: what is refused, what is said of them, and that their bytes give the same again
 * or nothing. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "harness.h"
#include "sandbox/sandbox.h"

enum { MAX = 1 << 20 };

static const struct str words[] = { S("true"), S("a b"), S("it's"), S("\x1b[2J") };
static const struct sandbox_command command = { words, COUNT(words), S("") };
static const struct sandbox_variable variables[] = {
    { S("PLAIN"), S("seen"), false },
    { S("KEY"), S("hidden"), true },
    { S("HOME"), S("/elsewhere"), false },
};
static const struct permit off = {
    .level = SANDBOX_OFF,
    .network = NETWORK_ANY,
    .variables = variables,
    .variable_count = COUNT(variables),
    .home = S("/srv/home/"),
    .memory = 64 << 20,
};

static struct sandbox_plan *plan_of(const struct permit *permit)
{
    struct sandbox_plan *plan = NULL;
    char *why = NULL;

    CHECK_INT(sandbox_plan_make(permit, &command, &plan, &why), OK);
    free(why);
    return plan;
}

static bool says(struct buf *text, const char *part)
{
    return strstr(buf_cstr(text), part) != NULL;
}

TEST(a_plan_is_explained_without_its_secrets)
{
    struct sandbox_plan *plan = plan_of(&off);
    struct buf text, json;

    buf_init(&text, MAX);
    buf_init(&json, MAX);
    sandbox_explain(plan, &text);
    sandbox_explain_json(plan, &json);
    CHECK(says(&text, "/true 'a b' 'it'\\''s' '\\x1b[2J'\n"));
    CHECK(says(&text, "OFF: it may do whatever"));
    CHECK(says(&text, "PLAIN=seen\n"));
    CHECK(says(&text, "KEY=***\n"));
    CHECK(says(&text, "HOME=/elsewhere\n"));
    CHECK(says(&text, "memory 64 MiB, 64 processes"));
    CHECK(says(&text, "folder    /srv/home\n"));
    CHECK(!says(&text, "hidden"));
    CHECK(says(&json, "\"KEY\":\"***\""));
    CHECK(says(&json, "\"sandbox\":\"off\""));
    CHECK(!says(&json, "hidden"));
    buf_done(&text);
    buf_done(&json);
    sandbox_plan_free(plan);
}

TEST(what_is_permitted_twice_is_one_place)
{
    static const struct str twice[] = { S("/var"), S("/var/"), S("/var") };
    struct permit permit = { .level = SANDBOX_STRICT,
                             .read = twice,
                             .read_count = COUNT(twice) };
    struct sandbox_plan *plan = NULL;
    char *why = NULL;
    struct buf text;
    const char *first;

    if (sandbox_plan_make(&permit, &command, &plan, &why)) {
        free(why); /* no bubblewrap here */
        return;
    }
    buf_init(&text, MAX);
    sandbox_explain(plan, &text);
    first = strstr(buf_cstr(&text), " /var\n");
    CHECK(first != NULL);
    CHECK(first && !strstr(first + 1, " /var\n"));
    buf_done(&text);
    sandbox_plan_free(plan);
}

TEST(the_bytes_of_a_plan_give_the_same_plan)
{
    struct sandbox_plan *plan = plan_of(&off);
    struct sandbox_plan *copy = NULL;
    struct buf bytes, again;

    buf_init(&bytes, MAX);
    buf_init(&again, MAX);
    sandbox_plan_write(plan, &bytes);
    CHECK_INT(sandbox_plan_read(buf_str(&bytes), &copy), OK);
    if (copy)
        sandbox_plan_write(copy, &again);
    CHECK_STR(buf_str(&again), buf_str(&bytes));
    CHECK_INT(copy ? sandbox_plan_memory(copy) : 0, 64 << 20);
    buf_done(&bytes);
    buf_done(&again);
    sandbox_plan_free(plan);
    sandbox_plan_free(copy);
}

TEST(bytes_that_end_early_or_late_or_are_changed_give_none_or_a_whole_one)
{
    struct sandbox_plan *plan = plan_of(&off);
    struct sandbox_plan *copy = NULL;
    struct buf bytes;

    buf_init(&bytes, MAX);
    sandbox_plan_write(plan, &bytes);
    for (size_t len = 0; len < bytes.len; len++)
        CHECK_INT(sandbox_plan_read(str_slice(buf_str(&bytes), 0, len), &copy),
                  ERR_INVALID);
    for (size_t at = 0; at < bytes.len; at++) {
        bytes.ptr[at] ^= (char)0xff;
        if (!sandbox_plan_read(buf_str(&bytes), &copy))
            sandbox_plan_free(copy);
        bytes.ptr[at] ^= (char)0xff;
    }
    buf_putc(&bytes, 'x');
    CHECK_INT(sandbox_plan_read(buf_str(&bytes), &copy), ERR_INVALID);
    buf_done(&bytes);
    sandbox_plan_free(plan);
}

TEST(what_cannot_be_is_refused_with_its_reason)
{
    static const struct str relative[] = { S("here") };
    static const struct str nul[] = { { "/a\0b", 4 } };
    static const struct sandbox_variable bad[] = { { S("A=B"), S(""), false } };
    static const struct {
        struct permit permit;
        const char *why;
    } cases[] = {
        { { .level = SANDBOX_OFF }, "network any" },
        { { .level = SANDBOX_STRICT, .network = NETWORK_ANY }, "only without a sandbox" },
        { { .level = SANDBOX_BASIC, .network = NETWORK_HOSTS }, "basic has no network" },
        { { .level = SANDBOX_OFF,
            .network = NETWORK_ANY,
            .read = relative,
            .read_count = 1 },
          "no absolute path" },
        { { .level = SANDBOX_OFF,
            .network = NETWORK_ANY,
            .write = nul,
            .write_count = 1 },
          "a NUL byte" },
        { { .level = SANDBOX_OFF, .network = NETWORK_ANY, .home = S("here") },
          "no absolute path" },
        { { .level = SANDBOX_OFF,
            .network = NETWORK_ANY,
            .variables = bad,
            .variable_count = 1 },
          "A=B cannot be set" },
    };

    FOR_EACH_CASE(c, cases) {
        struct sandbox_plan *plan = NULL;
        char *why = NULL;

        CHECK(sandbox_plan_make(&c->permit, &command, &plan, &why) != OK);
        CHECK(why && strstr(why, c->why));
        free(why);
    }
}

TEST(what_a_process_holds_is_counted_with_all_below_it)
{
    size_t bytes = 0, processes = 0;

    sandbox_usage(getpid(), &bytes, &processes);
    CHECK_INT(processes, 1);
    CHECK(bytes > 4096);
    CHECK(bytes < (size_t)64 << 30);
}

TEST(the_machine_is_described)
{
    struct buf text;

    buf_init(&text, MAX);
    sandbox_machine(&text);
    CHECK(says(&text, "bubblewrap "));
    CHECK(says(&text, "user namespaces "));
    CHECK(says(&text, "Landlock "));
    CHECK(says(&text, "control groups "));
    buf_done(&text);
}
