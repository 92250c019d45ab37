/* SPDX-License-Identifier: Apache-2.0 */
/* moot bench: the load generator. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/palette.h"
#include "crypto/crypto.h"

struct bench_words {
    const char *url, *protocol, *topic;
    const char *members, *topics, *publishers, *window, *rate, *size, *seconds;
    const char *idle, *pid;
    const char *token_file, *token_prefix, *participants;
    const char *warm_ms, *sources, *connect_seconds;
    const char *cacert, *from;
    const char *deliveries, *life, *stall_ms, *seed;
    const char *joins, *presence;
    bool pingpong, plain, json, ascii;
    bool handshakes, resume, insecure;
    bool probe, hold, phases, churn, mixed;
};

#define WORD(member) CLI_AT(struct bench_words, member)

/* clang-format off */
static const struct cli_option options[] = {
    { "--url",          "URL",    "ws:// or wss://HOST:PORT/PATH of the server",  WORD(url) },
    { "--protocol",     "NAME",   "ws, nats, redis or mqtt; else by the URL",     WORD(protocol) },
    { "--members",      "N",      "connections in each topic (2)",                WORD(members) },
    { "--topics",       "N",      "how many topics (1)",                          WORD(topics) },
    { "--topic",        "NAME",   "they are called NAME-0, NAME-1, … (bench)",    WORD(topic) },
    { "--publishers",   "N",      "members of each topic that send (1)",          WORD(publishers) },
    { "--window",       "N",      "own messages each keeps on the way (1)",       WORD(window) },
    { "--rate",         "N",      "messages a second in all, not by a window",    WORD(rate) },
    { "--size",         "BYTES",  "of an envelope (300)",                         WORD(size) },
    { "--seconds",      "N",      "how long to measure (2)",                      WORD(seconds) },
    { "--pingpong",     NULL,     "topics of two: one calls, the other answers",  WORD(pingpong) },
    { "--deliveries",   "N",      "end after so many, or after --seconds", WORD(deliveries) },
    { "--churn",        NULL,     "who does not publish comes, leaves, breaks off, stalls", WORD(churn) },
    { "--life",         "N",      "… after N deliveries on average (2000)",       WORD(life) },
    { "--stall-ms",     "MS",     "… and then reads nothing for up to MS (1500)", WORD(stall_ms) },
    { "--seed",         "N",      "… by the random numbers of this seed (1)",     WORD(seed) },
    { "--handshakes",   NULL,     "connect, be welcomed, break off, again; members × topics at a time", WORD(handshakes) },
    { "--resume",       NULL,     "… with the TLS ticket of an earlier connection", WORD(resume) },
    { "--cacert",       "FILE",   "wss: trust these certificates, not the system's", WORD(cacert) },
    { "--insecure",     NULL,     "wss: check no certificate",                    WORD(insecure) },
    { "--joins",        "N",      "N come to the members, by --rate or --window at a time", WORD(joins) },
    { "--presence",     "MODE",   "ask for presence=MODE when connecting",        WORD(presence) },
    { "--mixed",        NULL,     "every second member of a topic speaks the dotted dialect", WORD(mixed) },
    { "--idle",         "N",      "only hold N connections, send nothing",        WORD(idle) },
    { "--hold",         NULL,     "… until standard input ends, not for --seconds", WORD(hold) },
    { "--probe",        NULL,     "… then one message in each topic must reach all", WORD(probe) },
    { "--pid",          "PID",    "the local server: tell its CPU and memory",    WORD(pid) },
    { "--plain",        NULL,     "a server that sends no welcome",               WORD(plain) },
    { "--token-file",   "FILE",   "a token a line; client i uses line i",         WORD(token_file) },
    { "--token-prefix", "PREFIX", "client i uses the token PREFIX-i (only for a test)", WORD(token_prefix) },
    { "--participants", "N",      "begin again with the tokens after N clients",  WORD(participants) },
    { "--warm-ms",      "MS",     "how long to run before measuring (300)",       WORD(warm_ms) },
    { "--connect-seconds", "N",   "how long connecting may take (30)",            WORD(connect_seconds) },
    { "--from",         "A-B",    "source addresses to spread over: 127.0.0.2-127.0.0.9", WORD(from) },
    { "--sources",      "N",      "loopback addresses to connect from",           WORD(sources) },
    { "--phases",       NULL,     "say on stderr which phase begins, a line each", WORD(phases) },
    { "--json",         NULL,     "answer as JSON",                               WORD(json) },
    { "--ascii",        NULL,     "draw with ASCII characters only",              WORD(ascii) },
};

