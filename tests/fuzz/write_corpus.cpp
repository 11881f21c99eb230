// SPDX-License-Identifier: Apache-2.0
//
// fuzz_corpus FOLDER: writes a whole file of every kind, for the fuzzers to begin with.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/profiler/formats/damaged_files.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<std::string> files = howard::profiler::testing::whole_files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    howard::write_file(std::filesystem::path(argv[1]) / std::to_string(i), files[i]);
  }
  return 0;
}
