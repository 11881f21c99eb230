// SPDX-License-Identifier: Apache-2.0
#include "base/large_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace howard {

void prefer_large_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t kWorthwhile = std::size_t{4} << 20;
  constexpr std::size_t kSmallPage = std::size_t{4} << 10;
  if (bytes < kWorthwhile) return;
  // Begin at the start of the first page, which also holds the allocator's own words before
  // `memory`. A mapping that begins there is aligned to large pages; an address behind those words
  // would not be.
  const std::size_t before = reinterpret_cast<std::uintptr_t>(memory) % kSmallPage;  // NOLINT
  ::madvise(static_cast<char*>(memory) - before, bytes + before, MADV_HUGEPAGE);
}

}  // namespace howard
