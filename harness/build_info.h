// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::harness {

// The build fills these in (cmake/build_info.cmake).
extern const std::string_view kVersion;
extern const std::string_view kGitCommit;
extern const std::string_view kCompiler;
extern const std::string_view kBuildType;
extern const std::string_view kSanitizers;

}  // namespace howard::harness
