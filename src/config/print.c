/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table as text: the settings in force as YAML, the help, the manual. What
 * config_print() writes can be read again, but for tokens, which are masked.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "config/config_priv.h"

/* As every { items, count } member is laid out. */
struct items {
    const void *items;
    size_t count;
};

/* Where the printer stands. */
struct spot {
    struct buf *out;
    size_t indent;
    bool is_commented; /* help stands above each option; not inside lists and maps */
    bool is_after_dash;
};

static void put_schema(struct spot spot, const struct schema *schema, const void *object);

static void put_texts(struct buf *out, const struct option *option,
                      const struct config_strs *texts)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < texts->count; i++) {
        if (i)
            buf_put(out, S(", "));
        if (option->kind == OPTION_RIGHTS && str_starts(texts->items[i], S("{")))
            buf_put(out, texts->items[i]); /* JSON is YAML */
        else
            quoted_put(texts->items[i], out);
    }
    buf_putc(out, ']');
}

static void put_pairs(struct buf *out, const struct config_pairs *pairs)
{
    buf_putc(out, '{');
    for (size_t i = 0; i < pairs->count; i++) {
        struct str value = pairs->items[i].value;

        if (i)
            buf_put(out, S(", "));
        quoted_put(pairs->items[i].name, out);
        buf_put(out, S(": "));
        if (str_starts(value, S("file:")) || str_starts(value, S("env:")))
            quoted_put(value, out);
        else
            buf_put(out, S("\"***\""));
    }
    buf_putc(out, '}');
}

static void put_number(struct buf *out, const struct option *option, uint64_t value)
{
    if (!value && option->word)
        buf_put(out, str_of(option->word));
    else
        number_put(option->kind, value, out);
}

static const char *bool_name(const struct option *option, bool value)
{
    if (option->choices)
        return option->choices[value];
    return value ? "true" : "false";
}

void option_put_value(struct buf *out, const struct option *option, const void *field)
{
    char time[CLOCK_TEXT];

    switch (option->kind) {
    case OPTION_COUNT:
    case OPTION_SIZE:
    case OPTION_DURATION:
    case OPTION_RATE:
    case OPTION_BYTE_RATE: put_number(out, option, *(const uint64_t *)field); break;
    case OPTION_BOOL:
        buf_put(out, str_of(bool_name(option, *(const bool *)field)));
        break;
    case OPTION_SWITCH:
        buf_put(out, str_of(bool_name(option, *(const int *)field == CONFIG_ON)));
        break;
    case OPTION_CHOICE: buf_put(out, str_of(option->choices[*(const int *)field])); break;
    case OPTION_SECRET: buf_put(out, S("\"***\"")); break;
    case OPTION_TEXT:
    case OPTION_PATH: quoted_put(*(const struct str *)field, out); break;
    case OPTION_PATHS:
    case OPTION_TEXTS:
    case OPTION_RIGHTS: put_texts(out, option, field); break;
    case OPTION_OBJECT: /* JSON is YAML */
        buf_put(out, *(const struct str *)field);
        break;
    case OPTION_PAIRS: put_pairs(out, field); break;
    case OPTION_TIME: quoted_put(clock_write(*(const uint64_t *)field, time), out); break;
    case OPTION_LIST: buf_put(out, S("[]")); break;
    case OPTION_MAP: buf_put(out, S("{}")); break;
    case OPTION_SECTION: break;
    }
}

bool option_is_unset(const struct option *option, const void *object)
{
    const void *field = option_value(option, object);
    const struct str *other = (const void *)((const char *)object + option->unless);

    if (option->unless && other->len)
        return true;
    switch (option->kind) {
    case OPTION_TEXT:
    case OPTION_SECRET:
    case OPTION_OBJECT:
    case OPTION_PATH: return ((const struct str *)field)->len == 0;
    case OPTION_PATHS:
    case OPTION_TEXTS:
    case OPTION_RIGHTS: return !((const struct config_strs *)field)->items;
    case OPTION_PAIRS: return ((const struct config_pairs *)field)->count == 0;
    case OPTION_SWITCH: return *(const int *)field == CONFIG_UNSET;
    case OPTION_TIME: return *(const uint64_t *)field == 0;
    case OPTION_COUNT:
    case OPTION_SIZE:
    case OPTION_DURATION:
    case OPTION_RATE:
    case OPTION_BYTE_RATE:
    case OPTION_BOOL:
    case OPTION_CHOICE:
    case OPTION_SECTION:
    case OPTION_LIST:
    case OPTION_MAP: break;
    }
    return false;
}

static void put_indent(struct buf *out, size_t indent)
{
    for (size_t i = 0; i < indent; i++)
        buf_putc(out, ' ');
}

static void put_items(struct spot spot, const struct option *option,
                      const struct items *list)
{
    const char *at = list->items;

    for (size_t i = 0; i < list->count; i++, at += option->schema->size) {
        struct spot inner = { .out = spot.out, .indent = spot.indent + 4 };

        put_indent(spot.out, spot.indent + 2);
        if (option->kind == OPTION_LIST) {
            buf_put(spot.out, S("- "));
            inner.is_after_dash = true;
        } else {
            quoted_put(((const struct config_topic *)(const void *)at)->name, spot.out);
            buf_put(spot.out, S(":\n"));
        }
        put_schema(inner, option->schema, at);
    }
}

static bool has_items(const struct option *option, const void *field)
{
    return (option->kind == OPTION_LIST || option->kind == OPTION_MAP) &&
           ((const struct items *)field)->count > 0;
}

