/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "harness.h"

TEST(all_of_it_is_written_or_an_error_says_why)
{
    CLEANUP(fd_closep) int file = memfd_create("written", MFD_CLOEXEC);
    CLEANUP(fd_closep) int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    char read_back[8] = "";

    CHECK_INT(fd_write_all(file, S("")), OK);
    CHECK_INT(fd_write_all(file, S("one ")), OK);
    CHECK_INT(fd_write_all(file, S("two")), OK);
    CHECK_INT(pread(file, read_back, sizeof(read_back), 0), 7);
    CHECK_STR(str_of(read_back), S("one two"));
    CHECK_INT(fd_write_all(full, S("x")), ERR_IO);
    CHECK_INT(errno, ENOSPC);
}
