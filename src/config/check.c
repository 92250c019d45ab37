/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the option tables cannot say: options that need or exclude each other, secrets in
 * files, and limits that depend on other limits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "config/config_priv.h"

enum { TOKEN_MAX = 4096, FIELDS_BYTES = 16 << 10, FIELDS_MAX = 32, JWT_SECRET_MIN = 32 };

#define FAIL(reader, where, ...) \
    config_fail((reader)->config, (where), (reader)->problem, __VA_ARGS__)

enum err check_tls(struct reader *reader, const struct node *node, void *object)
{
    const struct config_tls *tls = object;

    if ((tls->certificate.len == 0) != (tls->key.len == 0))
        return FAIL(reader, node->mark, "tls needs both \"certificate\" and \"key\"");
    return OK;
}

/* Whoever opens a topic to all of this machine says which, and how far. */
enum err check_anonymous(struct reader *reader, const struct node *node, void *object)
{
    struct config_anonymous *anonymous = object;

    anonymous->mark = node->mark;
    if (anonymous->id.len == 0 && anonymous->profile.len == 0 &&
        anonymous->topics.count == 0)
        return OK;
    if (anonymous->id.len == 0 || anonymous->profile.len == 0 ||
        anonymous->topics.count == 0)
        return FAIL(reader, node->mark,
                    "anonymous needs \"id\", \"profile\" and \"topics\"");
    return OK;
}

/* Exactly one of two keys. */
static enum err check_one_of(struct reader *reader, const struct node *node,
                             const char *one, const char *other)
{
    const struct node *a = node_find(node, str_of(one));
    const struct node *b = node_find(node, str_of(other));

    if (!a && !b)
        return FAIL(reader, node->mark, "token needs \"%s\" or \"%s\"", one, other);
    if (a && b)
        return FAIL(reader, b->key_mark, "token has both \"%s\" and \"%s\"", one, other);
    return OK;
}

static bool is_one_of(char c, struct str set)
{
    return str_find(set, c, 0) < set.len;
}

/* What can stand behind "Bearer" (RFC 6750 2.1). */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool is_alnum =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!is_alnum && !is_one_of(c, S("-._~+/=")))
            return false;
    }
    return s.len > 0;
}

static void add_warning(struct reader *reader, struct config_mark mark, const char *path,
                        const char *what)
{
    size_t at = reader->warning_count;
    char text[256];

    if (at == CONFIG_WARNINGS)
        return;
    (void)snprintf(text, sizeof(text), "%s %s", path, what);
    reader->warnings[at] = arena_str(&reader->config->arena, str_of(text));
    reader->warning_marks[at] = mark;
    reader->warning_count += reader->warnings[at].ptr != NULL;
}

