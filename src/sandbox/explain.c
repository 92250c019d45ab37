/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people, and for programs. What it says is read from the plan alone. */
#include "base/cleanup.h"
#include "json/json.h"
#include "sandbox/sandbox_priv.h"

static void put_head(struct buf *out, const char *head)
{
    buf_putf(out, "%-10s", head);
}

/* A word as a shell would need it, so that where one ends can be seen; control bytes do
 * not reach the terminal. */
static void put_word(struct buf *out, struct str word)
{
    bool is_plain = word.len > 0;

    for (size_t i = 0; i < word.len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                    "@%+=:,./_-",
                    word.ptr[i]) ||
            !word.ptr[i])
            is_plain = false;
    if (is_plain) {
        buf_put(out, word);
        return;
    }
    buf_putc(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        unsigned char c = (unsigned char)word.ptr[i];

        if (c < 0x20 || c == 0x7f)
            buf_putf(out, "\\x%02x", c);
        else if (c == '\'')
            buf_put(out, S("'\\''"));
        else
            buf_putc(out, word.ptr[i]);
    }
    buf_putc(out, '\'');
}

static void explain_command(const struct sandbox_plan *plan, struct buf *out)
{
    put_head(out, "command");
    for (size_t i = 0; i < plan->word_count; i++) {
        if (i)
            buf_putc(out, ' ');
        put_word(out, plan->words[i]);
    }
    buf_put(out, S("\n"));
    put_head(out, "folder");
    put_word(out, plan->folder);
    buf_put(out, S("\n"));
}

static void explain_level(const struct sandbox_plan *plan, struct buf *out)
{
    static const char *const levels[] = {
        "strict: files, processes, network of its own; filtered system calls",
        "basic: Landlock; filtered system calls",
        "OFF: it may do whatever the user may that it runs as",
    };

    put_head(out, "sandbox");
    buf_putf(out, "%s\n", levels[plan->level]);
    if (plan->bwrap.len) {
        put_head(out, "");
        buf_putf(out, "made by %s\n", plan->bwrap.ptr);
    }
    put_head(out, "user");
    buf_putf(out, "uid %u, gid %u%s\n", plan->uid, plan->gid,
             plan->uid == 0 ? " (ROOT)" : "");
    if (plan->is_root && plan->uid == PLAN_UID) {
        put_head(out, "");
        buf_put(out, S("kept by a gateway: a uid of its own, from 64001 on\n"));
    }
}

static void explain_variables(const struct sandbox_plan *plan, struct buf *out)
{
    for (size_t i = 0; i < plan->variable_count; i++) {
        const struct sandbox_variable *variable = &plan->variables[i];

        put_head(out, i ? "" : "variables");
        buf_put(out, variable->name);
        buf_putc(out, '=');
        if (variable->is_secret)
            buf_put(out, S("***"));
        else
            put_word(out, variable->value);
        buf_put(out, S("\n"));
    }
}

/* A line for each, the head before the first. */
static void put_item(struct buf *out, const char **head, struct str item)
{
    put_head(out, *head);
    put_word(out, item);
    buf_put(out, S("\n"));
    *head = "";
}

static void explain_places(const struct sandbox_plan *plan, struct buf *out,
                           enum place_type type, const char *head)
{
    for (size_t i = 0; i < plan->place_count; i++) {
        const struct place *place = &plan->places[i];

        if (place->type != type)
            continue;
        put_head(out, head);
        put_word(out, place->to);
        if (type == PLACE_TEXT)
            buf_put(out, S(" (made up)"));
        else if (!str_eq(place->from, place->to)) {
            buf_put(out, S(", which is "));
            put_word(out, place->from);
        }
        buf_put(out, S("\n"));
        head = "";
    }
}

static void explain_files(const struct sandbox_plan *plan, struct buf *out)
{
    if (plan->level == SANDBOX_OFF)
        return;
    explain_places(plan, out, PLACE_READ, "reads");
    explain_places(plan, out, PLACE_LINK, "");
    explain_places(plan, out, PLACE_TEXT, "");
    explain_places(plan, out, PLACE_WRITE, "writes");
    if (plan->level != SANDBOX_STRICT)
        return;
    put_head(out, "in memory");
    buf_put(out, S("/tmp, /dev/shm"));
    if (!plan->home.len)
        buf_put(out, S(", " PLAN_EMPTY_HOME));
    buf_put(out, S(": gone when it ends\n"));
}

