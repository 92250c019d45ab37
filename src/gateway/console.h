/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the web console, as console/build.mjs makes them and the program holds
 * them. Without the meson option `console` there are none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* The best first. */
enum console_encoding { CONSOLE_BR, CONSOLE_GZIP, CONSOLE_IDENTITY, CONSOLE_ENCODINGS };

struct console_body {
    struct str bytes; /* len 0: this coding would not make it smaller */
    struct str etag;  /* with its quotes; another for each coding, as they are strong */
};

struct console_file {
    struct str name; /* behind "/assets/"; "index.html" is the page */
    struct str type;
    struct console_body bodies[CONSOLE_ENCODINGS];
};

extern const struct console_file console_files[];
extern const size_t console_file_count;
