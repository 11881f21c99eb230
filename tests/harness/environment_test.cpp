// SPDX-License-Identifier: Apache-2.0
#include "harness/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace howard::harness {
namespace {

TEST(Environment, NothingIsLeftBlank) {
  const RunContext context = describe_environment();
  EXPECT_FALSE(context.version.empty());
  EXPECT_FALSE(context.git.empty());
  EXPECT_FALSE(context.compiler.empty());
  EXPECT_FALSE(context.build_type.empty());
  EXPECT_FALSE(context.cpu.empty());
}

TEST(Environment, VariablesThatSlowNumericLibrariesAreWarnedOf) {
  ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  const RunContext context = describe_environment();
  ::unsetenv("OPENBLAS_CORETYPE");
  const auto warned = [](const RunContext& of) {
    return std::ranges::any_of(of.warnings, [](const std::string& warning) {
      return warning.starts_with("OPENBLAS_CORETYPE=Haswell is set");
    });
  };
  EXPECT_TRUE(warned(context));
  EXPECT_FALSE(warned(describe_environment()));
}

}  // namespace
}  // namespace howard::harness
