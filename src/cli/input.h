/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands are given besides words: files, standard input, tokens. All of it is
 * bounded by the buffer it is read into; what fails has been reported on stderr, and the
 * exit code comes back.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

/* The whole of a file; "-" is standard input. */
int cli_read_file(const char *path, struct buf *out);

/* The value of an option that may stand elsewhere: "@FILE", "-" for standard input, else
 * the word itself. */
int cli_read_value(const char *word, struct buf *out);

enum { CLI_TOKEN_MAX = 4096 };

/* A token is a secret: it comes from a file, or from $MOOT_TOKEN where `path` is NULL,
 * never from the command line. A file that others may read is complained about, and read.
 * The caller wipes it. */
int cli_read_token(const char *path, struct buf *out);

/* "30", "30s", "5m", "2h", "7d" in milliseconds; false: it is none. */
bool cli_read_duration(struct str text, uint64_t *ret_ms);

/* The value of --timeout, above 0 and up to `max_ms`; NULL leaves *ret_ms as it is. */
int cli_read_timeout(const char *text, uint64_t max_ms, uint64_t *ret_ms);

/* Whether there is somebody at a terminal. */
bool cli_can_ask(void);

/* Puts "QUESTION [y/N] " to him. What was typed before is no answer. */
bool cli_ask(const char *question);
