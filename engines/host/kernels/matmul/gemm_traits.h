// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"

namespace howard::host {

/// Returns whether oneDNN's gemm for this CPU wants gaps: factors are copied with a gap behind each
/// row when their rows are read one after the other for the sum and lie a multiple of 2 KiB apart,
/// because such rows share few sets of the caches. The gemm for AVX2 reads both factors as they are
/// stored; that for AVX-512 mostly copies what it reads.
bool gemm_wants_gaps();

/// Returns the size of the second-level cache of a core, as the system tells it, or 512 KiB if it
/// does not.
Bytes second_level_cache();

}  // namespace howard::host
