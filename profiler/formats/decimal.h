// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace howard::profiler {

/// `text` when it is one to sixteen digits and nothing else, as most numbers of logs are; false for
/// any other. The number is no std::optional, whose halves GCC 12 writes one by one and reads
/// together, for which the CPU waits: a tenth of the time that reading an ops CSV takes.
bool parse_digits(std::string_view text, std::int64_t& number);

/// `text`, a decimal number ("12", "-0.25", "1e3", "1.5E-2"), times 10 to the power of `scale`,
/// rounded to the nearest integer, halves away from zero: no floating point number ever holds a
/// time. Absent when it is no such number or its magnitude is 2^63 or more.
std::optional<std::int64_t> parse_scaled(std::string_view text, int scale);

}  // namespace howard::profiler
