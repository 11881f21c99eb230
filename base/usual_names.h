// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace howard {

/// Returns the other names of what a word names, in small letters: "bfloat16" for "bf16", "t3k" for
/// "T3000". Empty if there are none.
std::vector<std::string_view> other_names(std::string_view word);

}  // namespace howard
