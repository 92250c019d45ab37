/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of the console's files, where the program is built without them. */
#include "gateway/console.h"

const struct console_file console_files[] = { {} };
const size_t console_file_count = 0;
