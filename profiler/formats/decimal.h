// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace howard::profiler {

/// `text`, a decimal number ("12", "-0.25", "1e3", "1.5E-2"), times 10 to the power of `scale`,
/// rounded to the nearest integer, halves away from zero: no floating point number ever holds a
/// time. Absent when it is no such number or its magnitude is 2^63 or more.
std::optional<std::int64_t> parse_scaled(std::string_view text, int scale);

}  // namespace howard::profiler
