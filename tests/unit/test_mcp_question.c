/* SPDX-License-Identifier: Apache-2.0 */
/* What a server may ask, and what it may be answered. Texts stand with ' for ". */
#include "base/cleanup.h"
#include "harness.h"
#include "mcp/question.h"

#define SAMPLE "sampling/createMessage"
#define ELICIT "elicitation/create"

enum { ROOM = 1 << 20 };

struct bench {
    struct arena scratch;
    struct buf params, result, out, why;
};

static void bench_init(struct bench *b)
{
    arena_init(&b->scratch, ROOM);
    buf_init(&b->params, ROOM);
    buf_init(&b->result, ROOM);
    buf_init(&b->out, ROOM);
    buf_init(&b->why, QUESTION_WHY);
}

static void bench_done(struct bench *b)
{
    arena_done(&b->scratch);
    buf_done(&b->params);
    buf_done(&b->result);
    buf_done(&b->out);
    buf_done(&b->why);
}

static struct str quoted(struct buf *buf, const char *text)
{
    buf_clear(buf);
    for (; *text; text++)
        buf_putc(buf, *text == '\'' ? '"' : *text);
    return buf_str(buf);
}

/* "", or why not. */
static struct str asked(struct bench *b, const char *method, const char *params)
{
    enum err err;

    buf_clear(&b->why);
    arena_reset(&b->scratch);
    err =
        question_check(str_of(method), quoted(&b->params, params), &b->scratch, &b->why);
    CHECK_INT(err, b->why.len ? ERR_INVALID : OK);
    return buf_str(&b->why);
}

/* What the server gets, or "!" and why not. */
static struct str answered(struct bench *b, const char *method, const char *params,
                           const char *result)
{
    struct question_asked question = { str_of(method), quoted(&b->params, params) };

    buf_clear(&b->why);
    buf_clear(&b->out);
    arena_reset(&b->scratch);
    if (question_put_answer(&b->out, &question, quoted(&b->result, result), &b->scratch,
                            &b->why)) {
        buf_clear(&b->out);
        buf_putc(&b->out, '!');
        buf_put(&b->out, buf_str(&b->why));
    }
    return buf_str(&b->out);
}

#define TEXT_OF(who)  "{'role':'" who "','content':{'type':'text','text':'t'}}"
#define USE(id)       "{'type':'tool_use','id':'" id "','name':'n','input':{}}"
#define RESULT(id)    "{'type':'tool_result','toolUseId':'" id "','content':[]}"
#define USES(list)    "{'role':'assistant','content':[" list "]}"
#define RESULTS(list) "{'role':'user','content':[" list "]}"
#define ASK(messages) "{'maxTokens':1,'messages':[" messages "]}"
#define MORE(more)    "{'maxTokens':1,'messages':[]," more "}"

