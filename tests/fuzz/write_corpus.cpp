// SPDX-License-Identifier: Apache-2.0
//
// fuzz_corpus FOLDER writes a whole file of every kind, and rows of every op, for the fuzzers to
// begin with.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/profiler/formats/damaged_files.h"
#include "tests/profiler/silicon/damaged_calls.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<std::string> files = howard::profiler::testing::whole_files();
  std::ranges::move(howard::profiler::testing::whole_calls(), std::back_inserter(files));
  for (std::size_t i = 0; i < files.size(); ++i) {
    howard::write_file(std::filesystem::path(argv[1]) / std::to_string(i), files[i]);
  }
  return 0;
}
