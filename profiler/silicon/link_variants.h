// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace howard::profiler {

/// A collective over other links than the log has.
struct LinkVariant {
  std::string what;        ///< "2 links instead of 1".
  std::string attributes;  ///< Those of the log, with the change.
};

/// Returns what a collective of these attributes could be tried with: twice the links, and a ring
/// if it is on a line. A log that does not say how many links there are has one, ttnn's default.
std::vector<LinkVariant> link_variants(std::string_view attributes);

}  // namespace howard::profiler
