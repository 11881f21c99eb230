// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/gemm_traits.h"

#include <unistd.h>

#include <dnnl.hpp>

namespace howard::host {

bool gemm_wants_gaps() {
  // Each set is a mask of the extensions in it; AVX2 with VNNI has a larger number than AVX-512.
  constexpr auto kWide = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kWide) != kWide;
}

Bytes second_level_cache() {
  static const Bytes kSize = [] {
    const long told = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return Bytes(told > 0 ? std::int64_t{told} : std::int64_t{512} << 10);
  }();
  return kSize;
}

}  // namespace howard::host
