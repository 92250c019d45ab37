/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "directory/words.h"
#include "harness.h"

/* "word word word"; borrowed until the next call. */
static struct str words_of(struct str text)
{
    static char out[1024];
    char space[DIRECTORY_WORD];
    size_t at = 0, len = 0;
    struct str word;

    while (directory_next_word(text, &at, space, &word)) {
        if (len)
            out[len++] = ' ';
        memcpy(out + len, word.ptr, word.len);
        len += word.len;
    }
    return (struct str){ out, len };
}

TEST(words_are_small_and_have_no_accents)
{
    static const struct {
        struct str text, words;
    } cases[] = {
        { S("Python, FastAPI & PostgreSQL"), S("python fastapi postgresql") },
        { S("Zürich – Genève"), S("zurich geneve") },
        { S("Zu\xcc\x88rich"), S("zurich") }, /* a combining mark */
        { S("Straße Æsop Œuvre"), S("strasse aesop oeuvre") },
        { S("Łódź Žižek Çelik İzmir"), S("lodz zizek celik izmir") },
        { S("МОСКВА Ёлка"), S("москва ёлка") },
        { S("ΑΘΗΝΑ"), S("αθηνα") },
        { S("c++ C# f#, (c++)"), S("c++ c# f# c++") },
        { S("html+css a#b c+++"), S("html css a b c") },
        { S("+49 #1"), S("49 1") },
        { S("node.js full-stack"), S("node js full stack") },
        { S("日本語 dev"), S("日 本 語 dev") },
        { S("dev日本"), S("dev 日 本") },
        { S("שלום עולם"), S("שלום עולם") },
        { S("\xe2\x80\xaerevo\xe2\x80\xac"), S("revo") },
        { S("a\0b"), S("a b") },
        { S("a\xff\xfe b\xc3"), S("a b") },
        { S("it's"), S("it s") },
        { S("ＷＩＤＥ"), S("wide") },
        { S("🐍 snake"), S("🐍 snake") },
        { S(""), S("") },
        { S(" .,;"), S("") },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_STR(words_of(c->text), c->words);
}

TEST(of_a_long_word_the_beginning_is_kept_in_whole_characters)
{
    char text[300], space[DIRECTORY_WORD];
    struct str word;
    size_t at = 0;

    memset(text, 'x', sizeof(text));
    CHECK(directory_next_word((struct str){ text, sizeof(text) }, &at, space, &word));
    CHECK_INT(word.len, DIRECTORY_WORD);
    CHECK(!directory_next_word((struct str){ text, sizeof(text) }, &at, space, &word));
    for (size_t i = 0; i < sizeof(text); i += 3)
        memcpy(text + i, "\xe0\xa4\x95", 3);
    at = 0;
    CHECK(directory_next_word((struct str){ text, sizeof(text) }, &at, space, &word));
    CHECK_INT(word.len, DIRECTORY_WORD / 3 * 3);
    CHECK(utf8_is_valid(word));
}

TEST(stems_are_those_of_porter)
{
    static const struct {
        struct str word, stem;
    } cases[] = {
        /* the examples of the paper */
        { S("caresses"), S("caress") },
        { S("ponies"), S("poni") },
        { S("caress"), S("caress") },
        { S("cats"), S("cat") },
        { S("feed"), S("feed") },
        { S("agreed"), S("agre") },
        { S("plastered"), S("plaster") },
        { S("bled"), S("bled") },
        { S("motoring"), S("motor") },
        { S("sing"), S("sing") },
        { S("conflated"), S("conflat") },
        { S("troubled"), S("troubl") },
        { S("sized"), S("size") },
        { S("hopping"), S("hop") },
        { S("tanned"), S("tan") },
        { S("falling"), S("fall") },
        { S("hissing"), S("hiss") },
        { S("fizzed"), S("fizz") },
        { S("failing"), S("fail") },
        { S("filing"), S("file") },
        { S("happy"), S("happi") },
        { S("sky"), S("sky") },
        { S("relational"), S("relat") },
        { S("conditional"), S("condit") },
        { S("rational"), S("ration") },
        { S("valenci"), S("valenc") },
        { S("digitizer"), S("digit") },
        { S("vietnamization"), S("vietnam") },
        { S("operator"), S("oper") },
        { S("feudalism"), S("feudal") },
        { S("decisiveness"), S("decis") },
        { S("hopefulness"), S("hope") },
        { S("callousness"), S("callous") },
        { S("formaliti"), S("formal") },
        { S("sensibiliti"), S("sensibl") },
        { S("triplicate"), S("triplic") },
        { S("formative"), S("form") },
        { S("electrical"), S("electr") },
        { S("goodness"), S("good") },
        { S("revival"), S("reviv") },
        { S("allowance"), S("allow") },
        { S("inference"), S("infer") },
        { S("airliner"), S("airlin") },
        { S("gyroscopic"), S("gyroscop") },
        { S("adjustable"), S("adjust") },
        { S("replacement"), S("replac") },
        { S("adjustment"), S("adjust") },
        { S("dependent"), S("depend") },
        { S("adoption"), S("adopt") },
        { S("communism"), S("commun") },
        { S("activate"), S("activ") },
        { S("bowdlerize"), S("bowdler") },
        { S("probate"), S("probat") },
        { S("rate"), S("rate") },
        { S("cease"), S("ceas") },
        { S("controll"), S("control") },
        { S("roll"), S("roll") },
        /* what is asked for here */
        { S("developers"), S("develop") },
        { S("development"), S("develop") },
        { S("engineering"), S("engin") },
        { S("engineers"), S("engin") },
        { S("designer"), S("design") },
        { S("testing"), S("test") },
        /* what is not English stays */
        { S("c++"), S("c++") },
        { S("go"), S("go") },
        { S("k8s"), S("k8s") },
        { S("москва"), S("москва") },
        { S("s"), S("s") },
        { S("yyy"), S("yyi") },
        { S(""), S("") },
    };
    char space[DIRECTORY_WORD];

    FOR_EACH_CASE(c, cases)
        CHECK_STR(directory_stem(c->word, space), c->stem);
}

TEST(fillers_are_known)
{
    CHECK(directory_is_filler(S("with")));
    CHECK(directory_is_filler(S("a")));
    CHECK(directory_is_filler(S("your")));
    CHECK(directory_is_filler(S("experience")));
    CHECK(!directory_is_filler(S("python")));
    CHECK(!directory_is_filler(S("wit")));
    CHECK(!directory_is_filler(S("")));
    CHECK(!directory_is_filler(S("zzz")));
}
