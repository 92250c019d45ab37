/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory by itself, without a gateway: how fast resources are taken in and found.
 * Each answers with one line of JSON, and says on stderr how far it is.
 *
 *     directory fill   DATA URL RESOURCES SECONDS   up to so many in all, as an import
 *                                                   does, or for so long
 *     directory search DATA URL QUESTIONS SECONDS   of each kind, or for so long
 *
 * URL is "" for SQLite. The same number gives the same resource every time.
 */
#include "store/directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum {
    CHUNK = 512, /* as the gateway's import */
    SKILLS = 600,
    WORDS = 6000,
    JSON_MAX = 4096,
    SECOND_NS = 1000000000,
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "directory: %s: %s\n", what, why ? why : "failed");
    exit(1);
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static double cpu_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* --- what there is --- */

static const char *const first_names[] = {
    "Ana",  "Ben",   "Chiara",  "David", "Elif", "Felix", "Grace",
    "Hugo", "Ines",  "Jan",     "Kofi",  "Lena", "Marco", "Nadia",
    "Olaf", "Priya", "Quentin", "Rosa",  "Sven", "Tomás",
};
static const char *const roles[] = {
    "Software developer",
    "Backend developer",
    "Frontend developer",
    "Data scientist",
    "Data engineer",
    "DevOps engineer",
    "Security engineer",
    "Mobile developer",
    "Product manager",
    "Project manager",
    "UX designer",
    "Graphic designer",
    "Technical writer",
    "Translator",
    "Accountant",
    "Lawyer",
    "Physician",
    "Nurse",
    "Civil engineer",
    "Electrician",
    "Recruiter",
    "Sales manager",
    "Marketing specialist",
    "Support agent",
    "Test engineer",
    "Database administrator",
    "Software architect",
    "Machine learning engineer",
    "Embedded developer",
    "Game developer",
};
static const char *const known_skills[] = {
    "Python",
    "Java",
    "JavaScript",
    "TypeScript",
    "C++",
    "Go",
    "Rust",
    "SQL",
    "React",
    "Kubernetes",
    "Terraform",
    "PostgreSQL",
    "Machine learning",
    "Figma",
    "Excel",
    "SAP",
    "Accounting",
    "Translation",
    "Scrum",
    "Linux",
    "AWS",
    "Docker",
    "Kafka",
    "Spark",
};
static const char *const cities[] = {
    "Berlin, Germany",        "Munich, Germany",       "Zürich, Switzerland",
    "Vienna, Austria",        "Paris, France",         "Lyon, France",
    "Madrid, Spain",          "Lisbon, Portugal",      "Rome, Italy",
    "London, United Kingdom", "Oslo, Norway",          "Stockholm, Sweden",
    "Warsaw, Poland",         "Prague, Czechia",       "Athens, Greece",
    "Istanbul, Türkiye",      "Cairo, Egypt",          "Nairobi, Kenya",
    "Lagos, Nigeria",         "Bangalore, India",      "Tokyo, Japan",
    "Seoul, Korea",           "Sydney, Australia",     "Toronto, Canada",
    "Boston, United States",  "Austin, United States", "Mexico City, Mexico",
    "Bogotá, Colombia",
};
static const char *const available[] = { "full-time", "part-time", "contract",
                                         "unavailable" };

#define PICK(list, number) ((list)[(number) % (sizeof(list) / sizeof((list)[0]))])

static uint64_t mix(uint64_t seed)
{
    seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
    return seed ^ seed >> 31;
}

/* Few are frequent and many are rare: the square of an even chance. */
static uint64_t skewed(uint64_t seed, uint64_t count)
{
    double chance = (double)(mix(seed) >> 11) / (double)(UINT64_C(1) << 53);

    return (uint64_t)(chance * chance * (double)count);
}

