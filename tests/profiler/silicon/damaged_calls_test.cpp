// SPDX-License-Identifier: Apache-2.0
//
// These tests compare rows of damaged files with the emulator. Each row must be compared or named
// with a reason, and never crash. The fuzzer goes on from here.
#include "tests/profiler/silicon/damaged_calls.h"

#include <gtest/gtest.h>

#include <array>

#include "profiler/silicon/silicon_comparison.h"

namespace howard::profiler::testing {
namespace {

TEST(DamagedCalls, WholeOnesAreAllEmulated) {
  for (const std::string& row : whole_calls()) {
    const std::string text = std::string(kCallsHeader) + row;
    TextBytes source(text);
    EXPECT_EQ(compare_with_silicon(source, "file", chip::load_profiles()).calls.size(), 1U) << row;
  }
}

TEST(DamagedCalls, EveryTruncationIsCompared) {
  for (const std::string& row : whole_calls()) {
    for (std::size_t size = 0; size < row.size(); ++size) compare_rows(row.substr(0, size));
  }
}

TEST(DamagedCalls, EveryCellAndEveryValueOfAnAttributeIsComparedWithWhatBreaksParsers) {
  constexpr std::array<std::string_view, 15> kPoison = {"",
                                                        "0",
                                                        "-1",
                                                        "1",
                                                        "4294967296[4294967295]",
                                                        "9223372036854775807",
                                                        "nan",
                                                        "[",
                                                        "]",
                                                        "'; '",
                                                        "{[(x=0;y=0) - (x=255;y=255)]}",
                                                        "(x=255;y=255)",
                                                        "(x=2147483647;y=2147483647)",
                                                        "(x=",
                                                        "::"};
  for (const std::string& row : whole_calls()) {
    for (std::size_t begin = 0; begin < row.size();) {
      const std::size_t end = row.find_first_of(",';\n", begin);
      for (const std::string_view poison : kPoison) {
        compare_rows(row.substr(0, begin) + std::string(poison) + row.substr(end));
      }
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace howard::profiler::testing