TEST(what_a_model_is_asked_is_checked)
{
    static const struct {
        const char *params, *why;
    } cases[] = {
        { ASK(TEXT_OF("user")), "" },
        { ASK(TEXT_OF("user") "," TEXT_OF("assistant")), "" },
        { ASK(""), "" },
        { "", "messages is missing" },
        { "{'maxTokens':1,'messages':{}}", "messages is not a list" },
        { "{'messages':[]}", "maxTokens is missing" },
        { "{'maxTokens':1.5,'messages':[]}", "maxTokens is not an integer from 0 on" },
        { "{'maxTokens':-1,'messages':[]}", "maxTokens is not an integer from 0 on" },
        { "{'maxTokens':'1','messages':[]}", "maxTokens is not an integer from 0 on" },
        { "{'maxTokens':1,'maxTokens':2,'messages':[]}",
          "it cannot be read: a name is given twice" },
        { "[]", "it is not an object" },
        { ASK("7"), "messages[0]: role is neither user nor assistant" },
        { ASK(TEXT_OF("user") "," TEXT_OF("system")),
          "messages[1]: role is neither user nor assistant" },
        { ASK("{'role':'user'}"), "messages[0]: content is missing" },
        { ASK("{'role':'user','content':'t'}"),
          "messages[0]: content is neither an object nor a list" },
        { ASK("{'role':'user','content':{'type':'text'}}"),
          "messages[0]: text is missing" },
        { ASK("{'role':'user','content':[7]}"),
          "messages[0]: content is of no type that is known" },
        { ASK("{'role':'user','content':{'type':'image','data':'AA=='}}"),
          "messages[0]: mimeType is missing" },
        { ASK("{'role':'user','content':{'type':'audio','data':'','mimeType':'a/b'}}"),
          "" },
        { ASK("{'role':'user','content':{'type':'resource','resource':{}}}"),
          "messages[0]: a resource has no place here" },
        { ASK("{'role':'user','content':" USE("a") "}"),
          "messages[0]: a tool_use has no place here" },
        { ASK("{'role':'assistant','content':" RESULT("a") "}"),
          "messages[0]: a tool_result has no place here" },
        { MORE("'systemPrompt':7"), "systemPrompt is not a text" },
        { MORE("'temperature':'hot'"), "temperature is not a number" },
        { MORE("'stopSequences':['a',7]"), "stopSequences is not a list of texts" },
        { MORE("'metadata':[]"), "metadata is not an object" },
        { MORE("'modelPreferences':{'hints':[{'name':'m'}],'costPriority':0.5}"), "" },
        { MORE("'modelPreferences':{'costPriority':1.5}"),
          "costPriority is not a number from 0 to 1" },
        { MORE("'modelPreferences':{'hints':['m']}"), "a hint is not an object" },
        { MORE("'includeContext':'thisServer'"), "" },
        { MORE("'includeContext':'everything'"),
          "includeContext is none of none, thisServer, allServers" },
        { MORE("'tools':[{'name':'a','inputSchema':{}}],'toolChoice':{'mode':'none'}"),
          "" },
        { MORE("'tools':[{'name':'a','inputSchema':{}},{'name':'b'}]"),
          "tools[1]: inputSchema is missing" },
        { MORE("'tools':[7]"), "tools[0]: it is not an object" },
        { MORE("'toolChoice':{'mode':'any'}"),
          "toolChoice.mode is none of auto, required, none" },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases)
        CHECK_STR(asked(&b, SAMPLE, c->params), str_of(c->why));
    bench_done(&b);
}

/* SAMP-03. */
TEST(what_tools_are_used_for_is_answered_at_once_and_alone)
{
    static const struct {
        const char *messages, *why;
    } cases[] = {
        { USES(USE("a")) "," RESULTS(RESULT("a")), "" },
        { USES(USE("a") "," USE("b")) "," RESULTS(RESULT("b") "," RESULT("a")), "" },
        { USES("{'type':'text','text':'t'}," USE("a")) "," RESULTS(
              RESULT("a")) "," TEXT_OF("assistant"),
          "" },
        { "{'role':'assistant','content':" USE("a") "},{'role':'user','content':" RESULT(
              "a") "}",
          "" },
        { USES(USE("a")), "messages end with a tool_use that has no tool_result" },
        { USES(USE("a")) "," TEXT_OF("user"),
          "messages[1]: a tool_use before it has no tool_result here" },
        { USES(USE("a")) "," TEXT_OF("assistant"),
          "messages[1]: a tool_use before it has no tool_result here" },
        { USES(USE("a") "," USE("b")) "," RESULTS(RESULT("a")),
          "messages[1]: a tool_use before it has not one tool_result here" },
        { USES(USE("a")) "," RESULTS(RESULT("a") "," RESULT("a")),
          "messages[1]: a tool_use before it has not one tool_result here" },
        { USES(USE("a")) "," RESULTS(RESULT("a") "," RESULT("b")),
          "messages[1]: a tool_result answers no tool_use before it" },
        { USES(USE("a")) "," RESULTS(RESULT("a") ",{'type':'text','text':'t'}"),
          "messages[1]: a tool_result stands beside something else" },
        { RESULTS(RESULT("a")),
          "messages[0]: a tool_result answers no tool_use before it" },
        { USES(USE("a")) "," RESULTS(RESULT("a")) "," RESULTS(RESULT("a")),
          "messages[2]: a tool_result answers no tool_use before it" },
        { USES("{'type':'tool_use','id':'a','name':'n'}"),
          "messages[0]: input is missing" },
        { USES(USE("a")) "," RESULTS(
              "{'type':'tool_result','toolUseId':'a','content':[{'type':'tool_use'}]}"),
          "messages[1]: a tool_use has no place here" },
        { USES(USE("a")) "," RESULTS("{'type':'tool_result','toolUseId':'a','content':[{"
                                     "'type':'resource_link','uri':'x:','name':'n'}]}"),
          "" },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf params;

        buf_init(&params, ROOM);
        buf_putf(&params, ASK("%s"), c->messages);
        CHECK_STR(asked(&b, SAMPLE, buf_cstr(&params)), str_of(c->why));
    }
    bench_done(&b);
}

