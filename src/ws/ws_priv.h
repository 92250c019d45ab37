/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share and nobody else needs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The mask for a payload whose first `offset` bytes have been unmasked already. */
uint32_t ws_mask_at(uint32_t mask, uint64_t offset);