/* A word that can be said, by its number. */
static const char *word_of(uint64_t number, char out[static 16])
{
    static const char *const syllables[] = { "ba", "co", "di", "fu", "ga", "ho",
                                             "ki", "lu", "ma", "no", "pe", "ra",
                                             "so", "ti", "ve", "zu" };

    (void)snprintf(out, 16, "%s%s%s%s", syllables[number % 16],
                   syllables[number / 16 % 16], syllables[number / 256 % 16],
                   number >= 4096 ? "ron" : "l");
    return out;
}

static const char *skill_of(uint64_t number, char out[static 16])
{
    if (number < sizeof(known_skills) / sizeof(known_skills[0]))
        return known_skills[number];
    return word_of(number + 10000, out);
}

static uint64_t another_skill(uint64_t seed, bool taken[static SKILLS])
{
    uint64_t number = skewed(seed, SKILLS);

    while (taken[number])
        number = (number + 1) % SKILLS;
    taken[number] = true;
    return number;
}

static int put_profile(char *out, size_t size, uint64_t n)
{
    char word[16];
    int len = 0;

    for (unsigned i = 0; i < 32; i++)
        len += snprintf(out + len, size - (size_t)len, "%s ",
                        word_of(skewed(n * 64 + 32 + i, WORDS), word));
    return len;
}

/* About 700 bytes. */
static struct str json_of(uint64_t n, char out[static JSON_MAX])
{
    char a[16], b[16];
    bool taken[SKILLS] = {};
    uint64_t luck = mix(n);
    int len = snprintf(out, JSON_MAX,
                       "{\"id\":\"r-%016llx\",\"kind\":\"%s\",\"name\":\"%s %s\","
                       "\"role\":\"%s%s\",\"skills\":[",
                       (unsigned long long)n, luck % 10 ? "human" : "agent",
                       PICK(first_names, luck >> 4), word_of(luck >> 9 & 0xfff, a),
                       luck >> 21 & 3 ? "" : "Senior ", PICK(roles, luck >> 23));

    for (unsigned i = 0, count = 3 + (luck >> 30 & 7); i < count; i++)
        len += snprintf(out + len, JSON_MAX - (size_t)len, "%s\"%s\"", i ? "," : "",
                        skill_of(another_skill(n * 64 + i, taken), b));
    len += snprintf(
        out + len, JSON_MAX - (size_t)len,
        "],\"availability\":\"%s\",\"location\":\"%s\",\"rate\":{\"amount\":%llu,"
        "\"currency\":\"EUR\",\"per\":\"hour\"},\"languages\":[\"English\"],"
        "\"profile\":\"",
        PICK(available, luck >> 33), PICK(cities, luck >> 36),
        (unsigned long long)(20 + (luck >> 41) % 180));
    len += put_profile(out + len, JSON_MAX - (size_t)len, n);
    len += snprintf(out + len, JSON_MAX - (size_t)len, "\"}");
    return (struct str){ out, (size_t)len };
}

/* --- filling --- */

static struct store_directory *open_at(const char *data, const char *url)
{
    struct store_setup setup = { .data = data, .url = str_of(url) };
    struct store_directory *directory = NULL;
    struct store *store = NULL;
    char *why = NULL;

    if (store_open(&setup, &store, &why)) /* it migrates */
        fail("opening", why);
    store_close(store);
    if (store_directory_open(&setup, &directory, &why))
        fail("opening", why);
    return directory;
}

static void put_chunk(struct store_directory *directory, uint64_t first, size_t count)
{
    static struct resource resources[CHUNK];
    struct arena arena;
    char json[JSON_MAX];

    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        struct str text = arena_str(&arena, json_of(first + i, json));
        struct resource_problem problem = {};
        const struct json *root;

        if (json_parse(text, &arena, &root, NULL) ||
            resource_read(root, &arena, &resources[i], &problem))
            fail("reading", problem.what);
    }
    if (store_resource_put_all(directory, resources, count))
        fail("putting", store_directory_problem(directory));
    arena_done(&arena);
}

static void say_progress(uint64_t now, uint64_t count, uint64_t begin_ns)
{
    double seconds = (double)(clock_mono_ns() - begin_ns) / 1e9;

    fprintf(stderr, "%llu of %llu, %.0f s\n", (unsigned long long)now,
            (unsigned long long)count, seconds);
}