static ssize_t read_whole(int fd, char *out, size_t size)
{
    size_t len = 0;

    while (len < size) {
        ssize_t got = read(fd, out + len, size - len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

static struct str trim_lines(struct str s)
{
    struct str trimmed = str_trim(s);

    while (trimmed.len && is_one_of(trimmed.ptr[trimmed.len - 1], S("\r\n")))
        trimmed = str_trim(str_slice(trimmed, 0, trimmed.len - 1));
    return trimmed;
}

/* A file that holds a secret, up to `size` bytes of it. */
static enum err read_secret(struct reader *reader, const struct node *source,
                            const char *path, char *out, ssize_t size, size_t *ret_len)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    ssize_t len;

    if (fd < 0 || fstat(fd, &status))
        return FAIL(reader, source->mark, STR_FMT " %s: %s", STR_ARG(source->key),
                    SHOWN(str_of(path)), strerrordesc_np(errno));
    if (!S_ISREG(status.st_mode))
        return FAIL(reader, source->mark, STR_FMT " %s is not a file",
                    STR_ARG(source->key), SHOWN(str_of(path)));
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        add_warning(reader, source->mark, path, "can be read by others; chmod 600 it");
    len = read_whole(fd, out, (size_t)size);
    if (len < 0)
        return FAIL(reader, source->mark, STR_FMT " %s cannot be read",
                    STR_ARG(source->key), SHOWN(str_of(path)));
    *ret_len = (size_t)len;
    return OK;
}

static enum err read_token_file(struct reader *reader, const struct node *source,
                                const char *path, struct str *ret)
{
    char text[TOKEN_MAX + 1];
    struct str token;
    size_t len = 0;
    enum err err = read_secret(reader, source, path, text, sizeof(text), &len);

    if (err)
        return err;
    token = trim_lines((struct str){ text, len });
    if (len <= TOKEN_MAX && is_token(token))
        *ret = arena_str(&reader->config->arena, token);
    explicit_bzero(text, sizeof(text));
    if (!ret->ptr)
        return FAIL(reader, source->mark,
                    "token_file %s must hold one token of letters, digits and -._~+/=",
                    SHOWN(str_of(path)));
    return OK;
}

enum err check_token(struct reader *reader, const struct node *node, void *object)
{
    struct config_token *token = object;
    const struct node *source = node_find(node, S("token_file"));
    enum err err = check_one_of(reader, node, "token", "token_file");

    if (!err)
        err = check_one_of(reader, node, "capabilities", "profile");
    if (err)
        return err;
    if (source && !reader->base_dir)
        return FAIL(reader, source->mark, "token_file is not possible here");
    if (source)
        return read_token_file(reader, source, token->token_file.ptr, &token->token);
    if (!is_token(token->token))
        return FAIL(reader, node_find(node, S("token"))->mark,
                    "token may contain only letters, digits and -._~+/=");
    return OK;
}

static enum err read_secret_file(struct reader *reader, const struct node *source,
                                 struct str path, struct str *ret)
{
    char text[TOKEN_MAX + 1];
    size_t len = 0;
    enum err err;

    if (!reader->base_dir)
        return FAIL(reader, source->mark, STR_FMT " is not possible here",
                    STR_ARG(source->key));
    err = read_secret(reader, source, path.ptr, text, sizeof(text), &len);
    if (err)
        return err;
    *ret = (struct str){};
    if (len <= TOKEN_MAX)
        *ret = arena_str(&reader->config->arena, trim_lines((struct str){ text, len }));
    explicit_bzero(text, sizeof(text));
    if (!ret->ptr)
        return FAIL(reader, source->mark, STR_FMT " %s is larger than %d bytes",
                    STR_ARG(source->key), SHOWN(path), TOKEN_MAX);
    return OK;
}

enum err check_jwt(struct reader *reader, const struct node *node, void *object)
{
    struct config_jwt *jwt = object;
    const struct node *secret = node_find(node, S("secret"));
    const struct node *file = node_find(node, S("secret_file"));
    enum err err = OK;

    jwt->mark = node->mark;
    if (!secret && !file && jwt->audience.len == 0)
        return OK;
    if (!secret && !file)
        return FAIL(reader, node->mark, "jwt needs \"secret\" or \"secret_file\"");
    if (secret && file)
        return FAIL(reader, file->key_mark,
                    "jwt has both \"secret\" and \"secret_file\"");
    if (file)
        err = read_secret_file(reader, file, jwt->secret_file, &jwt->secret);
    if (err)
        return err;
    if (jwt->secret.len < JWT_SECRET_MIN)
        return FAIL(reader, (secret ? secret : file)->mark,
                    "the secret of jwt has at least %d bytes", JWT_SECRET_MIN);
    if (jwt->audience.len == 0)
        return FAIL(reader, node->mark, "jwt needs \"audience\"");
    return OK;
}

/* What makes it one, and what it is for; whether addresses and profiles are any is seen
 * when the settings are laid out. */
enum err check_provider(struct reader *reader, const struct node *node, void *object)
{
    struct config_provider *provider = object;
    const struct node *file = node_find(node, S("client_secret_file"));
    bool has_purpose = provider->client_id.len || provider->audience.len;
    bool gives_rights = provider->profile.len || provider->profiles.count;
    enum err err;

    provider->mark = node->mark;
    if (provider->issuer.len == 0 && !has_purpose && !file && !gives_rights)
        return OK; /* as it is printed where there is none */
    if (provider->issuer.len == 0)
        return FAIL(reader, node->mark, "provider needs \"issuer\"");
    if (!has_purpose)
        return FAIL(reader, node->mark,
                    "provider needs \"client_id\", \"audience\" or both");
    if (file && provider->client_id.len == 0)
        return FAIL(reader, file->key_mark, "client_secret_file needs \"client_id\"");
    if (!gives_rights)
        return FAIL(reader, node->mark,
                    "provider needs \"profile\", \"profiles\" or both");
    if (provider->profiles.count && provider->claims.profile.len == 0)
        return FAIL(reader, node->mark, "profiles need a claim: claims.profile");
    if (!file)
        return OK;
    err = read_secret_file(reader, file, provider->client_secret_file,
                           &provider->client_secret);
    if (!err && provider->client_secret.len == 0)
        return FAIL(reader, file->mark, "client_secret_file %s is empty",
                    SHOWN(provider->client_secret_file));
    return err;
}

/* "Name: value" as RFC 9110 5.1 and 5.5 have it, and none that the request itself is
 * made of. */
static bool is_field(struct str line)
{
    static const struct str taken[] = { S("host"), S("content-length"), S("connection"),
                                        S("transfer-encoding"), S("content-type") };
    struct str name = str_slice(line, 0, str_find(line, ':', 0));

    if (name.len == 0 || name.len == line.len)
        return false;
    for (size_t i = 0; i < COUNT(taken); i++)
        if (str_ieq(name, taken[i]))
            return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_token(str_slice(name, i, i + 1)) || is_one_of(name.ptr[i], S("/=")))
            return false;
    for (size_t i = name.len; i < line.len; i++)
        if (line.ptr[i] < ' ' || line.ptr[i] > '~')
            return false;
    return true;
}

/* Says which line is wrong and not what is in it. */
static enum err take_fields(struct reader *reader, const struct node *source,
                            struct str text, struct config_strs *ret)
{
    struct str *items = arena_alloc(&reader->config->arena, FIELDS_MAX * sizeof(*items));
    size_t count = 0;

    for (unsigned number = 1; text.ptr; number++) {
        struct str line = trim_lines(str_cut(&text, '\n'));

        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (!is_field(line))
            return FAIL(
                reader, source->mark,
                "otlp_headers_file: line %u is no \"Name: value\" that may be set",
                number);
        if (count == FIELDS_MAX || !items)
            return FAIL(reader, source->mark, "otlp_headers_file has more than %d lines",
                        FIELDS_MAX);
        items[count++] = arena_str(&reader->config->arena, line);
    }
    *ret = (struct config_strs){ .items = items, .count = count };
    return OK;
}

enum err check_audit(struct reader *reader, const struct node *node, void *object)
{
    struct config_audit *audit = object;
    const struct node *source = node_find(node, S("otlp_headers_file"));
    char text[FIELDS_BYTES + 1];
    size_t len = 0;
    enum err err;

    if (!source)
        return OK;
    if (!reader->base_dir)
        return FAIL(reader, source->mark, "otlp_headers_file is not possible here");
    if (!audit->otlp.len)
        return FAIL(reader, source->mark, "otlp_headers_file is given without otlp");
    err = read_secret(reader, source, audit->otlp_headers_file.ptr, text, sizeof(text),
                      &len);
    if (!err && len > FIELDS_BYTES)
        err = FAIL(reader, source->mark, "otlp_headers_file is longer than %d bytes",
                   FIELDS_BYTES);
    if (!err)
        err =
            take_fields(reader, source, (struct str){ text, len }, &audit->otlp_headers);
    explicit_bzero(text, sizeof(text));
    return err;
}

/* Two entries with one secret: nobody could say who comes. */
static enum err check_unique_tokens(struct reader *reader)
{
    const struct config_token *tokens = reader->config->tokens.items;
    size_t count = reader->config->tokens.count;
    struct config_mark *marks = arena_alloc(&reader->nodes, count * sizeof(*marks));
    enum err err = marks ? OK : ERR_TOO_BIG;
    struct map seen;

    map_init(&seen);
    for (size_t i = 0; i < count && !err; i++) {
        const struct config_mark *other = map_find(&seen, tokens[i].token);

        if (other)
            err = FAIL(reader, tokens[i].mark, "token is the same as that in line %u",
                       other->line);
        marks[i] = tokens[i].mark;
        map_set(&seen, tokens[i].token, &marks[i]);
    }
    map_done(&seen);
    return err;
}

#define LIMIT(member) #member, offsetof(struct config_limits, member)
/* clang-format off */
static const struct {
    const char *name;
    size_t offset;
    size_t factor; /* at least so many times … */
    const char *base;
    size_t base_offset;
} at_least[] = {
    { LIMIT(outbox), 2, LIMIT(envelope)    },
    { LIMIT(outbox), 1, LIMIT(outbox_soft) },
    { LIMIT(body),   1, LIMIT(envelope)    },
    { LIMIT(head),   1, LIMIT(uri)         },
};
/* clang-format on */

static enum err check_limits(struct reader *reader, const struct node *limits)
{
    const char *object = (const char *)&reader->config->limits;

    for (size_t i = 0; i < COUNT(at_least); i++) {
        uint64_t value = *(const size_t *)(const void *)(object + at_least[i].offset);
        uint64_t base = *(const size_t *)(const void *)(object + at_least[i].base_offset);
        const struct node *at = node_find(limits, str_of(at_least[i].name));

        if (value >= at_least[i].factor * base)
            continue;
        if (!at)
            at = node_find(limits, str_of(at_least[i].base));
        return FAIL(reader, at ? at->mark : limits->mark,
                    "%s (%llu bytes) must be at least %s%s (%llu bytes)",
                    at_least[i].name, (unsigned long long)value,
                    at_least[i].factor == 2 ? "twice " : "", at_least[i].base,
                    (unsigned long long)base);
    }
    return OK;
}

/* The rest of the address is libpq's to read. What stands there is not repeated: it may
 * be a secret. */
static enum err check_store(struct reader *reader, const struct node *node)
{
    struct str url = reader->config->store;

    if (url.len == 0 || str_starts(url, S("postgresql://")) ||
        str_starts(url, S("postgres://")))
        return OK;
    return FAIL(
        reader, node->mark,
        "store must begin with postgresql://; without it there are files in data");
}

enum err check_config(struct reader *reader, const struct node *root, void *object)
{
    struct config *config = object;
    enum err err;

    if (!config->limits.outbox_soft)
        config->limits.outbox_soft = config->limits.outbox / 2;
    err = check_limits(reader, node_find(root, S("limits")));
    if (!err)
        err = check_store(reader, node_find(root, S("store")));
    if (err)
        return err;
    return check_unique_tokens(reader);
}
