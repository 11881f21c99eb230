// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer calls with one input after the other; the build says which reader it is for.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/profiler/formats/damaged_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace howard::profiler;
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes
  testing::read_as(LogKind::HOWARD_FUZZ_KIND, text);
  return 0;
}