/* Returns how far it came. */
static uint64_t put_until(struct store_directory *directory, uint64_t first,
                          uint64_t count, uint64_t until_ns)
{
    uint64_t begin_ns = clock_mono_ns(), said_ns = begin_ns, n = first;

    while (n < count && clock_mono_ns() < until_ns) {
        size_t now = count - n < CHUNK ? count - n : CHUNK;

        put_chunk(directory, n, now);
        n += now;
        if (clock_mono_ns() - said_ns < 10 * (uint64_t)SECOND_NS)
            continue;
        said_ns = clock_mono_ns();
        say_progress(n, count, begin_ns);
    }
    return n;
}

static void fill(struct store_directory *directory, uint64_t count, uint64_t limit_s)
{
    uint64_t begin_ns = clock_mono_ns(), first = 0, end;
    double seconds, cpu = cpu_seconds();

    if (store_resource_count(directory, &first))
        fail("counting", store_directory_problem(directory));
    if (store_directory_begin(directory))
        fail("beginning", store_directory_problem(directory));
    end = put_until(directory, first, count, begin_ns + limit_s * SECOND_NS);
    if (store_directory_commit(directory))
        fail("committing", store_directory_problem(directory));
    seconds = (double)(clock_mono_ns() - begin_ns) / 1e9;
    printf(
        "{\"resources\":%llu,\"seconds\":%.2f,\"per_s\":%.0f,\"cpu_seconds\":%.2f,\"peak_bytes\":%llu}\n",
        (unsigned long long)(end - first), seconds, (double)(end - first) / seconds,
        cpu_seconds() - cpu, (unsigned long long)peak_bytes());
}

/* --- searching --- */

struct question {
    char text[256];
    struct str skills[1];
    struct directory_query query;
};

static const char *role_word(uint64_t luck)
{
    static char word[32];
    const char *role = PICK(roles, luck), *last = strrchr(role, ' ');

    (void)snprintf(word, sizeof(word), "%s", last ? last + 1 : role);
    return word;
}

static void ask_one_word(struct question *q, uint64_t luck)
{
    char word[16];

    (void)snprintf(q->text, sizeof(q->text), "%s",
                   luck & 1 ? role_word(luck >> 8)
                            : skill_of(skewed(luck, SKILLS), word));
}

static void ask_rare_word(struct question *q, uint64_t luck)
{
    char word[16];

    (void)snprintf(q->text, sizeof(q->text), "%s", word_of(5000 + luck % 1000, word));
}

static void ask_two_words(struct question *q, uint64_t luck)
{
    char word[16];

    (void)snprintf(q->text, sizeof(q->text), "%s %s",
                   skill_of(skewed(luck, SKILLS), word), role_word(luck >> 8));
}

static void ask_several_words(struct question *q, uint64_t luck)
{
    char a[16], b[16], c[16];

    (void)snprintf(q->text, sizeof(q->text), "%s %s with experience in %s and %s",
                   skill_of(skewed(luck, SKILLS), a), role_word(luck >> 8),
                   skill_of(skewed(luck + 1, SKILLS), b),
                   word_of(skewed(luck + 2, WORDS), c));
}

static void ask_many_words(struct question *q, uint64_t luck)
{
    char a[16], b[16], c[16], d[16];

    (void)snprintf(q->text, sizeof(q->text),
                   "senior %s %s in %s with %s and %s who has done %s for %s",
                   skill_of(skewed(luck, SKILLS), a), role_word(luck >> 8),
                   PICK(cities, luck >> 16), skill_of(skewed(luck + 1, SKILLS), b),
                   "data", word_of(skewed(luck + 2, WORDS), c),
                   word_of(skewed(luck + 3, WORDS), d));
}

static void ask_beginning(struct question *q, uint64_t luck)
{
    ask_two_words(q, luck);
    q->text[strlen(q->text) - 3] = '\0';
}

