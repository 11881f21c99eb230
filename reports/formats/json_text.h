// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace howard::reports {

/// Indented JSON, written value by value: a large sweep as JSON objects would take ten times the
/// memory of its text, and most of the time of writing it.
class JsonText {
 public:
  // Containers: begin one where a value may stand, then end it.
  void begin(char bracket);  ///< '{' or '['.
  void end(char bracket);    ///< '}' or ']'.

  void item();                         ///< The next value is one of a list.
  void member(std::string_view name);  ///< The next value has this name.

  void text(std::string_view value);  ///< Bytes that are not UTF-8 are replaced.
  void number(double value);          ///< Finite; reads back the same.
  void integer(std::int64_t value);
  void natural(std::uint64_t value);
  void boolean(bool value);
  void null();

  /// What has been written since the last call.
  std::string take();

 private:
  void new_line();

  std::string text_;
  std::size_t depth_ = 0;
  bool empty_ = true;  ///< Nothing stands in the innermost container.
};

}  // namespace howard::reports
