/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_clients.h"

#include "base/cleanup.h"

enum { INDENT = 2 };

/* clang-format off */
static const struct mcp_client clients[] = {
    { .name = S("claude-desktop"), .title = S("Claude Desktop"),
      .path = S("~/.config/Claude/claude_desktop_config.json"), .holder = S("mcpServers") },
    { .name = S("claude-code"), .title = S("Claude Code"),
      .path = S(".mcp.json"), .holder = S("mcpServers"), .stdio_type = S("stdio"),
      .url_member = S("url"), .url_type = S("http"), .token = S("Bearer ${MOOT_TOKEN}") },
    { .name = S("cursor"), .title = S("Cursor"),
      .path = S("~/.cursor/mcp.json"), .holder = S("mcpServers"),
      .url_member = S("url"), .token = S("Bearer ${env:MOOT_TOKEN}") },
    { .name = S("vscode"), .title = S("VS Code"),
      .path = S(".vscode/mcp.json"), .holder = S("servers"), .stdio_type = S("stdio"),
      .url_member = S("url"), .url_type = S("http"), .token = S("Bearer ${input:moot-token}") },
    { .name = S("windsurf"), .title = S("Windsurf"),
      .path = S("~/.codeium/windsurf/mcp_config.json"), .holder = S("mcpServers"),
      .url_member = S("serverUrl"), .token = S("Bearer ${env:MOOT_TOKEN}") },
    { .name = S("zed"), .title = S("Zed"),
      .path = S("~/.config/zed/settings.json"), .holder = S("context_servers"),
      .url_member = S("url") },
    { .name = S("codex"), .title = S("Codex"), .format = CLIENT_TOML,
      .path = S("~/.codex/config.toml"), .holder = S("mcp_servers"),
      .url_member = S("url"), .token = S("MOOT_TOKEN") },
    { .name = S("gemini"), .title = S("Gemini CLI"),
      .path = S("~/.gemini/settings.json"), .holder = S("mcpServers"),
      .url_member = S("httpUrl"), .token = S("Bearer $MOOT_TOKEN") },
};
/* clang-format on */

const struct mcp_client *mcp_client_find(struct str name)
{
    for (size_t i = 0; i < COUNT(clients); i++)
        if (str_eq(clients[i].name, name))
            return &clients[i];
    return NULL;
}

const struct mcp_client *mcp_client_next(const struct mcp_client *after)
{
    if (!after)
        return &clients[0];
    return after < &clients[COUNT(clients) - 1] ? after + 1 : NULL;
}

void mcp_client_put_names(struct buf *out)
{
    for (size_t i = 0; i < COUNT(clients); i++) {
        if (i)
            buf_put(out, S(", "));
        buf_put(out, clients[i].name);
    }
}

const char *mcp_client_fault(const struct mcp_client *client,
                             const struct mcp_entry *entry)
{
    if (entry->url.len && !client->url_member.len)
        return "takes commands alone in its settings: leave out --url";
    if (entry->url.len && entry->has_token && !client->token.len)
        return "takes tokens for a URL only where they stand in its settings: leave out "
               "--url, then a file is named there";
    return NULL;
}

/* --- JSON --- */

static void put_text(struct buf *out, struct str text)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_str(&w, text);
}

void mcp_client_put_margin(struct buf *out, size_t margin)
{
    for (size_t i = 0; i < margin; i++)
        buf_putc(out, ' ');
}

void mcp_client_put_key(struct buf *out, struct str key)
{
    put_text(out, key);
    buf_put(out, S(": "));
}

/* The members of an object, a line each. */
struct lines {
    struct buf *out;
    size_t margin;
    bool has_some;
};

static void begin_line(struct lines *lines, struct str key)
{
    buf_put(lines->out, lines->has_some ? S(",\n") : S("\n"));
    lines->has_some = true;
    mcp_client_put_margin(lines->out, lines->margin);
    mcp_client_put_key(lines->out, key);
}

