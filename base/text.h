// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace howard {

/// The parts of `text` between `separator`s; "" gives one empty part.
std::vector<std::string> split(std::string_view text, char separator);

/// The parts with `separator` between them.
std::string join(std::span<const std::string> parts, std::string_view separator);

/// `text` without blanks at either end and without the carriage return of a line that ends in CRLF.
std::string_view trimmed(std::string_view text);

/// `word` as a shell reads it: in quotes where it has characters that mean something to one.
std::string shell_word(std::string_view word);

/// The whole of `text` as a decimal integer; absent when it is anything else or out of range.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// The same, from 0 to 2^64 - 1.
std::optional<std::uint64_t> parse_natural(std::string_view text);

/// The whole of `text` as a finite decimal number; absent when it is anything else.
std::optional<double> parse_number(std::string_view text);

/// What nlohmann's words about a text that it can not read are to a user: "it is not JSON at line
/// 1, column 7".
std::string json_failure(std::string_view words);

/// The candidate nearest to a mistyped `word` by edits (a swap of neighbours counts as one); absent
/// when none is within a third of the word's length, so that a wild guess is never offered.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates);

}  // namespace howard
