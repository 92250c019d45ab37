/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of keys: whatever is read as one verifies no signature that is none. */
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "identity/jwks.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct str algorithms[] = { S("RS256"), S("PS512"), S("ES256"),
                                             S("ES512"), S("EdDSA"), S("none"),
                                             S("HS256") };
    static const char zeros[132] = {};
    const char *why = NULL;
    struct jwks *set;

    if (jwks_parse((struct str){ (const char *)bytes, size }, &set, &why)) {
        expect(why && *why);
        return 0;
    }
    expect(jwks_count(set) > 0 && jwks_count(set) <= JWKS_MAX_KEYS);
    for (size_t i = 0; i < COUNT(algorithms); i++)
        expect(jwks_verify(set,
                           &(struct jwks_signature){
                               .algorithm = algorithms[i],
                               .text = S("a.b"),
                               .signature = { zeros, sizeof(zeros) } }) == ERR_NOT_FOUND);
    jwks_free(set);
    return 0;
}
