// SPDX-License-Identifier: Apache-2.0
//
// These tests read files as disks, editors, spreadsheets and killed programs leave them. Each must
// give an Error, or good rows with a count of the others, and never a crash. The fuzzer goes on
// from here.
#include "tests/profiler/formats/damaged_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "reports/findings/timeline_tables.h"
#include "reports/formats/result_json.h"
#include "reports/tables/terminal_table.h"

namespace howard::profiler::testing {
namespace {

/// Reads `text` as every kind of file there is, after telling which it is, and prints it.
void read_as_everything(std::string_view text) {
  for (const LogKind kind :
       {LogKind::ops_csv, LogKind::device_log, LogKind::chrome_trace, LogKind::perfetto_trace}) {
    read_as(kind, text, [](const LoggedRun& run) {
      for (const reports::Table& table : reports::timeline_tables(run, "file", 3)) {
        static_cast<void>(reports::terminal_table(table, {}));
      }
    });
  }
  try {
    static_cast<void>(detect_kind(text.substr(0, kDetectionBytes), "file"));
  } catch (const Error&) {
  }
  try {
    static_cast<void>(reports::parse_result_json(text, "file"));
  } catch (const Error&) {
  }
}

/// These pieces of text break parsers and can be put anywhere.
constexpr std::array<std::string_view, 24> kPoison = {"\"",
                                                      "\"\"",
                                                      ",",
                                                      "\n",
                                                      "\r\n",
                                                      "\0",
                                                      "-",
                                                      "-1",
                                                      "0",
                                                      "1e999",
                                                      "nan",
                                                      "inf",
                                                      "4294967295",
                                                      "-9223372036854775808",
                                                      "9223372036854775807",
                                                      "17592186044415",
                                                      "18446744073709551616",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      "ZONE_END",
                                                      "\xff\xfe",
                                                      "ARCH:"};

class Damage {
 public:
  explicit Damage(std::uint32_t seed) : random_(seed) {}

  std::string apply(std::string text, const std::vector<std::string>& files) {
    for (std::size_t i = 1 + below(4); i > 0; --i) change(text, files);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void change(std::string& text, const std::vector<std::string>& files) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(40), text.size() - at);
    switch (below(8)) {
      case 0:
        return text.resize(at);
      case 1:
        text.erase(at, length);
        return;
      case 2:
        text.insert(at, kPoison[below(kPoison.size())]);
        return;
      case 3:
        text.replace(at, length, kPoison[below(kPoison.size())]);
        return;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1), below(200)));
        return;
      case 5:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        return;
      case 6:
        replace_cell(text, at);
        return;
      default:
        text += files[below(files.size())];
    }
  }

  /// Replaces the cell or member around `at`, between two separators.
  void replace_cell(std::string& text, std::size_t at) {
    const std::size_t begin = text.find_last_of(",:\n", at);
    const std::size_t end = text.find_first_of(",}\n", at);
    if (begin == std::string::npos || end == std::string::npos || begin >= end) return;
    text.replace(begin + 1, end - begin - 1, kPoison[below(kPoison.size())]);
  }

  std::mt19937 random_;
};

TEST(DamagedFiles, EveryTruncationOfEveryKindIsRead) {
  for (const std::string& file : whole_files()) {
    for (std::size_t size = 0; size <= file.size(); size += size < 400 ? 1 : 7) {
      read_as_everything(std::string_view(file).substr(0, size));
    }
  }
}

TEST(DamagedFiles, ThousandsOfDamagedFilesAreRead) {
  const std::vector<std::string> files = whole_files();
  for (std::uint32_t seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE(seed);
    read_as_everything(Damage(seed).apply(files[seed % files.size()], files));
  }
}

}  // namespace
}  // namespace howard::profiler::testing
