/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant with four tools: add, sub, mul and div of two numbers.
 *
 *     calculator ws://127.0.0.1:8420 lobby
 *
 * It needs the capability `mcp/response:*` alone. What it is asked has been checked by
 * the library: the request names us, and its kind says what its payload says. What is in
 * the arguments is still the caller's word.
 */
#include <math.h>

#include "example.h"

#define NUMBERS                                                        \
    "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{" \
    "\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}},"        \
    "\"additionalProperties\":false}"

struct operation {
    const char *name, *description;
    double (*of)(double a, double b);
};

static double sum(double a, double b)
{
    return a + b;
}

static double difference(double a, double b)
{
    return a - b;
}

static double product(double a, double b)
{
    return a * b;
}

static double quotient(double a, double b)
{
    return a / b;
}

static struct operation operations[] = {
    { "add", "The sum of a and b", sum },
    { "sub", "What is left of a without b", difference },
    { "mul", "The product of a and b", product },
    { "div", "How often b goes into a", quotient },
};

static void calculate(struct moot *m, void *user, struct moot_call *call)
{
    const struct operation *operation = user;
    char text[32];
    double a, b, result;

    (void)m;
    if (!moot_number(moot_call_argument(call, "a"), &a) ||
        !moot_number(moot_call_argument(call, "b"), &b)) {
        moot_reply_error(call, -32602, "a and b must be numbers");
        return;
    }
    result = operation->of(a, b);
    if (!isfinite(result)) { /* nothing is wrong with the call: the tool cannot do it */
        moot_reply_failure(call, "there is no such number");
        return;
    }
    (void)snprintf(text, sizeof(text), "%.15g", result);
    moot_reply_text(call, text);
}

static void on_state(struct moot *m, void *user, enum moot_state state, const char *why)
{
    (void)user;
    if (state == MOOT_JOINED)
        example_line("here as ", moot_id(m));
    else if (*why)
        example_line("", why);
}

int main(int argc, char **argv)
{
    struct example example = example_begin(argc, argv, 0, "");
    struct moot_options options = {
        .url = example.url,
        .topic = example.topic,
        .token = example.token,
        .name = "calculator",
        .version = "1.0",
        .is_directed = true, /* what the others tell each other does not concern us */
        .handlers = { .on_state = on_state },
    };
    struct moot *m;
    enum moot_err err = moot_new(&options, &m);

    for (size_t i = 0; !err && i < sizeof(operations) / sizeof(*operations); i++) {
        struct moot_tool tool = { .name = operations[i].name,
                                  .description = operations[i].description,
                                  .input_schema = NUMBERS,
                                  .annotations = "{\"readOnlyHint\":true}",
                                  .call = calculate,
                                  .user = &operations[i] };

        err = moot_add_tool(m, &tool);
    }
    if (!err)
        err = moot_run(m);
    (void)fprintf(stderr, "calculator: %s: %s\n", moot_strerror(err), moot_why(m));
    moot_free(m);
    return 1; /* it never ends by itself */
}
