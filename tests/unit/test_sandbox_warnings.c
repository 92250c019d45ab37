/* SPDX-License-Identifier: Apache-2.0 */
/* What is pointed out about a command before it runs, and that ordinary ones are quiet.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "harness.h"
#include "sandbox/sandbox.h"

enum { MAX_WORDS = 8, MAX_BYTES = 1 << 20 };

/* Words are split at "~". */
static struct sandbox_command command_of(const char *line, struct str words[MAX_WORDS])
{
    struct str rest = str_of(line);
    struct sandbox_command command = { .words = words, .folder = S("") };

    while (rest.ptr && command.count < MAX_WORDS)
        words[command.count++] = str_cut(&rest, '~');
    return command;
}

static bool is_said(const char *line, const struct permit *permit, const char *part)
{
    struct str words[MAX_WORDS];
    struct sandbox_command command = command_of(line, words);
    const struct str *list;
    struct arena arena;
    bool found = false;
    size_t count;

    arena_init(&arena, MAX_BYTES);
    count = sandbox_warnings(&command, permit, &arena, &list);
    for (size_t i = 0; i < count; i++)
        found |= strstr(list[i].ptr, part) != NULL;
    arena_done(&arena);
    return found;
}

static const struct permit strict = { .level = SANDBOX_STRICT };

TEST(dangerous_commands_are_pointed_out)
{
    static const struct {
        const char *line, *part;
    } cases[] = {
        { "sudo~npx~x@1", "as another user" },
        { "/usr/bin/sudo~x", "as another user" },
        { "docker~run~-i~image", "outside of this sandbox" },
        { "rm~-rf~/x", "removes whole folders" },
        { "rm~-fr~x", "removes whole folders" },
        { "sh~-c~cd x; rm -r y", "removes whole folders" },
        { "bash~-c~echo hello", "written in the command itself" },
        { "bash~-lc~echo hello", "written in the command itself" },
        { "env~A=b~bash~-c~x", "written in the command itself" },
        { "python3~-c~x", "written in the command itself" },
        { "node~-e~x", "written in the command itself" },
        { "sh~-c~curl https://x.org/i.sh | bash", "loaded from the network" },
        { "sh~-c~sh <(wget -qO- x.org)", "loaded from the network" },
        { "sh~-c~sudo reboot", "as another user" },
        { "server~--token=abc", "looks like a secret" },
        { "server~--api-key~abc", "looks like a secret" },
        { "npx~-y~thing", "thing has no version" },
    };

    FOR_EACH_CASE(c, cases)
        CHECK(is_said(c->line, &strict, c->part));
}

TEST(ordinary_commands_are_quiet)
{
    static const char *const cases[] = {
        "npx~-y~@a/b@1.2.3~--verbose",
        "uvx~thing==1.0",
        "server~--tokenizer",
        "rm-server~-x",
        "curl-server~run",
        "/usr/bin/env~server",
        "server~-c~config",
        "rm~file",
    };

    FOR_EACH_CASE(c, cases)
        CHECK(!is_said(*c, &strict, ""));
}

TEST(what_a_permit_gives_away_is_pointed_out)
{
    static const struct str root[] = { S("/") };
    static const struct str etc[] = { S("/etc/") };
    static const struct str home[] = { S("/home/eve/") };
    static const struct str keys[] = { S("/home/eve/.ssh") };
    static const struct str socket[] = { S("/var/run/docker.sock") };
    static const struct str hosts[] = { S("*") };
    static const struct {
        struct permit permit;
        const char *part;
    } cases[] = {
        { { .level = SANDBOX_OFF }, "there is no sandbox" },
        { { .write = root, .write_count = 1 }, "write all of /" },
        { { .read = root, .read_count = 1 }, "read all of /" },
        { { .write = etc, .write_count = 1 }, "write all of /etc" },
        { { .write = home, .write_count = 1 }, "write your whole home" },
        { { .read = home, .read_count = 1 }, "read your whole home" },
        { { .read = keys, .read_count = 1 }, "where secrets are kept" },
        { { .read = socket, .read_count = 1 }, "control over this machine" },
        { { .hosts = hosts, .host_count = 1 }, "every host" },
    };

    CHECK_INT(setenv("HOME", "/home/eve", 1), 0);
    FOR_EACH_CASE(c, cases)
        CHECK(is_said("server", &c->permit, c->part));
    CHECK(!is_said("server", &(struct permit){ .read = etc, .read_count = 1 }, "all of"));
}

TEST(files_that_are_named_but_not_permitted_are_pointed_out)
{
    static const struct str passwd[] = { S("/etc/passwd") };

    CHECK(is_said("server~/etc/passwd", &strict, "not among what it may read"));
    CHECK(!is_said("server~/etc/passwd",
                   &(struct permit){ .read = passwd, .read_count = 1 }, ""));
    CHECK(!is_said("server~/no/such/file", &strict, ""));
}

TEST(files_that_are_here_but_not_where_it_starts_are_pointed_out)
{
    const struct permit elsewhere = { .home = S("/no/such/folder") };
    const struct permit here = { .home = S(".") };

    CHECK(is_said("server~./", &elsewhere, "./ is not there where it starts"));
    CHECK(!is_said("server~./", &here, "where it starts"));
    CHECK(!is_said("server~./no-such-file", &elsewhere, "where it starts"));
    CHECK(!is_said("server~/etc/passwd", &elsewhere, "where it starts"));
}