TEST(what_a_model_said_is_checked)
{
    static const char plain[] = ASK("");
    static const char with_tools[] = MORE("'tools':[{'name':'n','inputSchema':{}}]");
    static const struct {
        const char *params, *result, *got;
    } cases[] = {
        { plain, "{'role':'assistant','model':'m','content':{'type':'text','text':'t'}}",
          NULL },
        { plain,
          "{'role':'assistant','model':'m','stopReason':'x','content':[],'_meta':{'a':1}}",
          NULL },
        { with_tools, "{'role':'assistant','model':'m','content':[" USE("a") "]}", NULL },
        { plain, "{'role':'assistant','model':'m','content':[" USE("a") "]}",
          "!a tool_use, where no tools were offered" },
        { plain, "{'role':'user','model':'m','content':[" RESULT("a") "]}",
          "!a tool_result has no place here" },
        { plain, "{'role':'assistant','content':[]}", "!model is missing" },
        { plain, "{'role':'assistant','model':'m'}", "!content is missing" },
        { plain, "{'role':'model','model':'m','content':[]}",
          "!role is neither user nor assistant" },
        { plain, "{'role':'assistant','model':'m','content':[],'stopReason':7}",
          "!stopReason is not a text" },
        { plain, "[]", "!it is not an object" },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases) {
        struct str got = answered(&b, SAMPLE, c->params, c->result);

        CHECK_STR(got, c->got ? str_of(c->got) : buf_str(&b.result));
    }
    bench_done(&b);
}

#define FORM(schema)   "{'message':'m','requestedSchema':" schema "}"
#define FIELDS(fields) FORM("{'type':'object','properties':{" fields "}}")

