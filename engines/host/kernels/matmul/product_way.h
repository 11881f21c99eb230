// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/units.h"

namespace howard::host {

/// Says how a large float32 product of one matrix by another is computed. What is fastest differs
/// from CPU to CPU (ProductTuning chooses). Equal ways give equal bits.
struct ProductWay {
  /// Says how C is cut. `parts` are blocks that fit the second-level cache, for the passes that
  /// follow. With `two` or `one`, each thread gets that many blocks, which are not cut any further.
  enum class Cut : std::uint8_t { parts, two, one };

  Cut cut = Cut::parts;
  /// If true, a factor is copied with a gap behind each row when its rows are read one after the
  /// other for the sum and lie a multiple of 2 KiB apart. Such rows share few sets of the caches. A
  /// transposed B is then read as it is stored; otherwise it is packed for many rows.
  bool pads = false;

  friend bool operator==(const ProductWay&, const ProductWay&) = default;
};

/// Returns the way that is taken without a measurement. oneDNN's gemm for AVX2 reads both factors
/// as they are stored and suffers from such rows; for AVX-512 it mostly copies what it reads.
ProductWay fixed_way();

/// Returns the size of the second-level cache of a core, as the system tells it, or 512 KiB if it
/// does not.
Bytes second_level_cache();

}  // namespace howard::host
