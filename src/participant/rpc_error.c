/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/rpc_error.h"

#include "participant/pick.h"

static int64_t read_integer(struct json_span number)
{
    bool is_negative = str_starts(number.text, S("-"));
    uint64_t value = 0;

    if (str_to_u64(str_slice(number.text, is_negative, number.text.len), INT64_MAX,
                   &value))
        return 0;
    return is_negative ? -(int64_t)value : (int64_t)value;
}

struct rpc_error rpc_error_read(struct json_span error, struct arena *arena)
{
    struct json_span code = {};
    struct json_span message = {};
    struct json_span data = {};
    struct json_span reason = {};
    struct json_span decided = {};
    struct json_span by = {};
    struct rpc_error ret = {};

    (void)PICK(error, { S("code"), &code }, { S("message"), &message },
               { S("data"), &data });
    (void)PICK(data, { S("reason"), &reason }, { S("authorizationId"), &decided },
               { S("decidedBy"), &by },
               { S("authorizationRequest"), &ret.authorization });
    ret.names_authorization = pick_is(decided, JSON_STRING);
    ret.code = read_integer(code);
    ret.message = pick_text(message, arena);
    ret.reason = pick_text(reason, arena);
    ret.decided_by = pick_text(by, arena);
    return ret;
}

bool rpc_error_is_provisional(const struct rpc_error *error)
{
    return error->code == RPC_AUTHORIZING && error->authorization.type == JSON_OBJECT;
}
