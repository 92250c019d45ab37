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

const enum err err_violations[ERR_VIOLATIONS] = {
    ERR_RESERVED_NAMESPACE,
    ERR_FROM_MISMATCH,
    ERR_CAPABILITY_VIOLATION,
    ERR_KIND_PAYLOAD_MISMATCH,
};

bool err_is_violation(enum err err)
{
    for (size_t i = 0; i < ERR_VIOLATIONS; i++)
        if (err == err_violations[i])
            return true;
    return false;
}

const char *err_name(enum err err)
{
    return errors[err].name;
}

int err_status(enum err err)
{
    return errors[err].status;
}