static void put_option(struct spot spot, const struct option *option, const void *object)
{
    const void *field = option_value(option, object);

    if (spot.is_commented) {
        put_indent(spot.out, spot.indent);
        buf_putf(spot.out, "# %s\n", option->help);
    }
    if (!spot.is_after_dash)
        put_indent(spot.out, spot.indent);
    if (option_is_unset(option, object) && option->kind != OPTION_TEXTS &&
        option->kind != OPTION_PATHS && option->kind != OPTION_RIGHTS)
        buf_put(spot.out, S("# "));
    buf_putf(spot.out, "%s:", option->name);
    if (option->kind == OPTION_SECTION || has_items(option, field)) {
        buf_putc(spot.out, '\n');
    } else {
        buf_putc(spot.out, ' ');
        option_put_value(spot.out, option, field);
        buf_putc(spot.out, '\n');
    }
    if (has_items(option, field))
        put_items(spot, option, field);
    if (option->kind == OPTION_SECTION)
        put_schema((struct spot){ .out = spot.out,
                                  .indent = spot.indent + 2,
                                  .is_commented = spot.is_commented },
                   option->schema, field);
}

static void put_schema(struct spot spot, const struct schema *schema, const void *object)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct option *option = &schema->options[i];

        if (!spot.is_commented && option_is_unset(option, object))
            continue;
        put_option(spot, option, object);
        spot.is_after_dash = false;
    }
}

void config_print(const struct config *config, struct buf *out)
{
    put_schema((struct spot){ .out = out, .is_commented = true }, &config_schema, config);
}

const char *config_needs_restart(const struct config *running, const struct config *next)
{
    const char *found = NULL;

    for (size_t i = 0; i < config_schema.count && !found; i++) {
        const struct option *option = &config_schema.options[i];
        struct buf a, b;

        if (!option->needs_restart)
            continue;
        buf_init(&a, CONFIG_FILE_MAX);
        buf_init(&b, CONFIG_FILE_MAX);
        option_put_value(&a, option, option_value(option, running));
        option_put_value(&b, option, option_value(option, next));
        if (!str_eq(buf_str(&a), buf_str(&b)))
            found = option->name;
        buf_done(&a);
        buf_done(&b);
    }
    return found;
}

/* One visit of the help and the manual; `path` is the full name. */
struct tour {
    struct buf *out;
    void (*visit)(struct buf *out, const struct option *option, const char *path);
};

static void walk(const struct tour *tour, const struct schema *schema, const char *prefix)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct option *option = &schema->options[i];
        char path[128];

        (void)snprintf(path, sizeof(path), "%s%s", prefix, option->name);
        tour->visit(tour->out, option, path);
        if (!option->schema || option->template)
            continue;
        if (option->kind == OPTION_LIST)
            (void)snprintf(path, sizeof(path), "%s%s[].", prefix, option->name);
        else if (option->kind == OPTION_MAP)
            (void)snprintf(path, sizeof(path), "%s%s.NAME.", prefix, option->name);
        else
            (void)snprintf(path, sizeof(path), "%s%s.", prefix, option->name);
        walk(tour, option->schema, path);
    }
}

static void put_kind(struct buf *out, const struct option *option)
{
    for (size_t i = 0; option->choices && option->choices[i]; i++)
        buf_putf(out, "%s%s", i ? " | " : "", option->choices[i]);
    if (!option->choices)
        buf_put(out, str_of(option_noun(option->kind)));
    if (option->template)
        buf_put(out, S(" of the same settings"));
    if (option->word)
        buf_putf(out, ", or %s", option->word);
}

/* "a size such as 512KiB; 1KiB to 64MiB; default 1MiB" */
static void put_facts(struct buf *out, const struct option *option)
{
    put_kind(out, option);
    if (option->min)
        buf_putf(out, "; %s to %s", option->min, option->max);
    if (option->preset)
        buf_putf(out, "; default %s", option->preset);
    if (option->is_required)
        buf_put(out, S("; required"));
    if (option->needs_restart)
        buf_put(out, S("; needs a restart"));
}

static void help_visit(struct buf *out, const struct option *option, const char *path)
{
    buf_putf(out, "  %s\n      %s\n      (", path, option->help);
    put_facts(out, option);
    buf_put(out, S(")\n"));
}

void config_help(struct buf *out)
{
    const struct tour tour = { out, help_visit };

    buf_put(out, S("Options of the configuration file. Relative paths start at the "
                   "folder of the file.\n\n"));
    walk(&tour, &config_schema, "");
}

/* A leading dot or quote would be a request, a backslash an escape, to roff. */
static void put_roff(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            buf_put(out, S("\\e"));
        else if (*text == '-')
            buf_put(out, S("\\-"));
        else
            buf_putc(out, *text);
    }
}

static void man_visit(struct buf *out, const struct option *option, const char *path)
{
    struct buf facts;

    buf_put(out, S(".TP\n.B "));
    put_roff(out, path);
    buf_put(out, S("\n\\&"));
    put_roff(out, option->help);
    buf_put(out, S(".\n.br\n\\&"));
    buf_init(&facts, 4096);
    put_facts(&facts, option);
    put_roff(out, buf_cstr(&facts));
    buf_done(&facts);
    buf_put(out, S(".\n"));
}

void config_man(struct buf *out)
{
    const struct tour tour = { out, man_visit };

    buf_put(out, S(".SH OPTIONS\nRelative paths start at the folder of the file.\n"));
    walk(&tour, &config_schema, "");
}
