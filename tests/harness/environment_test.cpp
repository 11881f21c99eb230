// SPDX-License-Identifier: Apache-2.0
#include "harness/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace howard::harness {
namespace {

bool matches(const std::string& text, const char* pattern) {
  return std::regex_match(text, std::regex(pattern));
}

TEST(Environment, ItIsThatOfThisProgramAndThisMachine) {
  const RunContext context = describe_environment(Backend::host);
  EXPECT_TRUE(matches(context.version, R"(\d+\.\d+\.\d+)")) << context.version;
  EXPECT_TRUE(matches(context.git, "[0-9a-f]{12}(-dirty)?|unknown")) << context.git;
  // The tests and the library are built by the same compiler.
  const bool is_clang = std::string(__VERSION__).find("lang") != std::string::npos;
  const std::string compiler = is_clang ? "Clang" : "GNU " __VERSION__;
  EXPECT_TRUE(compiler.starts_with(context.compiler) || context.compiler.starts_with(compiler))
      << context.compiler << " is not " << compiler;
  EXPECT_TRUE(matches(context.build_type, "Debug|Release|RelWithDebInfo|MinSizeRel"))
      << context.build_type;
  const bool warned = std::ranges::any_of(context.warnings, [&](const std::string& warning) {
    return warning.starts_with("built as " + context.build_type + ":");
  });
  EXPECT_EQ(warned, context.build_type != "Release");
}

TEST(Environment, TheCpuIsTheOneThatTheKernelNames) {
  std::ifstream file("/proc/cpuinfo");
  const std::string kernel((std::istreambuf_iterator<char>(file)), {});
  const std::string cpu = describe_environment().cpu;
  if (kernel.find("model name") == std::string::npos) {
    EXPECT_EQ(cpu, "unknown");
  } else {
    EXPECT_NE(kernel.find(": " + cpu + "\n"), std::string::npos) << cpu;
  }
}

std::vector<std::string> warnings_of_variables(Backend timed) {
  std::vector<std::string> found = describe_environment(timed).warnings;
  std::erase_if(found, [](const std::string& warning) {
    return warning.find("is set") == std::string::npos;
  });
  return found;
}

TEST(Environment, ARunThatTimesTheHostWarnsOfAVariableThatSlowsItsProductsDown) {
  ::setenv("ONEDNN_MAX_CPU_ISA", "SSE41", 1);
  const auto host = warnings_of_variables(Backend::host);
  const auto emulated = warnings_of_variables(Backend::emulated);
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  EXPECT_EQ(host, std::vector<std::string>{
                      "ONEDNN_MAX_CPU_ISA=SSE41 is set: it can slow wall times down"});
  EXPECT_TRUE(emulated.empty());
}

/// PyTorch runs without it, and nothing else uses OpenBLAS.
TEST(Environment, NoRunWarnsOfOpenBlas) {
  ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  const auto host = warnings_of_variables(Backend::host);
  ::unsetenv("OPENBLAS_CORETYPE");
  EXPECT_TRUE(host.empty());
}

TEST(Environment, ARunThatTimesNothingHasNoWarningOfTheBuild) {
  EXPECT_TRUE(describe_environment(Backend::emulated).warnings.empty());
  EXPECT_TRUE(describe_environment(Backend::log).warnings.empty());
}

}  // namespace
}  // namespace howard::harness
