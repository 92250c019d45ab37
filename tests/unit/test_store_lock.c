/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "store/lock.h"

TEST(a_data_directory_has_one_holder)
{
    char folder[] = "/tmp/test_lock.XXXXXX";
    char parent[64], dir[80], file[96], text[32] = "";
    struct stat status;
    int first = -1, second = -1;

    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(parent, sizeof(parent), "%s/a", folder);
    (void)snprintf(dir, sizeof(dir), "%s/b", parent);
    (void)snprintf(file, sizeof(file), "%s/lock", dir);
    CHECK_INT(data_lock(dir, &first), OK);
    CHECK_INT(stat(parent, &status), 0);
    CHECK_INT(status.st_mode & 0777, 0700);
    CHECK_INT(stat(dir, &status), 0);
    CHECK_INT(status.st_mode & 0777, 0700);
    CHECK_INT(stat(file, &status), 0);
    CHECK_INT(status.st_mode & 0777, 0600);
    CHECK(pread(first, text, sizeof(text) - 1, 0) > 0);
    CHECK_INT(strtol(text, NULL, 10), getpid());
    CHECK(fcntl(first, F_GETFD) & FD_CLOEXEC);

    CHECK_INT(data_lock(dir, &second), ERR_CONFLICT);
    CHECK_INT(second, -1);
    (void)close(first);
    CHECK_INT(data_lock(dir, &second), OK);
    (void)close(second);
    (void)unlink(file);
    (void)rmdir(dir);
    (void)rmdir(parent);
    CHECK_INT(rmdir(folder), 0);
}

TEST(what_is_no_directory_cannot_be_locked)
{
    static const struct {
        const char *dir;
        int reason;
    } cases[] = {
        { "", ENOENT },
        { "/dev/null", ENOTDIR },
        { "/dev/null/x", ENOTDIR },
    };

    FOR_EACH_CASE(c, cases) {
        int fd = -1;

        CHECK_INT(data_lock(c->dir, &fd), ERR_IO);
        CHECK_INT(errno, c->reason);
        CHECK_INT(fd, -1);
    }
}
