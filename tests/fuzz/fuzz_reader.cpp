// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer calls this with one input after the other. The build says for which reader it is.
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
