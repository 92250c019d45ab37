/* SPDX-License-Identifier: Apache-2.0 */
/* The page at the root, embedded from page.html when the program is built. */
#pragma once

#include <stddef.h>

extern const char page_html[];
extern const size_t page_html_len;