static void ask_with_filters(struct question *q, uint64_t luck)
{
    ask_two_words(q, luck);
    q->skills[0] = str_of(PICK(known_skills, luck >> 20));
    q->query.skills = (struct str_list){ q->skills, 1 };
    q->query.availability = S("full-time");
    q->query.kind = S("human");
}

static void ask_with_rate(struct question *q, uint64_t luck)
{
    ask_two_words(q, luck);
    q->query.max_rate = S("40");
    q->query.location = S("Berlin");
}

static void ask_filters_only(struct question *q, uint64_t luck)
{
    q->skills[0] = str_of(PICK(known_skills, luck));
    q->query.skills = (struct str_list){ q->skills, 1 };
    q->query.availability = S("contract");
}

static const struct {
    const char *name;
    void (*ask)(struct question *q, uint64_t luck);
} kinds[] = {
    { "one word", ask_one_word },
    { "one rare word", ask_rare_word },
    { "two words", ask_two_words },
    { "two words, the last not finished", ask_beginning },
    { "four words in a sentence", ask_several_words },
    { "nine words in a sentence", ask_many_words },
    { "two words, skill, availability, kind", ask_with_filters },
    { "two words, location, rate", ask_with_rate },
    { "skill and availability only", ask_filters_only },
};

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void ask_kind(struct store_directory *directory, size_t kind, size_t most,
                     uint64_t limit_s)
{
    uint64_t *ns = xcalloc(most, sizeof(*ns)), finds = 0, loads = 0, partial = 0,
             hits = 0, until_ns = clock_mono_ns() + limit_s * SECOND_NS;
    size_t count = 0;
    struct directory_page page;
    double cpu = cpu_seconds();

    directory_page_init(&page);
    for (; count < most && (!count || clock_mono_ns() < until_ns); count++) {
        struct question q = {};
        struct directory_ask ask;
        uint64_t begin_ns;

        kinds[kind].ask(&q, mix(count * 31 + kind));
        q.query.text = str_of(q.text);
        begin_ns = clock_mono_ns();
        if (directory_ask_read(&q.query, &ask, NULL) ||
            store_resource_search(directory, &ask, &page))
            fail("searching", store_directory_problem(directory));
        ns[count] = clock_mono_ns() - begin_ns;
        finds += page.finds;
        loads += page.loads;
        partial += page.is_partial;
        hits += page.count;
    }
    qsort(ns, count, sizeof(*ns), compare);
    printf(
        "%s{\"name\":\"%s\",\"questions\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"cpu_ms\":%.3f,\"finds\":%.1f,"
        "\"loads\":%.1f,\"hits\":%.1f,\"partial\":%llu}",
        kind ? "," : "", kinds[kind].name, count, (double)ns[count / 2] / 1e6,
        (double)ns[count * 99 / 100] / 1e6, (cpu_seconds() - cpu) * 1e3 / (double)count,
        (double)finds / (double)count, (double)loads / (double)count,
        (double)hits / (double)count, (unsigned long long)partial);
    directory_page_done(&page);
    free(ns);
}

static void search(struct store_directory *directory, size_t count, uint64_t limit_s)
{
    uint64_t resources = 0;

    if (store_resource_count(directory, &resources))
        fail("counting", store_directory_problem(directory));
    printf("{\"resources\":%llu,\"kinds\":[", (unsigned long long)resources);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        fprintf(stderr, "%s\n", kinds[i].name);
        ask_kind(directory, i, count, limit_s);
    }
    printf("],\"peak_bytes\":%llu}\n", (unsigned long long)peak_bytes());
}

int main(int argc, char **argv)
{
    struct store_directory *directory;

    if (argc != 6)
        fail("usage", "fill|search DATA URL COUNT SECONDS");
    directory = open_at(argv[2], argv[3]);
    if (strcmp(argv[1], "fill") == 0)
        fill(directory, strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10));
    else
        search(directory, strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10));
    store_directory_close(directory);
    return 0;
}
