/* SPDX-License-Identifier: Apache-2.0 */
#include "http/encoding.h"

/* "q=0", "q=0.0" and so on; whatever is no weight refuses nothing. */
static bool is_nothing(struct str parameter)
{
    struct str name = str_trim(str_cut(&parameter, '='));

    parameter = str_trim(parameter);
    if (!str_ieq(name, S("q")) || parameter.len == 0)
        return false;
    for (size_t i = 0; i < parameter.len; i++)
        if (parameter.ptr[i] != '0' && parameter.ptr[i] != '.')
            return false;
    return true;
}

static bool item_accepts(struct str item, struct str coding)
{
    if (!str_ieq(str_trim(str_cut(&item, ';')), coding))
        return false;
    while (item.ptr)
        if (is_nothing(str_trim(str_cut(&item, ';'))))
            return false;
    return true;
}

bool http_accepts_encoding(const struct http_request *req, struct str coding)
{
    for (size_t i = 0; i < req->header_count; i++) {
        struct str list = req->headers[i].value;

        if (!str_ieq(req->headers[i].name, S("Accept-Encoding")))
            continue;
        while (list.ptr)
            if (item_accepts(str_cut(&list, ','), coding))
                return true;
    }
    return false;
}
