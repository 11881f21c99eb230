// SPDX-License-Identifier: Apache-2.0
//
// Keeps measured tunings in the user's cache folder, one line "MACHINE: TUNING" for each machine,
// number of threads and library.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <dnnl.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engines/host/instruction_set.h"
#include "engines/host/kernels/matmul/product_tuning.h"

namespace howard::host {
namespace {

namespace fs = std::filesystem;

/// Returns the folder of the user's caches, or nothing if the environment names none.
std::optional<fs::path> cache_folder() {
  const char* const caches = std::getenv("XDG_CACHE_HOME");
  if (caches != nullptr && fs::path(caches).is_absolute()) return fs::path(caches) / "howard";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".cache/howard";
  return std::nullopt;
}

/// Returns what Linux calls the CPU, with the numbers that tell models of one name apart.
std::string cpu_model() {
  std::string model;
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line) && !line.empty();) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    if (name == "model name" || name == "cpu family" || name == "model" || name == "stepping") {
      model += (model.empty() ? "" : ", ") + line.substr(colon + 2);
    }
  }
  return model;
}

/// Names all that a tuning depends on.
std::string machine_of(int threads) {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("{}; {} threads; oneDNN {}.{}.{}, instructions {:#x}, x86-64-v{}", cpu_model(),
                     threads, version.major, version.minor, version.patch,
                     static_cast<unsigned>(dnnl::get_effective_cpu_isa()),
                     static_cast<int>(best_instruction_set()) + 2);
}

/// Ends the name of a machine whose last measurement was not sure.
constexpr std::string_view kUnsure = "; not sure";

/// Reads the file; an empty or missing file gives no lines. A line that this version does not
/// understand is left out, and its tuning is measured anew.
std::map<std::string, ProductTuning> read_tunings(const fs::path& file) {
  std::map<std::string, ProductTuning> tunings;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string::npos) continue;
    try {
      tunings.insert_or_assign(line.substr(0, colon), ProductTuning::parse(line.substr(colon + 2)));
    } catch (const Error&) {
      continue;
    }
  }
  return tunings;
}

void write_tunings(const fs::path& file, const std::map<std::string, ProductTuning>& tunings) {
  std::string text;
  for (const auto& [machine, tuning] : tunings) text += machine + ": " + tuning.text() + "\n";
  write_file(file, text);
}

/// Holds a lock on a file beside the tunings: of two processes that begin at once, the second one
/// reads what the first has measured, undisturbed.
class TuningLock {
 public:
  explicit TuningLock(const fs::path& folder) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    file_ = open((folder / "products.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  ~TuningLock() {
    if (file_ >= 0) close(file_);
  }
  TuningLock(const TuningLock&) = delete;
  TuningLock& operator=(const TuningLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace

ProductTuning ProductTuning::kept_or_measured(int threads,
                                              const std::function<Measured()>& measure) {
  const std::optional<fs::path> folder = cache_folder();
  if (!folder) return measure().tuning;
  const fs::path file = *folder / "products.txt";
  const std::string machine = machine_of(threads);
  const TuningLock lock(*folder);
  std::map<std::string, ProductTuning> tunings = read_tunings(file);
  if (const auto kept = tunings.find(machine); kept != tunings.end()) return kept->second;
  const auto [tuning, is_sure] = measure();
  const std::string unsure = machine + std::string(kUnsure);
  const auto last = tunings.find(unsure);
  const bool came_twice = last != tunings.end() && last->second == tuning;
  tunings.erase(unsure);
  tunings.insert_or_assign(is_sure || came_twice ? machine : unsure, tuning);
  try {
    write_tunings(file, tunings);
  } catch (const Error&) {
    // If the home folder cannot be written, every process measures anew; nothing else happens.
  }
  return tuning;
}

ProductTuning ProductTuning::of_machine(WorkerPool& pool) {
  static std::mutex mutex;
  static std::map<int, ProductTuning> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(pool.threads());
  if (found != known.end()) return found->second;
  const ProductTuning tuning = kept_or_measured(pool.threads(), [&] { return measured(pool); });
  return known.emplace(pool.threads(), tuning).first->second;
}

}  // namespace howard::host
