/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "tui/child.h"

/* A folder of the test's own, in which everything happens. */
static void enter_folder(char path[static 64])
{
    (void)snprintf(path, 64, "/tmp/moot-test-XXXXXX");
    CHECK(mkdtemp(path) != NULL);
    CHECK_INT(setenv("XDG_RUNTIME_DIR", path, 1), 0);
    CHECK_INT(chdir(path), 0);
}

static void leave_folder(const char *path)
{
    CHECK_INT(chdir("/"), 0);
    CHECK_INT(rmdir(path), 0); /* it is empty: nothing was left behind */
}

static int wait_for(pid_t pid)
{
    int status = -1;

    CHECK_INT(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(what_the_editor_leaves_is_read_and_nothing_stays)
{
    static const struct {
        const char *editor;
        enum err err;
        struct str text;
        const char *why;
    } cases[] = {
        { "true", OK, S("{\"a\":1}"), "" },
        { "sed -i s/1/2/", OK, S("{\"a\":2}"), "" },
        { "cp -T /dev/null", OK, S(""), "" },
        { "f() { cp \"$1\" \"$1~\"; }; f", OK, S("{\"a\":1}"), "" },
        { "false", ERR_IO, S(""), "the editor failed: nothing was changed" },
        { "rm", ERR_IO, S(""), "the edited file cannot be read" },
        { "f() { ln -sf /etc/passwd \"$1\"; }; f", ERR_IO, S(""),
          "the edited file cannot be read" },
        { "truncate -s 9M", ERR_TOO_BIG, S(""), "the edited file is too long" },
    };
    char folder[64];

    enter_folder(folder);
    CHECK_INT(unsetenv("VISUAL"), 0);
    FOR_EACH_CASE(c, cases) {
        struct edit edit;
        const char *why = "";
        struct buf text;

        CHECK_INT(setenv("EDITOR", c->editor, 1), 0);
        buf_init(&text, EDIT_BYTES);
        CHECK_INT(edit_begin(&edit, S("{\"a\":1}"), &why), OK);
        CHECK_INT(edit_end(&edit, wait_for(edit.pid), &text, &why), c->err);
        if (!c->err)
            CHECK_STR(buf_str(&text), c->text);
        CHECK_STR(str_of(why), str_of(c->why));
        buf_done(&text);
    }
    leave_folder(folder);
}

TEST(nobody_else_can_read_what_is_edited)
{
    char folder[64];
    struct edit edit;
    struct stat st = {};
    const char *why;
    struct buf text;

    enter_folder(folder);
    CHECK_INT(setenv("VISUAL", "true", 1), 0);
    (void)umask(0);
    CHECK_INT(edit_begin(&edit, S("x"), &why), OK);
    CHECK_INT(stat(edit.folder, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    CHECK_INT(stat(edit.file, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    buf_init(&text, EDIT_BYTES);
    CHECK_INT(edit_end(&edit, wait_for(edit.pid), &text, &why), OK);
    buf_done(&text);
    leave_folder(folder);
}

static const char *const names[] = { "MOOT_PROPOSAL_ID", "MOOT_PROPOSAL_NAME" };

TEST(a_program_is_told_of_a_proposal_by_input_and_environment)
{
    static const struct str values[] = { S("p1"),
                                         S("$(touch evil) `touch evil`; touch evil") };
    static const struct hook_call call = { S("{\"id\":\"p1\"}"), names, values, 2 };
    struct hook hook = { .command = "{ cat; printf '|%s|%s' \"$MOOT_PROPOSAL_ID\" "
                                    "\"$MOOT_PROPOSAL_NAME\"; tty; } > out" };
    char folder[64], got[256] = "";
    FILE *out;
    pid_t pid;

    enter_folder(folder);
    CHECK_INT(hook_tell(&hook, &call, 0), OK);
    pid = hook.running[0].pid;
    CHECK(pid > 0);
    CHECK_INT(WEXITSTATUS(wait_for(pid)), 1); /* of tty: there is none */
    CHECK(hook_reap(&hook, pid, 0));
    CHECK(!hook_reap(&hook, pid, 0));
    out = fopen("out", "re");
    CHECK(out && fread(got, 1, sizeof(got) - 1, out) > 0);
    if (out)
        (void)fclose(out);
    CHECK_STR(str_of(got), S("{\"id\":\"p1\"}|p1|$(touch evil) `touch evil`; touch evil"
                             "not a tty\n"));
    CHECK_INT(unlink("out"), 0);
    hook_done(&hook);
    leave_folder(folder);
}

TEST(only_a_few_run_at_once_and_none_for_ever)
{
    static const struct str values[] = { S("p1"), S("x") };
    static const struct hook_call call = { S("{}"), names, values, 2 };
    struct hook hook = { .command = "exec sleep 1000" };
    size_t told = 0;
    pid_t first;

    while (hook_tell(&hook, &call, 0) == OK)
        told++;
    CHECK_INT(told, HOOK_RUNNING + HOOK_WAITING);
    CHECK_INT(hook_tick(&hook, HOOK_MS - 1), HOOK_MS);
    first = hook.running[0].pid;
    CHECK_INT(kill(first, SIGKILL), 0);
    (void)wait_for(first);
    CHECK(hook_reap(&hook, first, 5));
    CHECK(hook.running[0].pid > 0 && hook.running[0].pid != first);
    CHECK_INT(hook.waiting_count, HOOK_WAITING - 1);
    hook_done(&hook);
    /* They may not lead their groups yet: both are asked to end. */
    (void)hook_tick(&hook, 5 + HOOK_MS);
    for (size_t i = 0; i < HOOK_RUNNING; i++) {
        pid_t pid = hook.running[i].pid;

        (void)kill(pid, SIGKILL);
        CHECK(WIFSIGNALED(wait_for(pid)));
        CHECK(hook_reap(&hook, pid, 0));
    }
    CHECK(hook_tick(&hook, 0) == UINT64_MAX);
}

TEST(without_a_command_nothing_runs)
{
    struct hook hook = {};

    CHECK_INT(hook_tell(&hook, &(struct hook_call){}, 0), OK);
    CHECK_INT(hook.waiting_count, 0);
    CHECK_INT(hook.running[0].pid, 0);
}