/* Which words are numbers, and which are taken. */
static const struct number {
    const char *name;
    size_t word;   /* in struct bench_words */
    size_t offset; /* of a uint64_t in struct bench_options */
    uint64_t preset, min, max;
} numbers[] = {
#define NUMBER(name, member, preset, min, max) \
    { name, offsetof(struct bench_words, member), offsetof(struct bench_options, member), preset, min, max }
    NUMBER("--members",         members,         2,   1, 100'000),
    NUMBER("--topics",          topics,          1,   1, 100'000),
    NUMBER("--publishers",      publishers,      1,   1, 100'000),
    NUMBER("--window",          window,          1,   1, 100'000),
    NUMBER("--rate",            rate,            0,   1, 10'000'000),
    NUMBER("--size",            size,            300, 1, 16 << 20),
    NUMBER("--seconds",         seconds,         2,   1, 3600),
    NUMBER("--deliveries",      deliveries,      0,   1, 4'000'000'000),
    NUMBER("--life",            life,            2000, 1, 1'000'000'000),
    NUMBER("--stall-ms",        stall_ms,        1500, 1, 600'000),
    NUMBER("--seed",            seed,            1,   0, UINT64_MAX),
    NUMBER("--joins",           joins,           0,   1, 100'000),
    NUMBER("--idle",            idle,            0,   1, 1'000'000),
    NUMBER("--pid",             pid,             0,   1, 1 << 22),
    NUMBER("--participants",    participants,    0,   1, 1'000'000),
    NUMBER("--warm-ms",         warm_ms,         300, 0, 60'000),
    NUMBER("--sources",         sources,         0,   1, 250),
    NUMBER("--connect-seconds", connect_seconds, 30,  1, 600),
#undef NUMBER
};
/* clang-format on */

enum { TOKENS_MAX = 16 << 20, REPORT_MAX = 1 << 20, SECONDS_MAX = 3600 };

static int read_numbers(const struct bench_words *words, struct bench_options *ret)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const struct number *number = &numbers[i];
        const char *text;
        uint64_t value = number->preset;

        memcpy(&text, (const char *)words + number->word, sizeof(text));
        if (text &&
            (str_to_u64(str_of(text), number->max, &value) || value < number->min))
            return cli_fail("%s takes a number from %llu to %llu, not \"%s\"",
                            number->name, (unsigned long long)number->min,
                            (unsigned long long)number->max, text),
                   CLI_USAGE;
        memcpy((char *)ret + number->offset, &value, sizeof(value));
    }
    return CLI_OK;
}

/* --- tokens --- */

struct tokens {
    struct buf text;
    struct str *items;
    size_t count;
};

static int split_tokens(struct tokens *tokens, const char *path)
{
    struct str rest = buf_str(&tokens->text);
    size_t lines = 1;

    for (size_t i = 0; i < rest.len; i++)
        lines += rest.ptr[i] == '\n';
    tokens->items = xcalloc(lines, sizeof(*tokens->items));
    while (rest.ptr) {
        struct str line = str_trim(str_cut(&rest, '\n'));

        if (str_ends(line, S("\r")))
            line.len--;
        if (line.len)
            tokens->items[tokens->count++] = line;
    }
    return tokens->count ? CLI_OK
                         : cli_fail("%s holds no token", path ? path : "$MOOT_TOKEN");
}

/* A token is a secret: from a file or the environment, never from the command line. */
static int read_tokens(const struct bench_words *words, struct tokens *tokens)
{
    const char *from_env = getenv("MOOT_TOKEN");
    int code = CLI_OK;

    if (words->token_file)
        code = cli_read_file(words->token_file, &tokens->text);
    else if (!words->token_prefix && !words->plain && from_env && *from_env)
        buf_put(&tokens->text, str_of(from_env));
    else
        return CLI_OK;
    return code ? code : split_tokens(tokens, words->token_file);
}

static void tokens_done(struct tokens *tokens)
{
    crypto_wipe(tokens->text.ptr, tokens->text.len);
    buf_done(&tokens->text);
    free(tokens->items);
}

/* --- output --- */

static void show_progress(void *user [[maybe_unused]], const struct bench_progress *p)
{
    char rate[64] = "";

    if (p->deliveries && p->seconds > 0)
        (void)snprintf(rate, sizeof(rate), ", %.0f deliveries/s",
                       (double)p->deliveries / p->seconds);
    fprintf(stderr, "\r\033[K%s: %zu of %zu connections, %.1f s%s", p->phase, p->open,
            p->connections, p->seconds, rate);
}

static void show_phase(void *user [[maybe_unused]], const char *phase)
{
    fprintf(stderr, "%s\n", phase);
}

static enum plot_style choose_style(const struct bench_words *words)
{
    return words->ascii || !palette_is_utf8() ? PLOT_ASCII : PLOT_UNICODE;
}

static void print_report(const struct bench_words *words, const struct bench_options *o,
                         const struct bench_result *result)
{
    struct buf out;

    buf_init(&out, REPORT_MAX);
    if (words->json)
        bench_write_json(result, &out);
    else
        bench_write_text(o, result, choose_style(words), &out);
    (void)fwrite(out.ptr, 1, out.len, stdout);
    buf_done(&out);
    if (words->json && *result->first_error)
        fprintf(stderr, "first refusal: %s\n", result->first_error);
    if (words->json && *result->first_close)
        fprintf(stderr, "first close: %s\n", result->first_close);
}

static int measure(const struct bench_words *words, struct bench_options *o)
{
    struct bench_result *result = xcalloc(1, sizeof(*result));
    bool is_watched = isatty(STDERR_FILENO) == 1;
    struct buf why;
    enum err err;

    buf_init(&why, REPORT_MAX);
    if (is_watched)
        o->on_progress = show_progress;
    if (words->phases)
        o->on_phase = show_phase;
    err = bench_run(o, &why, result);
    if (is_watched)
        fputs("\r\033[K", stderr);
    if (err)
        (void)cli_fail("%s", buf_cstr(&why));
    else
        print_report(words, o, result);
    buf_done(&why);
    free(result);
    if (err)
        return err == ERR_INVALID ? CLI_USAGE : CLI_FAILED;
    return CLI_OK;
}

static int explain_use(void)
{
    fputs("moot bench: say with --url which server to load, for example\n\n"
          "  moot serve --no-link &\n"
          "  MOOT_TOKEN=… moot bench --url ws://127.0.0.1:8420/ws --members 10\n\n"
          "Try `moot bench --help`.\n",
          stderr);
    return CLI_USAGE;
}

static int bench(void *fields, char **arguments [[maybe_unused]],
                 size_t count [[maybe_unused]])
{
    const struct bench_words *words = fields;
    struct bench_options o = { .url = words->url,
                               .protocol = words->protocol,
                               .topic = words->topic ? words->topic : "bench",
                               .token_prefix = words->token_prefix,
                               .is_plain = words->plain,
                               .is_pingpong = words->pingpong,
                               .is_cycling = words->handshakes,
                               .is_churning = words->churn,
                               .resumes = words->resume,
                               .cacert = words->cacert,
                               .is_insecure = words->insecure,
                               .is_probing = words->probe,
                               .hold_fd = words->hold ? STDIN_FILENO : -1,
                               .from = words->from,
                               .presence = words->presence,
                               .is_mixed = words->mixed };
    struct tokens tokens = {};
    int code;

    if (!words->url)
        return explain_use();
    code = read_numbers(words, &o);
    if (code)
        return code;
    if (o.deliveries && !words->seconds)
        o.seconds = SECONDS_MAX;
    buf_init(&tokens.text, TOKENS_MAX);
    code = read_tokens(words, &tokens);
    o.tokens = tokens.items;
    o.token_count = tokens.count;
    if (!code)
        code = measure(words, &o);
    tokens_done(&tokens);
    return code;
}

const struct cli_command cli_bench = {
    .name = "bench",
    .usage = "--url URL [OPTIONS]",
    .summary = "put a load on a server and measure it",
    .more =
        "Connects, publishes and accounts for every message at every receiver. Latency\n"
        "is from sending (with --rate: from when it was due) to arrival. The token comes\n"
        "from --token-file or $MOOT_TOKEN; it needs the capability \"chat\" (\"mcp/*\" for\n"
        "--pingpong). What the server's limits refuse is told as a fault: raise\n"
        "limits.rate_messages, limits.connections_per_participant and the topics'\n"
        "max_members for a load beyond them; --pingpong with agents' tokens also needs\n"
        "the topics' loop_guard to be off.\n\n"
        "A topic of 100 with one publisher, and what it costs the local server:\n"
        "  moot bench --url ws://127.0.0.1:8420/ws --members 100 --window 8 --pid PID\n"
        "Latency under a steady load:\n"
        "  moot bench --url ws://127.0.0.1:8420/ws --members 20 --rate 500 --seconds 10\n"
        "Any other WebSocket server: one that echoes, one that broadcasts to ?topic=\n"
        "  moot bench --url ws://HOST:PORT/ --plain --members 1 --topics 100\n"
        "  moot bench --url ws://HOST:PORT/ --plain --members 100\n"
        "Members that come and go while others publish, to the end of 10^8 deliveries:\n"
        "  moot bench --url ws://127.0.0.1:8420/ws --churn --topics 10 --members 100 \\\n"
        "    --publishers 2 --window 16 --deliveries 100000000\n"
        "Over TLS, and what a handshake costs, complete or resumed:\n"
        "  moot bench --url wss://localhost:8420/ws --cacert ca.pem --members 100\n"
        "  moot bench --url wss://localhost:8420/ws --handshakes --members 20 --pid PID\n"
        "A broker, for comparison:\n"
        "  moot bench --url nats://127.0.0.1:4222 --members 100 --window 8\n",
    .options = options,
    .option_count = COUNT(options),
    .run = bench,
    .options_size = sizeof(struct bench_words),
};
