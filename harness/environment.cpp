// SPDX-License-Identifier: Apache-2.0
#include "harness/environment.h"

#include <array>
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

std::vector<std::string> environment_warnings() {
  std::vector<std::string> warnings;
  if (kBuildType != "Release") {
    warnings.push_back("built as " + std::string(kBuildType) + ": wall times are not comparable");
  }
  if (!kSanitizers.empty()) {
    warnings.push_back("built with sanitizers (" + std::string(kSanitizers) +
                       "): wall times are not comparable");
  }
  // Each of these forces numeric libraries onto kernels for another CPU. OPENBLAS_CORETYPE=Haswell
  // halves the speed of products on AVX-512 machines.
  constexpr std::array kSpoilers{"OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE", "ATEN_CPU_CAPABILITY",
                                 "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"};
  for (const char* const name : kSpoilers) {
    if (const char* const value = std::getenv(name)) {
      warnings.push_back(std::string(name) + "=" + value + " is set: it can slow wall times down");
    }
  }
  return warnings;
}

}  // namespace

std::string version() { return std::string(kVersion); }

std::string git_commit() { return std::string(kGitCommit); }

RunContext describe_environment() {
  return {.version = version(),
          .git = git_commit(),
          .compiler = std::string(kCompiler),
          .build_type = std::string(kBuildType),
          .cpu = cpu_model(),
          .warnings = environment_warnings()};
}

}  // namespace howard::harness
