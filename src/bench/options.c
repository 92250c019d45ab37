/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/options.h"

#include <string.h>

#include "bench/bench_priv.h"

static enum err refuse(struct load *load, const char *why)
{
    load_fail(load, "%s", why);
    return ERR_INVALID;
}

static bool is_word(const char *text)
{
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

static int ways_to_run(const struct bench_options *options)
{
    return options->is_pingpong + (options->idle > 0) + options->is_cycling +
           (options->joins > 0) + options->is_churning;
}

static enum err check_values(struct load *load)
{
    const struct bench_options *options = &load->options;

    if (!options->members || !options->topics || !options->publishers || !options->window)
        return refuse(load, "members, topics, publishers and window must not be 0");
    if (strlen(options->topic) > TOPIC_SIZE - 24)
        return refuse(load, "the name of the topic is too long");
    if (options->presence && !is_word(options->presence))
        return refuse(load, "presence is a word");
    return OK;
}

static enum err check_together(struct load *load)
{
    const struct bench_options *options = &load->options;

    if (ways_to_run(options) > 1)
        return refuse(load, "ping-pong, idle, handshakes, joins, churn: one at a time");
    if (options->is_churning && options->rate)
        return refuse(load, "churn goes by a window, not by a rate");
    if (options->is_churning && options->members <= options->publishers)
        return refuse(load, "churn wants members besides the publishers");
    return OK;
}

static enum err complete(struct load *load)
{
    struct bench_options *options = &load->options;

    if (options->is_pingpong)
        options->members = options->publishers = 2;
    if (options->idle) {
        options->publishers = options->is_probing;
        options->window = 1;
        options->topics = (options->idle + options->members - 1) / options->members;
    }
    if (options->is_cycling || options->joins)
        options->publishers = 0;
    if (options->publishers > options->members)
        return refuse(load, "there cannot be more publishers than members");
    return OK;
}

static enum err check_addresses(struct load *load)
{
    const char *from = load->options.from;
    enum err err;

    err = address_parse(load->options.url, load->options.protocol, load->why,
                        &load->address);
    if (err)
        return err;
    if (load->options.is_churning && load->address.protocol != &protocol_ws)
        return refuse(load, "churn is for WebSocket");
    if (!from)
        return OK;
    if (source_parse(str_of(from), &load->from))
        return refuse(load, "--from takes addresses as 127.0.0.2-127.0.0.9");
    if (load->address.socket.ss_family != AF_INET)
        return refuse(load, "--from is for a server at an IPv4 address");
    return OK;
}

enum err options_check(struct load *load)
{
    enum err err = check_values(load);

    if (!err)
        err = check_together(load);
    if (!err)
        err = complete(load);
    return err ? err : check_addresses(load);
}
