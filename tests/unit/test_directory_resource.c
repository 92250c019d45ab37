/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/resource.h"
#include "harness.h"

enum { TEXT = 128 << 10 };

static enum err read_text(struct str text, struct arena *arena, struct resource *ret,
                          struct resource_problem *problem)
{
    const struct json *json;

    CHECK_INT(json_parse(text, arena, &json, NULL), OK);
    return resource_read(json, arena, ret, problem);
}

#define WHOLE                                                                    \
    "{\"id\":\"r-1\",\"kind\":\"human\",\"name\":\"Ann\",\"role\":\"dev\","      \
    "\"skills\":[\"Python\",\"C\"],\"availability\":\"full-time\","              \
    "\"location\":\"Zürich\",\"rate\":{\"amount\":120.50,\"currency\":\"CHF\"," \
    "\"per\":\"day\"},\"languages\":[\"de\"],\"time_zone\":\"Europe/Zurich\","   \
    "\"profile\":\"two\\nlines\",\"participant\":\"ann\",\"invite\":\"ask\","    \
    "\"updated_at\":\"2026-11-16T10:00:00.000Z\"}"

TEST(a_resource_is_written_as_it_was_read)
{
    static const struct {
        struct str text;
        enum resource_view view;
        struct str wanted;
    } cases[] = {
        { S(WHOLE), RESOURCE_DETAILS, S(WHOLE) },
        { S(WHOLE), RESOURCE_PUBLIC,
          S("{\"id\":\"r-1\",\"kind\":\"human\",\"name\":\"Ann\",\"role\":\"dev\","
            "\"skills\":[\"Python\",\"C\"],\"availability\":\"full-time\","
            "\"location\":\"Zürich\",\"languages\":[\"de\"],"
            "\"time_zone\":\"Europe/Zurich\",\"profile\":\"two\\nlines\","
            "\"invite\":\"ask\",\"updated_at\":\"2026-11-16T10:00:00.000Z\"}") },
        { S("{\"name\":\"x\",\"kind\":\"agent\",\"skills\":[],\"rate\":0.10}"),
          RESOURCE_DETAILS,
          S("{\"kind\":\"agent\",\"name\":\"x\",\"rate\":{\"amount\":0.10,"
            "\"per\":\"hour\"},\"invite\":\"auto\"}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct resource_problem problem = {};
        struct resource r = {}, copy = {};
        struct json_writer w;
        struct arena arena, copied;
        struct buf out;

        arena_init(&arena, RESOURCE_ARENA);
        buf_init(&out, TEXT);
        CHECK_INT(read_text(c->text, &arena, &r, &problem), OK);
        json_write_init(&w, &out);
        resource_write(&w, &r, c->view);
        CHECK_STR(buf_str(&out), c->wanted);
        arena_init(&copied, RESOURCE_ARENA);
        CHECK_INT(resource_copy(&r, &copied, &copy), OK);
        arena_done(&arena);
        buf_clear(&out);
        json_write_init(&w, &out);
        resource_write(&w, &copy, c->view);
        CHECK_STR(buf_str(&out), c->wanted);
        buf_done(&out);
        arena_done(&copied);
    }
}

#define WITH(rest) S("{\"kind\":\"human\",\"name\":\"Ann\"," rest "}")

TEST(what_is_wrong_is_named)
{
    static const struct {
        struct str text, wanted;
    } cases[] = {
        { S("[]"), S("the resource must be an object") },
        { S("{\"name\":\"x\"}"), S("kind is missing") },
        { S("{\"kind\":\"human\"}"), S("name is missing") },
        { S("{\"kind\":\"human\",\"name\":\"\"}"), S("name is empty") },
        { S("{\"kind\":\"robot\",\"name\":\"x\"}"), S("kind must be human or agent") },
        { S("{\"kind\":\"\",\"name\":\"x\"}"), S("kind must be human or agent") },
        { S("{\"kind\":\"human\",\"name\":7}"), S("name must be a string") },
        { S("{\"kind\":\"human\",\"name\":\"a\\u0000b\"}"),
          S("name contains a control character") },
        { S("{\"kind\":\"human\",\"name\":\"a\\u0085b\"}"),
          S("name contains a control character") },
        { WITH("\"role\":\"a\\nb\""), S("role contains a control character") },
        { WITH("\"profile\":\"a\\u001bb\""), S("profile contains a control character") },
        { WITH("\"id\":\"\""), S("id is empty") },
        { WITH("\"id\":\"a/b\""), S("id contains a slash") },
        { WITH("\"id\":\"..\""), S("id is a step of a path") },
        { WITH("\"id\":\"system\""), S("id is a name of the gateway itself") },
        { WITH("\"participant\":\"system:x\""),
          S("participant is a name of the gateway itself") },
        { WITH("\"participant\":\"a\\tb\""),
          S("participant contains a control character") },
        { WITH("\"skills\":\"C\""), S("skills must be a list of strings") },
        { WITH("\"skills\":[\"C\",1]"), S("skills must be a list of strings") },
        { WITH("\"skills\":[\"C\",\"\"]"), S("skills[2] is empty") },
        { WITH("\"skills\":[\"C\",\"Go\",\"c\"]"), S("skills[3] stands there twice") },
        { WITH("\"languages\":[\"de\",\"DE\"]"), S("languages[2] stands there twice") },
        { WITH("\"skills\":[\"0123456789012345678901234567890123456789"
               "0123456789012345678901234\"]"),
          S("skills[1] is longer than 64 bytes") },
        { WITH("\"rate\":\"12\""), S("rate must be an object or a number") },
        { WITH("\"rate\":-1"), S("rate must not be below 0") },
        { WITH("\"rate\":1e3"), S("rate must be written without an exponent") },
        { WITH("\"rate\":1.00000000000000000000000000000001"),
          S("rate is longer than 32 characters") },
        { WITH("\"rate\":{\"amount\":\"1\"}"), S("rate must be a number") },
        { WITH("\"rate\":{}"),
          S("rate must have an amount, and may have a currency and per") },
        { WITH("\"rate\":{\"amount\":1,\"x\":1}"),
          S("rate must have an amount, and may have a currency and per") },
        { WITH("\"rate\":{\"amount\":1,\"currency\":\"EURO\"}"),
          S("currency must be three letters, such as EUR") },
        { WITH("\"rate\":{\"amount\":1,\"currency\":\"E1R\"}"),
          S("currency must be three letters, such as EUR") },
        { WITH("\"rate\":{\"amount\":1,\"per\":\"year\"}"),
          S("per must be hour, day or month") },
        { WITH("\"time_zone\":\"here and now\""),
          S("time_zone must be the name of a time zone, such as Europe/Zurich") },
        { WITH("\"invite\":\"never\""), S("invite must be auto or ask") },
        { WITH("\"updated_at\":\"now\""),
          S("updated_at must be a time such as 2030-01-31T12:00:00Z") },
        { WITH("\"salary\":1"), S("salary is unknown") },
        { WITH("\"role\":null"), S("role must be a string") },
    };

    FOR_EACH_CASE(c, cases) {
        struct resource_problem problem = {};
        struct resource r = { .name = S("untouched") };
        struct arena arena;
        struct buf out;

        arena_init(&arena, RESOURCE_ARENA);
        buf_init(&out, TEXT);
        CHECK_INT(read_text(c->text, &arena, &r, &problem), ERR_INVALID);
        resource_problem_put(&out, &problem);
        CHECK_STR(buf_str(&out), c->wanted);
        CHECK_STR(r.name, S("untouched"));
        buf_done(&out);
        arena_done(&arena);
    }
}

/* {"kind":"human","name":"x","FIELD":…} with a text, or a list, of this size. */
static enum err read_sized(const char *field, size_t items, size_t bytes,
                           struct resource_problem *problem)
{
    struct resource r;
    struct arena arena;
    struct buf text;
    enum err err;

    arena_init(&arena, RESOURCE_ARENA);
    buf_init(&text, TEXT);
    buf_putf(&text, "{\"kind\":\"human\",\"name\":\"x\",\"%s\":%s", field,
             items ? "[" : "\"");
    for (size_t i = 0; i < items; i++)
        buf_putf(&text, "%s\"%0*zu\"", i ? "," : "", (int)bytes, i);
    for (size_t i = 0; items == 0 && i < bytes; i++)
        buf_putc(&text, 'x');
    buf_put(&text, items ? S("]}") : S("\"}"));
    err = read_text(buf_str(&text), &arena, &r, problem);
    buf_done(&text);
    arena_done(&arena);
    return err;
}

TEST(every_field_has_its_bound)
{
    static const struct {
        const char *field;
        size_t items, bytes;
        const char *what;
    } cases[] = {
        { "id", 0, 256, "is longer than 256 bytes" },
        { "role", 0, 256, "is longer than 256 bytes" },
        { "location", 0, 256, "is longer than 256 bytes" },
        { "availability", 0, 64, "is longer than 64 bytes" },
        { "time_zone", 0, 64, "is longer than 64 bytes" },
        { "participant", 0, 256, "is longer than 256 bytes" },
        { "profile", 0, 16384, "is longer than 16384 bytes" },
        { "skills", 1, 64, "is longer than 64 bytes" },
        { "languages", 1, 64, "is longer than 64 bytes" },
        { "skills", 64, 64, "is longer than 64 bytes" },
    };
    struct resource_problem problem = {};

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(read_sized(c->field, c->items, c->bytes, &problem), OK);
        CHECK_INT(read_sized(c->field, c->items, c->bytes + 1, &problem), ERR_INVALID);
        CHECK_STR(problem.field, str_of(c->field));
        CHECK_STR(str_of(problem.what), str_of(c->what));
    }
    CHECK_INT(read_sized("skills", 65, 4, &problem), ERR_INVALID);
    CHECK_STR(str_of(problem.what), S("has more than 64 entries"));
    CHECK_INT(read_sized("languages", 32, 4, &problem), OK);
    CHECK_INT(read_sized("languages", 33, 4, &problem), ERR_INVALID);
    CHECK_STR(str_of(problem.what), S("has more than 32 entries"));
    CHECK_INT(read_sized("profile", 0, 70 << 10, &problem), ERR_INVALID);
    CHECK_STR(str_of(problem.what), S("is larger than 64 KiB"));
}

TEST(availabilities_are_ranked)
{
    static const struct {
        struct str text;
        unsigned rank;
    } cases[] = {
        { S("full-time"), 0 }, { S("Part-Time"), 1 },   { S("contract"), 2 },
        { S(""), 3 },          { S("weekends"), 3 },    { { NULL, 0 }, 3 },
        { S("contracts"), 3 }, { S("unavailable"), 4 },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(resource_availability_rank(c->text), c->rank);
}
