/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that block. */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* All of it, however many calls that takes. ERR_IO with errno. */
enum err fd_write_all(int fd, struct str bytes);