/* ELIC-03, BASE-08. */
TEST(a_form_is_flat_and_of_what_forms_have)
{
    static const struct {
        const char *params, *why;
    } cases[] = {
        { FIELDS(""), "" },
        { "{'mode':'form','message':'m','requestedSchema':{'type':'object','properties':"
          "{}}}",
          "" },
        { "{'requestedSchema':{'type':'object','properties':{}}}", "message is missing" },
        { "{'message':'m'}", "requestedSchema is missing" },
        { "{'message':7}", "message is not a text" },
        { "{'message':'m','mode':'voice'}", "mode is neither form nor url" },
        { "{'message':'m','mode':7}", "mode is not a text" },
        { FORM("7"), "requestedSchema is not an object" },
        { FORM("{'properties':{}}"), "requestedSchema: its type is not object" },
        { FORM("{'type':'object'}"), "requestedSchema: properties is missing" },
        { FORM("{'type':'object','properties':{},'allOf':[]}"),
          "requestedSchema: a form has no allOf here" },
        { FORM("{'type':'object','properties':{},'$ref':'http://x'}"),
          "requestedSchema: a form has no $ref here" },
        { FORM("{'type':'object','properties':{},'required':['a']}"),
          "requestedSchema: required names what is no field" },
        { FORM("{'type':'object','properties':{},'required':[7]}"),
          "requestedSchema: required is not a list of texts" },
        { FORM("{'type':'object','properties':{},"
               "'$schema':'https://json-schema.org/draft/2020-12/schema'}"),
          "" },
        { FORM("{'type':'object','properties':{},"
               "'$schema':'http://json-schema.org/draft-07/schema#'}"),
          "" },
        { FORM("{'type':'object','properties':{},"
               "'$schema':'http://json-schema.org/draft-04/schema#'}"),
          "requestedSchema: its $schema is neither 2020-12 nor draft-07" },
        { FORM("{'type':'object','properties':{},'$schema':7}"),
          "requestedSchema: its $schema is neither 2020-12 nor draft-07" },
        { FIELDS("'a':7"), "a: its type is none that a form has" },
        { FIELDS("'a':{}"), "a: its type is none that a form has" },
        { FIELDS("'a':{'type':'null'}"), "a: its type is none that a form has" },
        { FIELDS("'a':{'type':['string','null']}"),
          "a: its type is none that a form has" },
        { FIELDS("'a':{'type':'object','properties':{}}"),
          "a: its type is none that a form has" },
        { FIELDS("'a':{'type':'string','title':7}"), "a: title is not a text" },
        { FIELDS("'a':{'type':'string','anyOf':[]}"), "a: a form has no anyOf here" },
        { FIELDS("'a':{'type':'number','oneOf':[]}"), "a: a form has no oneOf here" },
        { FIELDS("'a':{'type':'string','items':{}}"), "a: a form has no items here" },
        /* texts */
        { FIELDS("'a':{'type':'string','minLength':1,'maxLength':3,'format':'email',"
                 "'pattern':'^x','default':'a@b','x':1}"),
          "" },
        { FIELDS("'a':{'type':'string','minLength':-1}"),
          "a: minLength is not an integer from 0 on" },
        { FIELDS("'a':{'type':'string','minLength':3,'maxLength':2}"),
          "a: minLength is above maxLength" },
        { FIELDS("'a':{'type':'string','format':'regex'}"),
          "a: format is none of email, uri, date, date-time" },
        { FIELDS("'a':{'type':'string','default':7}"), "a: default does not fit" },
        { FIELDS("'a':{'type':'string','minLength':2,'default':'a'}"),
          "a: default does not fit" },
        /* choices, in five shapes */
        { FIELDS("'a':{'type':'string','enum':['x','y'],'default':'y'}"), "" },
        { FIELDS("'a':{'type':'string','enum':['x'],'enumNames':['X']}"), "" },
        { FIELDS("'a':{'type':'string','oneOf':[{'const':'x','title':'X'}]}"), "" },
        { FIELDS("'a':{'type':'array','items':{'type':'string','enum':['x','y']},"
                 "'minItems':1,'maxItems':2,'default':['x']}"),
          "" },
        { FIELDS("'a':{'type':'array','items':{'anyOf':[{'const':'x','title':'X'}]}}"),
          "" },
        { FIELDS("'a':{'type':'string','enum':[]}"),
          "a: its choices are not a list of some" },
        { FIELDS("'a':{'type':'string','enum':{}}"),
          "a: its choices are not a list of some" },
        { FIELDS("'a':{'type':'string','enum':['x',7]}"),
          "a: its choices are not texts" },
        { FIELDS("'a':{'type':'string','enum':['x'],'enumNames':[7]}"),
          "a: enumNames is not a list of texts" },
        { FIELDS("'a':{'type':'string','enum':['x'],'default':'y'}"),
          "a: default does not fit" },
        { FIELDS("'a':{'type':'string','oneOf':['x']}"), "a: a choice is not an object" },
        { FIELDS("'a':{'type':'string','oneOf':[{'const':'x'}]}"),
          "a: title is missing" },
        { FIELDS("'a':{'type':'array'}"), "a: items is missing" },
        { FIELDS("'a':{'type':'array','items':{'type':'string'}}"),
          "a: items name no choices" },
        { FIELDS("'a':{'type':'array','items':{'enum':['x']},'minItems':2,'maxItems':1}"),
          "a: minItems is above maxItems" },
        /* numbers */
        { FIELDS("'a':{'type':'number','minimum':-1.5,'maximum':1e3,'default':95.5}"),
          "" },
        { FIELDS("'a':{'type':'integer','default':5.0}"), "" },
        { FIELDS("'a':{'type':'integer','default':5.5}"), "a: default does not fit" },
        { FIELDS("'a':{'type':'number','minimum':'1'}"), "a: minimum is not a number" },
        { FIELDS("'a':{'type':'number','minimum':2,'maximum':1}"),
          "a: minimum is above maximum" },
        { FIELDS("'a':{'type':'boolean','default':false}"), "" },
        { FIELDS("'a':{'type':'boolean','default':'no'}"), "a: default does not fit" },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases)
        CHECK_STR(asked(&b, ELICIT, c->params), str_of(c->why));
    bench_done(&b);
}

