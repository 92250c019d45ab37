/* SPDX-License-Identifier: Apache-2.0 */
/* Files are files in memory, by their name under /proc. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "harness.h"

struct file {
    int fd;
    char path[64], at_path[66];
};

static struct file file_of(struct str text)
{
    struct file file = { .fd = memfd_create("given", MFD_CLOEXEC) };

    CHECK(file.fd >= 0);
    CHECK_INT(write(file.fd, text.ptr, text.len), text.len);
    (void)snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
    (void)snprintf(file.at_path, sizeof(file.at_path), "@%s", file.path);
    return file;
}

/* What one of the functions reads into a buffer of `max`; complaints go nowhere. */
static void check(int (*read)(const char *, struct buf *), const char *word, size_t max,
                  int code, struct str want)
{
    int old = fcntl(2, F_DUPFD_CLOEXEC, 0);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct buf out;

    CHECK(dup2(nowhere, 2) >= 0);
    buf_init(&out, max);
    CHECK_INT(read(word, &out), code);
    if (code == CLI_OK)
        CHECK_STR(buf_str(&out), want);
    buf_done(&out);
    CHECK(dup2(old, 2) >= 0);
    (void)close(old);
    (void)close(nowhere);
}

TEST(a_value_is_the_word_itself_or_a_file_or_standard_input)
{
    struct file file = file_of(S("{\"a\":1}\n"));
    struct file empty = file_of(S(""));
    int old = fcntl(0, F_DUPFD_CLOEXEC, 0);

    check(cli_read_value, "{\"a\":2}", 65536, CLI_OK, S("{\"a\":2}"));
    check(cli_read_value, "", 65536, CLI_OK, S(""));
    check(cli_read_value, file.at_path, 65536, CLI_OK, S("{\"a\":1}\n"));
    check(cli_read_value, empty.at_path, 65536, CLI_OK, S(""));
    check(cli_read_value, "@/nowhere/at/all", 65536, CLI_FAILED, S(""));
    check(cli_read_value, "@", 65536, CLI_FAILED, S(""));
    check(cli_read_file, file.path, 65536, CLI_OK, S("{\"a\":1}\n"));
    check(cli_read_file, file.path, 8, CLI_OK, S("{\"a\":1}\n"));
    check(cli_read_file, file.path, 7, CLI_FAILED, S(""));
    check(cli_read_file, "/", 65536, CLI_FAILED, S(""));
    CHECK_INT(lseek(file.fd, 0, SEEK_SET), 0);
    CHECK(dup2(file.fd, 0) >= 0);
    check(cli_read_value, "-", 65536, CLI_OK, S("{\"a\":1}\n"));
    if (old >= 0)
        CHECK(dup2(old, 0) >= 0);
    (void)close(old);
    (void)close(file.fd);
    (void)close(empty.fd);
}

TEST(a_token_is_one_word_of_a_file_or_of_the_environment)
{
    struct file good = file_of(S("moot_abc \r\n")), blank = file_of(S(" \n")),
                nul = file_of(S("moot\0abc"));

    CHECK_INT(setenv("MOOT_TOKEN", "from-env", 1), 0);
    check(cli_read_token, good.path, CLI_TOKEN_MAX, CLI_OK, S("moot_abc"));
    check(cli_read_token, NULL, CLI_TOKEN_MAX, CLI_OK, S("from-env"));
    check(cli_read_token, blank.path, CLI_TOKEN_MAX, CLI_FAILED, S(""));
    check(cli_read_token, nul.path, CLI_TOKEN_MAX, CLI_FAILED, S(""));
    check(cli_read_token, "/nowhere/at/all", CLI_TOKEN_MAX, CLI_FAILED, S(""));
    check(cli_read_token, NULL, 4, CLI_FAILED, S(""));
    CHECK_INT(setenv("MOOT_TOKEN", "", 1), 0);
    check(cli_read_token, NULL, CLI_TOKEN_MAX, CLI_FAILED, S(""));
    (void)close(good.fd);
    (void)close(blank.fd);
    (void)close(nul.fd);
}

TEST(a_duration_is_a_number_with_or_without_a_unit)
{
    /* clang-format off */
    static const struct { struct str text; bool is_one; uint64_t ms; } cases[] = {
        { S("30"),  true,  30'000 },
        { S("0"),   true,  0 },
        { S("2s"),  true,  2'000 },
        { S("5m"),  true,  300'000 },
        { S("2h"),  true,  7'200'000 },
        { S("7d"),  true,  604'800'000 },
        { S(""),    false, 0 },
        { S("s"),   false, 0 },
        { S("1.5"), false, 0 },
        { S("-1"),  false, 0 },
        { S("5ms"), false, 0 },
        { S("2 h"), false, 0 },
        { S("100000001"), false, 0 },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        uint64_t ms = 0;

        CHECK_INT(cli_read_duration(c->text, &ms), c->is_one);
        CHECK_INT(ms, c->ms);
    }
}
