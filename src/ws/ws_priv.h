/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share and nobody else needs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/simd.h"

/* The mask for a payload whose first `offset` bytes have been unmasked already. */
uint32_t ws_mask_at(uint32_t mask, uint64_t offset);

/* ws_unmask() with the instructions of `level`, which simd_has() must grant. */
void ws_unmask_at(enum simd level, void *dst, const void *src, size_t len, uint32_t mask);