/* ELIC-04, ELIC-11. */
TEST(a_url_that_somebody_is_shown_leads_to_a_page_and_says_whose)
{
    static const struct {
        const char *url, *why;
    } cases[] = {
        { "https://example.com", "" },
        { "HTTPS://example.com:8443/a?b=%20#c", "" },
        { "https://[2001:db8::1]/", "" },
        { "http://localhost:8080/x", "" },
        { "http://127.0.0.1/", "" },
        { "http://[::1]:80/", "" },
        { "", "url is no URL" },
        { "example.com/a", "url is no URL" },
        { "https://a b", "url is no URL" },
        { "https://ex\u00e4mple.com", "url is no URL" },
        { "https://a/%2", "url is no URL" },
        { "https://a/\\\\b", "url is no URL" },
        { "https:example.com", "url names no host" },
        { "https:///a", "url names no host" },
        { "https://:80/", "url names no host" },
        { "https://bank.example@evil.example/",
          "url has a user name in front of its host" },
        { "http://example.com/", "url is not https" },
        { "http://localhost.evil.example/", "url is not https" },
        { "http://127.0.0.1.evil.example/", "url is not https" },
        { "javascript:alert(1)", "url is neither https nor http" },
        { "data:text/html,x", "url is neither https nor http" },
        { "file:///etc/passwd", "url is neither https nor http" },
        { "ftp://a/", "url is neither https nor http" },
        { "x-app://a", "url is neither https nor http" },
    };
    static const char *const without[][2] = {
        { "{'mode':'url','message':'m','elicitationId':'e'}", "url is missing" },
        { "{'mode':'url','message':'m','url':'https://x'}", "elicitationId is missing" },
        { "{'mode':'url','message':'m','url':'https://x','elicitationId':''}",
          "elicitationId is empty" },
        { "{'mode':'url','url':'https://x','elicitationId':'e'}", "message is missing" },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf params;

        buf_init(&params, ROOM);
        buf_putf(&params, "{'mode':'url','message':'m','elicitationId':'e','url':'%s'}",
                 c->url);
        CHECK_STR(asked(&b, ELICIT, buf_cstr(&params)), str_of(c->why));
    }
    FOR_EACH_CASE(c, without)
        CHECK_STR(asked(&b, ELICIT, (*c)[0]), str_of((*c)[1]));
    bench_done(&b);
}

#define ACCEPT(content) "{'action':'accept','content':" content "}"

