// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace howard::cli {

/// Returns the long names of the options that a parsed command line gives: "momentum".
std::vector<std::string> given_options(const CLI::App& app);

/// Throws UsageError if one of the `options` is given although it is not `used`, so that it would
/// change nothing in silence. `purpose` says what they are for: "--optimizer sgd".
void require_use(const std::vector<std::string>& given,
                 std::initializer_list<std::string_view> options, bool used,
                 std::string_view purpose);

}  // namespace howard::cli
