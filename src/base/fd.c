/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

enum err fd_write_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t wrote = write(fd, bytes.ptr, bytes.len);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return ERR_IO;
        bytes = str_slice(bytes, (size_t)wrote, bytes.len);
    }
    return OK;
}
