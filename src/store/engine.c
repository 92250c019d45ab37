/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine.h"

const struct engine_ops *engine_for(const struct store_setup *setup)
{
    return setup->url.len ? &postgres_engine : &sqlite_engine;
}
