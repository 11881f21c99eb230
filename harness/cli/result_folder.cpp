// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/result_folder.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "reports/result_json.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

bool is_result(const std::string& text) {
  constexpr std::size_t kBeginning = 200;
  return text.substr(0, kBeginning).find("\"howard.result/") != std::string::npos;
}

}  // namespace

std::vector<harness::ExperimentResult> read_result_folder(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<harness::ExperimentResult> results;
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    if (!is_result(text)) continue;
    std::ranges::move(reports::parse_result_json(text, file.string()), std::back_inserter(results));
  }
  if (results.empty()) {
    throw Error({.attempted = "read the results in " + folder.string(),
                 .value = failure ? failure.message() : "no result in it",
                 .accepted = "a folder with results of a run",
                 .hint = "run_experiment all --backend emulated"});
  }
  return results;
}

}  // namespace howard::cli