/* ELIC-05, ELIC-12. */
TEST(what_was_filled_in_fits_the_form)
{
    static const char one[] = FORM("{'type':'object','required':['n'],'properties':{"
                                   "'n':{'type':'string','minLength':2,'maxLength':3}}}");
    static const char url[] =
        "{'mode':'url','message':'m','url':'https://x','elicitationId':'e'}";
    static const struct {
        const char *params, *result, *got;
    } cases[] = {
        { one, ACCEPT("{'n':'ab'}"), NULL },
        { one, ACCEPT("{'n':'\u00e4\u00f6\u00fc'}"), NULL },
        { one, "{'action':'accept','_meta':{'x':1},'content':{'n':'ab','by':'me'}}",
          NULL },
        { one, "{'action':'decline'}", NULL },
        { one, "{'action':'cancel','content':{'n':7}}", "{'action':'cancel'}" },
        { url, "{'action':'accept'}", NULL },
        { url, "{'action':'accept','content':{'n':7}}", "{'action':'accept'}" },
        { one, "{'action':'yes'}", "!action is none of accept, decline, cancel" },
        { one, "{}", "!action is none of accept, decline, cancel" },
        { one, "{'action':'accept'}", "!n: it is missing" },
        { one, ACCEPT("[]"), "!content is not an object" },
        { one, ACCEPT("{}"), "!n: it is missing" },
        { one, ACCEPT("{'n':7}"), "!n: it is not a text" },
        { one, ACCEPT("{'n':null}"), "!n: it is not a text" },
        { one, ACCEPT("{'n':'a'}"), "!n: it is too short" },
        { one, ACCEPT("{'n':'abcd'}"), "!n: it is too long" },
        { one, ACCEPT("{'n':'ab','x':{'y':1}}"), "!x: it is nothing that a form has" },
        { FIELDS("'a':{'type':'string','enum':['x']}"), ACCEPT("{'a':'y'}"),
          "!a: it is none of the choices" },
        { FIELDS("'a':{'type':'string','oneOf':[{'const':'x','title':'X'}]}"),
          ACCEPT("{'a':'X'}"), "!a: it is none of the choices" },
        { FIELDS("'a':{'type':'string','oneOf':[{'const':'x','title':'X'}]}"),
          ACCEPT("{'a':'x'}"), NULL },
        { FIELDS("'a':{'type':'number','minimum':1,'maximum':2}"), ACCEPT("{'a':0.5}"),
          "!a: it is below the minimum" },
        { FIELDS("'a':{'type':'number','minimum':1,'maximum':2}"), ACCEPT("{'a':2.5}"),
          "!a: it is above the maximum" },
        { FIELDS("'a':{'type':'number'}"), ACCEPT("{'a':'1'}"),
          "!a: it is not a number" },
        { FIELDS("'a':{'type':'integer'}"), ACCEPT("{'a':1.5}"),
          "!a: it is not an integer" },
        { FIELDS("'a':{'type':'integer'}"), ACCEPT("{'a':12345678901234567890}"), NULL },
        { FIELDS("'a':{'type':'boolean'}"), ACCEPT("{'a':1}"),
          "!a: it is not true or false" },
        { FIELDS("'a':{'type':'array','items':{'enum':['x','y']}}"),
          ACCEPT("{'a':['y','x']}"), NULL },
        { FIELDS("'a':{'type':'array','items':{'enum':['x']}}"), ACCEPT("{'a':['z']}"),
          "!a: one is none of the choices" },
        { FIELDS("'a':{'type':'array','items':{'enum':['x']}}"), ACCEPT("{'a':'x'}"),
          "!a: it is not a list of texts" },
        { FIELDS("'a':{'type':'array','minItems':1,'items':{'enum':['x']}}"),
          ACCEPT("{'a':[]}"), "!a: too few are chosen" },
        { FIELDS("'a':{'type':'array','maxItems':1,'items':{'enum':['x']}}"),
          ACCEPT("{'a':['x','x']}"), "!a: too many are chosen" },
        /* defaults */
        { FORM(
              "{'type':'object','required':['a'],'properties':{'a':{'type':'string',"
              "'default':'A'},'b':{'type':'number','default':95.5},'c':{'type':'string'},"
              "'d':{'type':'boolean','default':true}}}"),
          ACCEPT("{'d':false}"), ACCEPT("{'d':false,'a':'A','b':95.5}") },
        { FIELDS("'a':{'type':'string','default':'A'}"), "{'action':'accept'}",
          ACCEPT("{'a':'A'}") },
        { FIELDS("'a':{'type':'string','default':'A'}"), "{'action':'decline'}", NULL },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf want;
        struct str got = answered(&b, ELICIT, c->params, c->result);

        buf_init(&want, ROOM);
        CHECK_STR(got, quoted(&want, c->got ? c->got : c->result));
    }
    bench_done(&b);
}

TEST(texts_of_a_format_are_of_that_format)
{
    static const struct {
        const char *format, *text;
        bool fits;
    } cases[] = {
        { "email", "a@b.c", true },
        { "email", "\u00e4@b", true },
        { "email", "a", false },
        { "email", "@b", false },
        { "email", "a@", false },
        { "email", "a@b@c", false },
        { "email", "a b@c", false },
        { "email", "a@.b", false },
        { "email", "a@b.", false },
        { "uri", "x:", true },
        { "uri", "urn:a:b", true },
        { "uri", "/a", false },
        { "uri", "1x:a", false },
        { "uri", ":a", false },
        { "uri", "x:a b", false },
        { "date", "2024-02-29", true },
        { "date", "2023-02-29", false },
        { "date", "1900-02-29", false },
        { "date", "2000-02-29", true },
        { "date", "2024-13-01", false },
        { "date", "2024-00-01", false },
        { "date", "2024-04-31", false },
        { "date", "2024-4-1", false },
        { "date", "2024-04-011", false },
        { "date", "2024/04/01", false },
        { "date", "", false },
        { "date-time", "2024-04-01T23:59:60Z", true },
        { "date-time", "2024-04-01t00:00:00.123+01:30", true },
        { "date-time", "2024-04-01T00:00:00", false },
        { "date-time", "2024-04-01T24:00:00Z", false },
        { "date-time", "2024-04-01T00:60:00Z", false },
        { "date-time", "2024-04-01T00:00:00.Z", false },
        { "date-time", "2024-04-01T00:00:00+0130", false },
        { "date-time", "2024-04-01T00:00:00ZZ", false },
        { "date-time", "2024-04-01", false },
    };
    struct bench b;

    bench_init(&b);
    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf params;
        CLEANUP(buf_done) struct buf result;

        buf_init(&params, ROOM);
        buf_init(&result, ROOM);
        buf_putf(&params, FIELDS("'a':{'type':'string','format':'%s'}"), c->format);
        buf_putf(&result, ACCEPT("{'a':'%s'}"), c->text);
        CHECK_INT(answered(&b, ELICIT, buf_cstr(&params), buf_cstr(&result)).ptr[0] !=
                      '!',
                  c->fits);
    }
    bench_done(&b);
}

