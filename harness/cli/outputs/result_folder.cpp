// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/result_folder.h"

#include <algorithm>
#include <map>
#include <set>
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

/// Returns the name of `file`, with its folder if `other` is in another one.
std::string name_beside(const fs::path& file, const fs::path& other) {
  return file.parent_path() == other.parent_path() ? file.filename().string() : file.string();
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
                 .value = id + " is in " + name_beside(place->second, file) + " and in " +
                          name_beside(file, place->second),
                 .accepted = "every point once",
                 .hint = "a folder for each run"});
  }
}

/// Returns the JSON files of a folder in the order of their names, or the file that `place` is.
/// `failure` says why a folder cannot be read.
std::vector<fs::path> files_in(const fs::path& place, std::error_code& failure) {
  std::error_code ignored;
  if (fs::is_regular_file(place, ignored)) return {place};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, failure)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Returns the results; `damaged` is told of each place and file that cannot be read, and may
/// throw.
template <class Damaged>
std::vector<harness::ExperimentResult> read_from(const std::vector<std::string>& places,
                                                 Damaged damaged) {
  std::vector<harness::ExperimentResult> results;
  std::map<std::string, fs::path> known;
  std::set<fs::path> read;
  for (const fs::path place : places) {
    std::error_code failure;
    bool found = false;
    for (const fs::path& file : files_in(place, failure)) {
      try {
        const std::string text = read_file(file);
        if (!is_result(text)) continue;
        found = true;
        if (!read.insert(fs::weakly_canonical(file)).second) continue;  // it was named twice
        for (auto& result : reports::parse_result_json(text, file.string())) {
          require_new(result, file, known);
          results.push_back(std::move(result));
        }
      } catch (const Error& reason) {
        damaged(reason);
      }
    }
    if (found) continue;
    const Error reason({.attempted = "read the results in " + place.string(),
                        .value = failure ? failure.message() : "no result in it",
                        .accepted = "a folder with results of a run, or a file of it",
                        .hint = "run_experiment all --backend emulated"});
    if (places.size() == 1) throw Error(reason);
    damaged(reason);
  }
  return results;
}

}  // namespace

std::vector<harness::ExperimentResult> read_results(const std::vector<std::string>& places,
                                                    std::vector<std::string>& problems) {
  return read_from(places, [&](const Error& reason) { problems.emplace_back(reason.what()); });
}

std::vector<harness::ExperimentResult> read_results(const std::vector<std::string>& places) {
  return read_from(places, [](const Error& reason) { throw Error(reason); });
}

}  // namespace howard::cli
