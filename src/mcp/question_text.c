/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a question or its answer may hold: addresses, dates, places. */
#include "mcp/question_priv.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* RFC 3986: what is not here is written with a percent sign. */
static bool is_uri_char(char c)
{
    return c > ' ' && c < 0x7f && !strchr("\"<>\\^`{|}", c);
}

static bool is_escape(struct str text, size_t at)
{
    return at + 2 < text.len && str_hex_digit(text.ptr[at + 1]) >= 0 &&
           str_hex_digit(text.ptr[at + 2]) >= 0;
}

/* The length of the scheme; 0: it is no URI. */
static size_t scheme_of(struct str text)
{
    size_t colon = str_find(text, ':', 0);

    if (colon == text.len || colon == 0 || !is_letter(text.ptr[0]))
        return 0;
    for (size_t i = 0; i < colon; i++)
        if (!is_letter(text.ptr[i]) && !is_digit(text.ptr[i]) &&
            !strchr("+-.", text.ptr[i]))
            return 0;
    for (size_t i = colon; i < text.len; i++)
        if (!is_uri_char(text.ptr[i]) || (text.ptr[i] == '%' && !is_escape(text, i)))
            return 0;
    return colon;
}

bool text_is_uri(struct str text)
{
    return scheme_of(text) > 0;
}

/* One @ with something on both sides, and a name of a host after it: what is more is for
 * whoever sends mail there. */
bool text_is_email(struct str text)
{
    size_t at = str_find(text, '@', 0);

    if (at == 0 || at + 1 >= text.len || str_find(text, '@', at + 1) != text.len)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            return false;
    return text.ptr[at + 1] != '.' && text.ptr[text.len - 1] != '.';
}

/* --- dates --- */

/* `size` digits at that place, from `min` to `max`; -1: something else. */
static int digits(struct str text, size_t at, size_t size, int min, int max)
{
    int value = 0;

    if (at + size > text.len)
        return -1;
    for (size_t i = at; i < at + size; i++) {
        if (!is_digit(text.ptr[i]))
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value >= min && value <= max ? value : -1;
}

static bool has_at(struct str text, size_t at, const char *any)
{
    return at < text.len && text.ptr[at] && strchr(any, text.ptr[at]);
}

static int days_of(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && is_leap ? 29 : days[month - 1];
}

bool text_is_date(struct str text)
{
    int year = digits(text, 0, 4, 0, 9999);
    int month = digits(text, 5, 2, 1, 12);

    return text.len == 10 && year >= 0 && month > 0 && has_at(text, 4, "-") &&
           has_at(text, 7, "-") && digits(text, 8, 2, 1, days_of(year, month)) > 0;
}

static bool is_zone(struct str text)
{
    if (text.len == 1)
        return has_at(text, 0, "Zz");
    return text.len == 6 && has_at(text, 0, "+-") && has_at(text, 3, ":") &&
           digits(text, 1, 2, 0, 23) >= 0 && digits(text, 4, 2, 0, 59) >= 0;
}

/* A second 60 may have been. */
bool text_is_date_time(struct str text)
{
    size_t at = 19;

    if (!text_is_date(str_slice(text, 0, 10)) || !has_at(text, 10, "Tt ") ||
        digits(text, 11, 2, 0, 23) < 0 || !has_at(text, 13, ":") ||
        digits(text, 14, 2, 0, 59) < 0 || !has_at(text, 16, ":") ||
        digits(text, 17, 2, 0, 60) < 0)
        return false;
    if (has_at(text, at, ".")) {
        at++;
        if (digits(text, at, 1, 0, 9) < 0)
            return false;
        while (at < text.len && is_digit(text.ptr[at]))
            at++;
    }
    return is_zone(str_slice(text, at, text.len));
}

/* --- places --- */

static struct str host_of(struct str authority)
{
    if (authority.len && authority.ptr[0] == '[')
        return str_slice(authority, 0, str_find(authority, ']', 0) + 1);
    return str_slice(authority, 0, str_find(authority, ':', 0));
}

static bool is_loopback(struct str host)
{
    return str_ieq(host, S("localhost")) || str_eq(host, S("127.0.0.1")) ||
           str_eq(host, S("[::1]"));
}

static size_t end_of_authority(struct str rest)
{
    for (size_t i = 0; i < rest.len; i++)
        if (strchr("/?#", rest.ptr[i]))
            return i;
    return rest.len;
}

/* SEC-08, ELIC-11: a person is to read who is behind it, and nothing but a page is to
 * open. A name before an @ is there to be taken for the host. */
const char *text_url_fault(struct str url)
{
    size_t colon = scheme_of(url);
    struct str scheme = str_slice(url, 0, colon);
    struct str rest = str_slice(url, colon, url.len);
    struct str authority;

    if (!colon)
        return "is no URL";
    if (!str_ieq(scheme, S("https")) && !str_ieq(scheme, S("http")))
        return "is neither https nor http";
    if (!str_starts(rest, S("://")))
        return "names no host";
    rest = str_slice(rest, 3, rest.len);
    authority = str_slice(rest, 0, end_of_authority(rest));
    if (str_find(authority, '@', 0) != authority.len)
        return "has a user name in front of its host";
    if (!host_of(authority).len)
        return "names no host";
    if (str_ieq(scheme, S("http")) && !is_loopback(host_of(authority)))
        return "is not https";
    return NULL;
}

/* The byte at `*at`, which moves on behind it. */
static int next_byte(struct str text, size_t *at)
{
    int byte = (unsigned char)text.ptr[*at];

    if (byte == '%') {
        byte = str_hex_digit(text.ptr[*at + 1]) << 4 | str_hex_digit(text.ptr[*at + 2]);
        *at += 2;
    }
    ++*at;
    return byte;
}

/* Segments that lead upwards, however they are written, or bytes that no path has. */
static const char *path_fault(struct str path)
{
    size_t dots = 0, others = 0;

    for (size_t at = 0; at < path.len;) {
        int byte = next_byte(path, &at);

        if (byte < ' ' || byte == 0x7f)
            return "has a byte that no path has";
        if (byte == '/' && dots == 2 && !others)
            return "leads upwards";
        if (byte == '/')
            dots = others = 0;
        else if (byte == '.')
            dots++;
        else
            others++;
    }
    return dots == 2 && !others ? "leads upwards" : NULL;
}

const char *question_root_fault(struct str uri)
{
    struct str path;

    if (!str_starts(uri, S("file://")) || !scheme_of(uri))
        return "is no file:// URI";
    path = str_slice(uri, 7, uri.len);
    if (str_starts(path, S("localhost/")))
        path = str_slice(path, 9, path.len);
    if (!str_starts(path, S("/")))
        return "names another machine, or no path";
    if (str_find(path, '?', 0) != path.len || str_find(path, '#', 0) != path.len)
        return "has more than a path";
    return path_fault(path);
}
