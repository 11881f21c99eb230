// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer calls this with rows of ops CSVs that are compared with the emulator.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/profiler/silicon/damaged_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view rows(reinterpret_cast<const char*>(data), size);  // NOLINT: bytes
  howard::profiler::testing::compare_rows(rows);
  return 0;
}