/* ROOT-02. */
TEST(roots_are_files_here_and_lead_nowhere_else)
{
    static const struct {
        const char *roots, *why;
    } cases[] = {
        { "[]", NULL },
        { "[{'uri':'file:///home/a','name':'A'},{'uri':'file://localhost/b%20c'}]",
          NULL },
        { "[{'uri':'file:///a/..b/...'}]", NULL },
        { "{}", "!roots is not a list" },
        { "[7]", "!roots[0]: it is not an object" },
        { "[{}]", "!roots[0]: uri is missing" },
        { "[{'uri':'file:///a','name':7}]", "!roots[0]: name is not a text" },
        { "[{'uri':'file:///a'},{'uri':'https://x/'}]",
          "!roots[1]: uri is no file:// URI" },
        { "[{'uri':'file:/a'}]", "!roots[0]: uri is no file:// URI" },
        { "[{'uri':'file:///a b'}]", "!roots[0]: uri is no file:// URI" },
        { "[{'uri':'file://host/a'}]",
          "!roots[0]: uri names another machine, or no path" },
        { "[{'uri':'file://'}]", "!roots[0]: uri names another machine, or no path" },
        { "[{'uri':'file:///a?b'}]", "!roots[0]: uri has more than a path" },
        { "[{'uri':'file:///a#b'}]", "!roots[0]: uri has more than a path" },
        { "[{'uri':'file:///a/../b'}]", "!roots[0]: uri leads upwards" },
        { "[{'uri':'file:///a/..'}]", "!roots[0]: uri leads upwards" },
        { "[{'uri':'file:///a/%2e%2E/b'}]", "!roots[0]: uri leads upwards" },
        { "[{'uri':'file:///a/..%2fb'}]", "!roots[0]: uri leads upwards" },
        { "[{'uri':'file:///a%00b'}]", "!roots[0]: uri has a byte that no path has" },
    };
    struct bench b;

    bench_init(&b);
    CHECK_STR(asked(&b, "roots/list", ""), S(""));
    CHECK_STR(asked(&b, "roots/list", "{'_meta':{}}"), S(""));
    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf result;
        struct str got;

        buf_init(&result, ROOM);
        buf_putf(&result, "{'roots':%s}", c->roots);
        got = answered(&b, "roots/list", "", buf_cstr(&result));
        CHECK_STR(got, c->why ? str_of(c->why) : buf_str(&b.result));
    }
    CHECK_STR(answered(&b, "roots/list", "", "{}"), S("!roots is not a list"));
    bench_done(&b);
}

TEST(other_questions_are_nobodys_business_here)
{
    struct bench b;

    bench_init(&b);
    CHECK_STR(asked(&b, "x/y", "7"), S(""));
    CHECK_STR(answered(&b, "x/y", "7", "8"), S("8"));
    bench_done(&b);
}

TEST(what_does_not_fit_the_scratch_is_refused)
{
    struct bench b;

    bench_init(&b);
    arena_done(&b.scratch);
    arena_init(&b.scratch, 64);
    CHECK_STR(asked(&b, SAMPLE, ASK(TEXT_OF("user"))),
              S("it cannot be read: it is too large"));
    bench_done(&b);
}