static void explain_network(const struct sandbox_plan *plan, struct buf *out)
{
    static const char *const networks[] = {
        "none: no sockets but local ones",
        "loopback: an empty network of its own",
        "hosts: an empty network of its own, and a proxy that reaches",
        "any: that of this machine",
    };
    const char *head = "";

    put_head(out, "network");
    buf_putf(out, "%s\n",
             plan->level == SANDBOX_BASIC ? "none: no sockets at all"
                                          : networks[plan->network]);
    for (size_t i = 0; i < plan->host_count; i++)
        put_item(out, &head, plan->hosts[i]);
}

static const char *enforcement(const struct sandbox_plan *plan)
{
    static const char *const groups[] = {
        [GROUP_V1] = "by a control group (version 1), with all it starts",
        [GROUP_V2] = "by a control group (version 2), with all it starts",
    };

    if (plan->group != GROUP_NONE)
        return groups[plan->group];
    if (plan->level == SANDBOX_STRICT || (plan->is_root && plan->uid != 0))
        return "there is no control group: memory per process (RLIMIT_DATA), and looked "
               "at twice a second with all it starts; processes by RLIMIT_NPROC; no limit "
               "of the processor";
    return "there is no control group: memory per process (RLIMIT_DATA); memory and "
           "processes are looked at twice a second; no limit of the processor";
}

static void explain_limits(const struct sandbox_plan *plan, struct buf *out)
{
    put_head(out, "limits");
    buf_putf(out, "memory %zu MiB, %zu processes, %u %% of a processor,\n",
             plan->memory >> 20, plan->processes, plan->cpu_percent);
    put_head(out, "");
    buf_putf(out, "%zu open files, %zu MiB per file, no core dumps,\n", plan->files,
             plan->file_bytes >> 20);
    put_head(out, "");
    buf_putf(out, "%s\n", enforcement(plan));
}

void sandbox_explain(const struct sandbox_plan *plan, struct buf *out)
{
    explain_command(plan, out);
    explain_level(plan, out);
    explain_files(plan, out);
    explain_network(plan, out);
    explain_variables(plan, out);
    explain_limits(plan, out);
}

static void put_words(struct json_writer *w, struct str key, const struct str *words,
                      size_t count)
{
    json_put_strs(w, key, (struct str_list){ words, count });
}

static void put_variables(struct json_writer *w, const struct sandbox_plan *plan)
{
    json_key(w, S("variables"));
    json_object_open(w);
    for (size_t i = 0; i < plan->variable_count; i++) {
        const struct sandbox_variable *variable = &plan->variables[i];

        json_put_str(w, variable->name, variable->is_secret ? S("***") : variable->value);
    }
    json_object_close(w);
}

static void put_places(struct json_writer *w, const struct sandbox_plan *plan,
                       struct str key, enum place_type type)
{
    json_key(w, key);
    json_array_open(w);
    for (size_t i = 0; i < plan->place_count; i++)
        if (plan->places[i].type == type)
            json_str(w, plan->places[i].to);
    json_array_close(w);
}

static void put_limits(struct json_writer *w, const struct sandbox_plan *plan)
{
    static const char *const groups[] = { "process", "cgroup1", "cgroup2" };

    json_put_uint(w, S("memory"), plan->memory);
    json_put_uint(w, S("processes"), plan->processes);
    json_put_uint(w, S("cpu_percent"), plan->cpu_percent);
    json_put_uint(w, S("files"), plan->files);
    json_put_uint(w, S("file_bytes"), plan->file_bytes);
    json_put_str(w, S("limited_by"), str_of(groups[plan->group]));
}

void sandbox_explain_json(const struct sandbox_plan *plan, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    put_words(&w, S("command"), plan->words, plan->word_count);
    json_put_str(&w, S("folder"), plan->folder);
    json_put_str(&w, S("sandbox"), str_of(sandbox_level_name(plan->level)));
    json_put_uint(&w, S("uid"), plan->uid);
    json_put_uint(&w, S("gid"), plan->gid);
    put_places(&w, plan, S("read"), PLACE_READ);
    put_places(&w, plan, S("write"), PLACE_WRITE);
    json_put_str(&w, S("network"), str_of(sandbox_network_name(plan->network)));
    put_words(&w, S("hosts"), plan->hosts, plan->host_count);
    put_variables(&w, plan);
    put_limits(&w, plan);
    json_object_close(&w);
}
