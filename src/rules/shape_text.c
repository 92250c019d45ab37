/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of shapes: characters, parts of paths, directories and prefixes. */
#include "base/plain.h"
#include "rules/shape.h"

enum { LOWER = 1, UPPER = 2, DIGIT = 4, FIRST_SIGN = 8 };

static const char signs[] = "._-+,=:@";

static uint32_t class_of(char c)
{
    const char *sign;

    if (c >= 'a' && c <= 'z')
        return LOWER;
    if (c >= 'A' && c <= 'Z')
        return UPPER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    sign = c ? strchr(signs, c) : NULL;
    return sign ? (uint32_t)FIRST_SIGN << (sign - signs) : 0;
}

uint32_t shape_characters_of(struct str text, bool *ret_has_other)
{
    uint32_t set = 0;

    for (size_t i = 0; i < text.len; i++) {
        uint32_t class = class_of(text.ptr[i]);

        if (!class && text.ptr[i] != '/')
            *ret_has_other = true;
        set |= class;
    }
    return set;
}

static uint32_t parse_word(struct str word)
{
    if (str_eq(word, S("a-z")))
        return LOWER;
    if (str_eq(word, S("A-Z")))
        return UPPER;
    if (str_eq(word, S("0-9")))
        return DIGIT;
    if (word.len != 1 || class_of(word.ptr[0]) < FIRST_SIGN)
        return 0;
    return class_of(word.ptr[0]);
}

enum err shape_characters_parse(struct str text, uint32_t *ret)
{
    uint32_t set = 0;

    while (text.ptr) {
        uint32_t class = parse_word(str_cut(&text, ' '));

        if (!class || (set & class))
            return ERR_INVALID;
        set |= class;
    }
    if (!set)
        return ERR_INVALID;
    *ret = set;
    return OK;
}

void shape_characters_put(struct buf *out, uint32_t set)
{
    size_t begin = out->len;

    if (set & LOWER)
        buf_put(out, S(" a-z"));
    if (set & UPPER)
        buf_put(out, S(" A-Z"));
    if (set & DIGIT)
        buf_put(out, S(" 0-9"));
    for (size_t i = 0; signs[i]; i++)
        if (set & (uint32_t)FIRST_SIGN << i)
            buf_putf(out, " %c", signs[i]);
    if (out->len > begin) { /* not the space before the first */
        memmove(out->ptr + begin, out->ptr + begin + 1, out->len - begin - 1);
        out->len--;
    }
}

static bool part_is_plain(struct str part, uint32_t set)
{
    if (part.len == 0 || part.ptr[0] == '.' || part.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < part.len; i++) {
        uint32_t class = class_of(part.ptr[i]);

        if (!class || (set && !(set & class)))
            return false;
        if (i && part.ptr[i] == '.' && part.ptr[i - 1] == '.')
            return false; /* no way up for anybody, but no reason for it either */
    }
    return true;
}

bool shape_parts_are_plain(struct str text, uint32_t characters, size_t *ret_count)
{
    size_t count = 0;

    if (text.len == 0)
        return false;
    while (text.ptr) {
        if (!part_is_plain(str_cut(&text, '/'), characters))
            return false;
        count++;
    }
    *ret_count = count;
    return true;
}

struct str shape_ending(struct str path)
{
    size_t at = path.len;

    while (at > 0 && path.ptr[at - 1] != '/' && path.ptr[at - 1] != '.')
        at--;
    if (at == 0 || path.ptr[at - 1] == '/')
        return S("");
    return str_slice(path, at - 1, path.len);
}

/* Homes of people: below these every part is one. */
static bool is_home(struct str directory)
{
    static const struct str homes[] = { S("/home"), S("/Users"), S("/var/home"),
                                        S("/export/home"), S("/usr/home") };

    if (str_eq(directory, S("/root")) || str_eq(directory, S("/var/root")))
        return true;
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        struct str rest;

        if (str_eq(directory, homes[i]))
            return true;
        if (!str_starts(directory, homes[i]) || directory.ptr[homes[i].len] != '/')
            continue;
        rest = str_slice(directory, homes[i].len + 1, directory.len);
        if (str_find(rest, '/', 0) == rest.len)
            return true;
    }
    return false;
}

bool shape_is_root(struct str directory)
{
    struct str parts = directory;
    size_t count;

    if (parts.len && parts.ptr[0] == '/')
        parts = str_slice(parts, 1, parts.len);
    return directory.len <= SHAPE_VALUE && !is_home(directory) &&
           shape_parts_are_plain(parts, 0, &count) && count <= SHAPE_PARTS;
}

/* scheme://host/: the host is named wholly, and nobody before it. */
static bool names_host(struct str prefix, size_t colon)
{
    struct str rest = str_slice(prefix, colon + 3, prefix.len);
    size_t end = str_find(rest, '/', 0);

    return end > 0 && end < rest.len && str_find(rest, '@', 0) == rest.len;
}

bool shape_is_prefix(struct str prefix)
{
    size_t colon = str_find(prefix, ':', 0);
    bool has_other = false;

    if (prefix.len < SHAPE_PREFIX || prefix.len > SHAPE_VALUE ||
        !strchr("._-+,=:@/", prefix.ptr[prefix.len - 1]))
        return false;
    (void)shape_characters_of(prefix, &has_other);
    if (has_other)
        return false;
    if (str_starts(str_slice(prefix, colon, prefix.len), S("://")))
        return names_host(prefix, colon);
    return str_find(prefix, '/', 0) == prefix.len;
}

bool shape_is_readable(struct str text, enum shape_lines lines)
{
    bool is_same;
    struct buf out;

    buf_init(&out, 6 * text.len + 16);
    plain_put(&out, text, lines == SHAPE_MANY_LINES ? PLAIN_TEXT : PLAIN_LINE);
    is_same = str_eq(buf_str(&out), text);
    buf_done(&out);
    return is_same;
}
