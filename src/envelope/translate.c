/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/translate.h"

#include <string.h>

/* Kinds hold no control characters, so these two are all there is to escape. */
static struct str put_escaped(struct str text, char *out)
{
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            out[len++] = '\\';
        out[len++] = text.ptr[i];
    }
    return (struct str){ out, len };
}

/* From the end of one part of the text to the beginning of another. */
static struct str between(const char *from, const char *to)
{
    return (struct str){ from, (size_t)(to - from) };
}

void translation_init(struct translation *t, const struct envelope *env, enum dialect to)
{
    struct str text = env->text;
    struct str old[2] = { env->raw_protocol, env->raw_kind };
    struct str new[2];
    char space[KIND_MAX_BYTES];
    bool is_swapped = env->raw_kind.ptr < env->raw_protocol.ptr;
    size_t first = is_swapped ? 1 : 0;
    size_t second = 1 - first;

    new[0] = dialect_protocol(to);
    new[1] = put_escaped(kind_in(env->kind.text, to, space), t->kind);
    t->parts[0] = between(text.ptr, old[first].ptr);
    t->parts[1] = new[first];
    t->parts[2] = between(old[first].ptr + old[first].len, old[second].ptr);
    t->parts[3] = new[second];
    t->parts[4] = between(old[second].ptr + old[second].len, text.ptr + text.len);
    t->len = 0;
    for (size_t i = 0; i < TRANSLATION_PARTS; i++)
        t->len += t->parts[i].len;
}

void translation_write(const struct translation *t, char *out)
{
    for (size_t i = 0; i < TRANSLATION_PARTS; i++) {
        memcpy(out, t->parts[i].ptr, t->parts[i].len);
        out += t->parts[i].len;
    }
}
