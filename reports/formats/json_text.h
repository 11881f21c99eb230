// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace howard::reports {

/// Writes indented JSON value by value. A large sweep as JSON objects would take ten times the
/// memory of its text, and most of the time of writing it.
class JsonText {
 public:
  // These functions begin a container where a value may be, and end it later.
  void begin(char bracket);  ///< '{' or '['.
  void end(char bracket);    ///< '}' or ']'.

  void item();                         ///< The next value is one of a list.
  void member(std::string_view name);  ///< Gives the next value this name.

  void text(std::string_view value);  ///< Replaces bytes that are not UTF-8.
  void number(double value);          ///< The number must be finite; it reads back the same.
  void integer(std::int64_t value);
  void natural(std::uint64_t value);
  void boolean(bool value);
  void null();

  /// Returns what has been written since the last call.
  std::string take();

 private:
  void new_line();

  std::string text_;
  std::size_t depth_ = 0;
  bool empty_ = true;  ///< True if the innermost container is empty so far.
};

}  // namespace howard::reports
