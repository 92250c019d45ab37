/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite: bodies that are kept no longer. */
#include "store/sqlite_priv.h"

enum err sqlite_strip(struct engine *, const struct engine_strip *,
                      struct engine_stripped *ret)
{
    *ret = (struct engine_stripped){};
    return OK;
}
