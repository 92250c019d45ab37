/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "envelope/lookalike.h"
#include "harness.h"

static const struct str known[] = {
    S("protocol"), S("id"), S("ts"), S("from"), S("to"), S("kind"), S("correlation_id"),
};

static bool looks_known(struct str name)
{
    return lookalike_is_any(name, known, sizeof(known) / sizeof(known[0]));
}

TEST(d8_names_that_fold_to_a_known_one_are_found)
{
    static const struct str cases[] = {
        S("kind"),
        S("Kind"),
        S("KIND"),
        S("kInD"),
        S("ID"),
        S("CORRELATION_ID"),
        S("\xef\xbd\x8bind"),                                  /* fullwidth k */
        S("\xef\xbc\xab\xef\xbc\xa9\xef\xbc\xae\xef\xbc\xa4"), /* fullwidth KIND */
        S("\xe2\x84\xaaind"),                                  /* Kelvin sign */
        S("t\xc5\xbf"),                                        /* long s */
        S("T\xef\xbd\x93"),
        S("\xe1\xb5\x97o"),              /* modifier letter t */
        S("t\xc2\xba"),                  /* masculine ordinal o */
        S("\xe2\x93\x9a\xe2\x93\x98nd"), /* circled k and i */
        S("\xf0\x9d\x90\xa4\xf0\x9d\x90\xa2\xf0\x9d\x90\xa7\xf0\x9d\x90\x9d"), /* bold */
        S("\xe2\x85\xb0\xe2\x85\xbe"), /* Roman i, d */
        S("\xe2\x85\xa0\xe2\x85\xae"), /* Roman I, D */
        S("\xc4\xb1"
          "d"), /* dotless i */
        S("\xc4\xb0"
          "D"),                         /* dotted I */
        S("correlation\xef\xbc\xbfid"), /* fullwidth low line */
        S("correlation\xef\xb8\xb3id"),
        S("c\xc2\xad"
          "orrelation_id"),    /* soft hyphen */
        S("ki\xe2\x80\x8bnd"), /* zero width space */
        S("\xef\xbb\xbfkind"), /* byte order mark */
        S("kind\xe2\x81\xa0"), /* word joiner */
        S("k\xef\xb8\x8f"
          "ind"),                  /* variation selector */
        S("k\xf3\xa0\x80\xa0ind"), /* tag space */
        S("k\xe3\x85\xa4ind"),     /* Hangul filler */
        S("kind\0x"),
        S("kind\0"),
        S("kind\0and very much more that would not fit a known name"),
        S("K\xe2\x80\x8bind\0x"),
        S("\0kind"),
        S("ki\0nd"),
        S("ki\nnd"),
        S("kind\x7f"),
        S("ki\xc2\x85nd"),
    };

    FOR_EACH_CASE(c, cases)
        CHECK(looks_known(*c));
}

TEST(d8_names_that_do_not_fold_to_a_known_one_pass)
{
    static const struct str cases[] = {
        S(""),
        S("\0"),
        S("\xe2\x80\x8b"),
        S("x"),
        S("kinds"),
        S("kin"),
        S("kin\0d2"),
        S("x\0kind"),
        S("kind "),
        S(" kind"),
        S("k-ind"),
        S("correlation-id"),
        S("correlationid"),
        S("correlation_id_2"),
        S("a name that is far longer than any known one"),
        S("\xd0\xba"
          "ind"),          /* Cyrillic: another letter, not a fold */
        S("k\xc3\xadnd"),  /* i with acute */
        S("ki\xcc\x81nd"), /* i, combining acute */
        S("k\xce\xb9nd"),  /* Greek iota */
        S("\xf0\x9f\x98\x80"),
        S("id\xe2\x82\xac"),
        S("\xff"),
    };

    FOR_EACH_CASE(c, cases)
        CHECK(!looks_known(*c));
}

TEST(d8_code_points_that_fold_to_several_letters_count_as_all_of_them)
{
    static const struct str names[] = { S("fix"),   S("star"), S("offline"), S("kmx"),
                                        S("radio"), S("viii"), S("kcal"),    S("fiffi") };
    static const struct {
        struct str name;
        bool is_like;
    } cases[] = {
        { S("\xef\xac\x81x"), true }, /* fi */
        { S("\xef\xac\x81X"), true },
        { S("\xef\xac\x86"
            "ar"),
          true }, /* st */
        { S("\xef\xac\x85"
            "ar"),
          true },                         /* long s, t */
        { S("o\xef\xac\x80line"), true }, /* ff */
        { S("o\xef\xac\x84ine"), true },  /* ffl */
        { S("o\xef\xac\x82ine"), false }, /* fl */
        { S("\xe3\x8e\x9ex"), true },     /* square km */
        { S("\xe3\x8e\xadio"), true },    /* square rad */
        { S("\xe3\x8e\x89"), true },      /* square kcal */
        { S("\xef\xac\x81\xef\xac\x83"), true },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(lookalike_is_any(c->name, names, sizeof(names) / sizeof(names[0])),
                  c->is_like);
}

TEST(d8_one_code_point_in_place_of_a_letter_is_found_or_is_another_letter)
{
    /* Every code point in place of the k; Unicode 14 knows so many that fold to it. */
    size_t found = 0;

    for (uint32_t cp = 1; cp <= 0x10ffff; cp++) {
        char name[8] = {};
        size_t len = utf8_write(cp, name);

        name[len] = 'i';
        name[len + 1] = 'n';
        name[len + 2] = 'd';
        if (cp >= 0xd800 && cp <= 0xdfff)
            continue;
        found += looks_known((struct str){ name, len + 3 });
    }
    CHECK_INT(found, 37);
}

TEST(d15_a_name_is_folded_piece_by_piece_up_to_its_longest)
{
    /* clang-format off */
    static const struct { struct str name, first, whole; } cases[] = {
        { S("filePath"),           S("filepath"), S("filepath") },
        { S("file\0Path"),         S("file"),     S("filepath") },
        { S("file\xe2\x80\x8bpath\0"), S("filepath"), S("filepath") },
        { S("\xef\xbc\xb0" "ath"), S("path"),     S("path") },
        { S(""),                   S(""),         S("") },
    };
    /* clang-format on */
    static const char longest[LOOKALIKE_LONG + 1] = { [0 ... LOOKALIKE_LONG] = 'a' };
    static const char capitals[LOOKALIKE_LONG + 1] = { [0 ... LOOKALIKE_LONG] = 'A' };

    FOR_EACH_CASE(c, cases) {
        struct lookalike_fold fold = {};
        struct str rest = c->name;

        CHECK(lookalike_fold(&rest, &fold));
        CHECK_STR(((struct str){ fold.text, fold.len }), c->first);
        while (rest.ptr)
            CHECK(lookalike_fold(&rest, &fold));
        CHECK_STR(((struct str){ fold.text, fold.len }), c->whole);
    }
    for (size_t more = 0; more < 2; more++) {
        struct lookalike_fold small = {}, large = {};
        struct str a = { longest, LOOKALIKE_LONG + more };
        struct str b = { capitals, LOOKALIKE_LONG + more };

        CHECK_INT(lookalike_fold(&a, &small), more == 0);
        CHECK_INT(lookalike_fold(&b, &large), more == 0);
    }
    CHECK(
        !lookalike_fold(&(struct str){ "\xe2\x82\xac", 3 }, &(struct lookalike_fold){}));
}
