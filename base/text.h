// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace howard {

/// Splits `text` at each `separator`; "" gives one empty part.
std::vector<std::string> split(std::string_view text, char separator);

/// Joins the parts, with `separator` between them.
std::string join(std::span<const std::string> parts, std::string_view separator);

/// Returns `text` without blanks at either end and without the carriage return of a line that ends
/// in CRLF.
std::string_view trimmed(std::string_view text);

/// Returns `text` with the letters A to Z made small.
std::string lower_case(std::string_view text);

/// Returns `word` in a form that a shell reads as one word: quoted if it contains special
/// characters.
std::string shell_word(std::string_view word);

/// Parses the whole of `text` as a decimal integer; returns nothing when it is anything else or out
/// of range.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Parses like parse_integer(), for the range from 0 to 2^64 - 1.
std::optional<std::uint64_t> parse_natural(std::string_view text);

/// Parses the whole of `text` as a finite decimal number; returns nothing when it is anything else.
std::optional<double> parse_number(std::string_view text);

/// Turns nlohmann's message about a text that it cannot parse into one for a user: "it is not JSON
/// at line 1, column 7".
std::string json_failure(std::string_view words);

/// Returns the candidate that is closest to a mistyped `word` by edit distance (a swap of
/// neighbours counts as one edit). Returns nothing when no candidate is within a third of the
/// word's length, so that a wild guess is never offered.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates);

}  // namespace howard
