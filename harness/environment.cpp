// SPDX-License-Identifier: Apache-2.0
#include "harness/environment.h"

#include <cstdlib>
#include <fstream>

#include "harness/build_info.h"

namespace howard::harness {
namespace {

/// Returns the first model name that the kernel gives, as "AMD EPYC"; "unknown" if it gives none.
std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::vector<std::string> wall_time_warnings() {
  std::vector<std::string> warnings;
  if (kBuildType != "Release") {
    warnings.push_back("built as " + std::string(kBuildType) + ": wall times are not comparable");
  }
  if (!kSanitizers.empty()) {
    warnings.push_back("built with sanitizers (" + std::string(kSanitizers) +
                       "): wall times are not comparable");
  }
  // Each of these holds the library of the host's matrix products to kernels for another CPU. Those
  // of OpenBLAS, BLIS and PyTorch are not among them: only PyTorch uses them here, and it runs in
  // an environment without them.
  for (const char* const name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (const char* const value = std::getenv(name)) {
      warnings.push_back(std::string(name) + "=" + value + " is set: it can slow wall times down");
    }
  }
  return warnings;
}

}  // namespace

std::string version() { return std::string(kVersion); }

std::string git_commit() { return std::string(kGitCommit); }

RunContext describe_environment(Backend timed) {
  return {.version = version(),
          .git = git_commit(),
          .compiler = std::string(kCompiler),
          .build_type = std::string(kBuildType),
          .cpu = cpu_model(),
          .warnings = timed == Backend::host ? wall_time_warnings() : std::vector<std::string>()};
}

}  // namespace howard::harness
