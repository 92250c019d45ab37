/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "http/encoding.h"

TEST(a_coding_is_accepted_where_it_is_named_and_weighs_something)
{
    static const struct {
        struct str header;
        bool br, gzip;
    } cases[] = {
        { S(""), false, false },
        { S("gzip, deflate, br, zstd"), true, true },
        { S("gzip"), false, true },
        { S("BR"), true, false },
        { S(" br ;q=0.5 , gzip;q=1"), true, true },
        { S("br;q=0, gzip;q=0.0"), false, false },
        { S("br; Q=0.000,gzip; q=0.001"), false, true },
        { S("br;x=1;q=0"), false, false },
        { S("br;q="), true, false },
        { S("br;q"), true, false },
        { S("*"), false, false },
        { S("brotli, xgzip, gzipx"), false, false },
        { S(",,;,br;;;,"), true, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct http_request req = { .header_count = 1 };

        req.headers[0] = (struct http_header){ S("accept-encoding"), c->header };
        CHECK_INT(http_accepts_encoding(&req, S("br")), c->br);
        CHECK_INT(http_accepts_encoding(&req, S("gzip")), c->gzip);
    }
}

TEST(codings_may_stand_in_several_headers)
{
    struct http_request req = { .header_count = 3 };

    req.headers[0] = (struct http_header){ S("Accept-Encoding"), S("gzip") };
    req.headers[1] = (struct http_header){ S("Accept"), S("br") };
    req.headers[2] = (struct http_header){ S("Accept-Encoding"), S("zstd") };
    CHECK(http_accepts_encoding(&req, S("gzip")));
    CHECK(http_accepts_encoding(&req, S("zstd")));
    CHECK(!http_accepts_encoding(&req, S("br")));
    req.header_count = 0;
    CHECK(!http_accepts_encoding(&req, S("gzip")));
}
