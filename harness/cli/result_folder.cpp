// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/result_folder.h"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "reports/formats/result_json.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

bool is_result(const std::string& text) {
  constexpr std::size_t kBeginning = 200;
  return text.substr(0, kBeginning).find("\"howard.result/") != std::string::npos;
}

/// Checks that no other file has the point, which would count it twice or with two times. `places`
/// maps each point to its file.
void require_new(const harness::ExperimentResult& result, const fs::path& file,
                 std::map<std::string, fs::path>& places) {
  for (const harness::PointResult& point : result.points) {
    const std::string id = result.experiment + "/" + point.id();
    const auto& [place, is_new] = places.emplace(id, file);
    if (is_new || place->second == file) continue;
    throw Error({.attempted = "read the results in " + file.parent_path().string(),
                 .value = id + " is in " + place->second.filename().string() + " and in " +
                          file.filename().string(),
                 .accepted = "every point once",
                 .hint = "a folder for each run"});
  }
}

/// Returns the results; `damaged` is told of each file that cannot be read, and may throw.
template <class Damaged>
std::vector<harness::ExperimentResult> read_results(const fs::path& folder, Damaged damaged) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<harness::ExperimentResult> results;
  std::map<std::string, fs::path> places;
  bool found = false;
  for (const fs::path& file : files) {
    try {
      const std::string text = read_file(file);
      if (!is_result(text)) continue;
      found = true;
      for (auto& result : reports::parse_result_json(text, file.string())) {
        require_new(result, file, places);
        results.push_back(std::move(result));
      }
    } catch (const Error& reason) {
      damaged(reason);
    }
  }
  if (!found) {
    throw Error({.attempted = "read the results in " + folder.string(),
                 .value = failure ? failure.message() : "no result in it",
                 .accepted = "a folder with results of a run",
                 .hint = "run_experiment all --backend emulated"});
  }
  return results;
}

}  // namespace

std::vector<harness::ExperimentResult> read_result_folder(const fs::path& folder,
                                                          std::vector<std::string>& problems) {
  return read_results(folder, [&](const Error& reason) { problems.emplace_back(reason.what()); });
}

std::vector<harness::ExperimentResult> read_result_folder(const fs::path& folder) {
  return read_results(folder, [](const Error& reason) { throw Error(reason); });
}

}  // namespace howard::cli
