/* SPDX-License-Identifier: Apache-2.0 */
/* The table behind err.h. */
#include "base/err.h"

#include <stddef.h>

static const struct {
    const char *name;
    int status;
} errors[] = {
#define ERR_ROW(code, name, status) [code] = { name, status },
    ERR_LIST(ERR_ROW)
#undef ERR_ROW
};

const char *err_name(enum err err)
{
    return errors[err].name;
}

int err_status(enum err err)
{
    return errors[err].status;
}
