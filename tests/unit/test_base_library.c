/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "base/xalloc.h"
#include "harness.h"

#define MATH_FUNCTIONS(X) X(cos) X(floor)

struct maths {
    MATH_FUNCTIONS(LIBRARY_POINTER)
};

static const char *const names[] = { MATH_FUNCTIONS(LIBRARY_NAME) };
_Static_assert(sizeof(struct maths) == sizeof(names));

TEST(the_functions_of_a_library_stand_behind_their_names)
{
    const struct library library = { "libm.so.6", "libc6", names, COUNT(names) };
    struct maths maths = {};
    char *why = NULL;

    CHECK_INT(library_load(&library, &maths, &why), OK);
    CHECK(!why);
    CHECK(maths.cos(0) == 1);
    CHECK(maths.floor(2.5) == 2);
}

TEST(a_library_that_is_not_there_is_named_with_its_package)
{
    const struct library library = { "libmoot-none.so.9", "libmoot-none9", names,
                                     COUNT(names) };
    struct maths maths = {};
    CLEANUP(xfreep) char *why = NULL;

    CHECK_INT(library_load(&library, &maths, &why), ERR_NOT_FOUND);
    CHECK(why && strstr(why, "libmoot-none.so.9") &&
          strstr(why, "package libmoot-none9"));
    CHECK(!maths.cos);
    CHECK_INT(library_load(&library, &maths, NULL), ERR_NOT_FOUND);
}

TEST(a_library_that_lacks_a_function_is_not_used_by_half)
{
    static const char *const wanted[] = { "cos", "moot_never_heard_of" };
    const struct library library = { "libm.so.6", "libc6", wanted, COUNT(wanted) };
    struct maths maths = {};
    CLEANUP(xfreep) char *why = NULL;

    CHECK_INT(library_load(&library, &maths, &why), ERR_NOT_FOUND);
    CHECK(why && strstr(why, "moot_never_heard_of"));
    CHECK(!maths.cos);
}
