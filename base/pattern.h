// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace howard {

/// A regular expression as Perl has them, with Unicode classes. What it may nest and how many steps
/// a search may take is limited, so that no expression ends the program or runs on. Copies share
/// the compiled expression; only one thread may search with it at a time.
class Pattern {
 public:
  /// Throws Error for a text that is no regular expression. `purpose` is what was attempted: "read
  /// option --filter".
  Pattern(std::string_view text, std::string purpose);

  /// Says where a match begins and ends.
  struct Span {
    std::size_t begin = 0, end = 0;
  };
  /// Returns the first match in `text` at `from` or later; absent if there is none. Bytes that are
  /// not UTF-8 match nothing. Throws Error if a search takes more than 10 million steps.
  std::optional<Span> find(std::string_view text, std::size_t from = 0) const;

 private:
  struct Compiled;

  std::shared_ptr<const Compiled> compiled_;
  std::string purpose_;
};

}  // namespace howard