static void put_line(struct lines *lines, struct str key, struct str text)
{
    begin_line(lines, key);
    put_text(lines->out, text);
}

static void put_texts(struct buf *out, struct str_list texts)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < texts.count; i++) {
        if (i)
            buf_put(out, S(", "));
        put_text(out, texts.items[i]);
    }
    buf_putc(out, ']');
}

static void put_command(struct lines *lines, const struct mcp_client *client,
                        const struct mcp_entry *entry)
{
    if (client->stdio_type.len)
        put_line(lines, S("type"), client->stdio_type);
    put_line(lines, S("command"), entry->command);
    begin_line(lines, S("args"));
    put_texts(lines->out, entry->arguments);
}

static void put_url(struct lines *lines, const struct mcp_client *client,
                    const struct mcp_entry *entry)
{
    if (client->url_type.len)
        put_line(lines, S("type"), client->url_type);
    put_line(lines, client->url_member, entry->url);
    if (!entry->has_token)
        return;
    begin_line(lines, S("headers"));
    buf_put(lines->out, S("{ \"Authorization\": "));
    put_text(lines->out, client->token);
    buf_put(lines->out, S(" }"));
}

void mcp_client_put_entry(struct buf *out, const struct mcp_client *client,
                          const struct mcp_entry *entry, size_t margin)
{
    struct lines lines = { .out = out, .margin = margin + INDENT };

    buf_putc(out, '{');
    if (entry->url.len)
        put_url(&lines, client, entry);
    else
        put_command(&lines, client, entry);
    buf_putc(out, '\n');
    mcp_client_put_margin(out, margin);
    buf_putc(out, '}');
}

/* VS Code asks for what its settings do not say, and keeps it. */
static void put_inputs(struct lines *lines, const struct mcp_client *client,
                       const struct mcp_entry *entry)
{
    if (!entry->url.len || !entry->has_token ||
        !str_starts(client->token, S("Bearer ${input:")))
        return;
    begin_line(lines, S("inputs"));
    buf_put(lines->out,
            S("[{ \"type\": \"promptString\", \"id\": \"moot-token\", \"description\": "
              "\"Token for Moot\", \"password\": true }]"));
}

static void put_json_file(struct buf *out, const struct mcp_client *client,
                          const struct mcp_entry *entry)
{
    struct lines outer = { .out = out, .margin = INDENT };
    struct lines inner = { .out = out, .margin = (size_t)2 * INDENT };

    buf_putc(out, '{');
    put_inputs(&outer, client, entry);
    begin_line(&outer, client->holder);
    buf_putc(out, '{');
    begin_line(&inner, entry->name);
    mcp_client_put_entry(out, client, entry, inner.margin);
    buf_put(out, S("\n  }\n}\n"));
}

/* --- TOML --- */

/* Basic strings of TOML are those of JSON, as far as these are written here. */
static void put_toml_file(struct buf *out, const struct mcp_client *client,
                          const struct mcp_entry *entry)
{
    buf_putf(out, "[" STR_FMT ".", STR_ARG(client->holder));
    put_text(out, entry->name);
    buf_put(out, S("]\n"));
    if (entry->url.len) {
        buf_putf(out, STR_FMT " = ", STR_ARG(client->url_member));
        put_text(out, entry->url);
        if (entry->has_token) {
            buf_put(out, S("\nbearer_token_env_var = "));
            put_text(out, client->token);
        }
    } else {
        buf_put(out, S("command = "));
        put_text(out, entry->command);
        buf_put(out, S("\nargs = "));
        put_texts(out, entry->arguments);
    }
    buf_putc(out, '\n');
}

void mcp_client_put_file(struct buf *out, const struct mcp_client *client,
                         const struct mcp_entry *entry)
{
    switch (client->format) {
    case CLIENT_JSON: put_json_file(out, client, entry); break;
    case CLIENT_TOML: put_toml_file(out, client, entry); break;
    }
}
