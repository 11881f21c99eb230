// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace howard {

/// The four things a user needs to know in order to fix bad input or a bad environment. `attempted`
/// and `value` are required; the other two are left out of the text when they are empty.
struct ErrorText {
  std::string attempted;      ///< What was being done: "read axis shape".
  std::string value;          ///< The offending value: "12xab".
  std::string accepted = {};  ///< What would have been accepted: "N or MxKxN, positive integers".
  std::string hint = {};      ///< What to try next: "-a shape=1024".
};

/// The one exception type; it reports bad input or a bad environment. The libraries throw it. The
/// runner catches it and skips the point, with the reason; main catches the rest. Bugs abort
/// through HOWARD_CHECK; an expected absence is a std::optional.
class Error : public std::runtime_error {
 public:
  explicit Error(ErrorText text) : std::runtime_error(sentence(text)), text_(std::move(text)) {}

  const ErrorText& text() const { return text_; }

 private:
  static std::string sentence(const ErrorText& text) {
    std::string line = "cannot " + text.attempted + ": " + text.value;
    if (!text.accepted.empty()) line += "; accepted: " + text.accepted;
    if (!text.hint.empty()) line += "; try " + text.hint;
    return line;
  }

  ErrorText text_;
};

/// Returns what a failure says to a user: its own text, except that the standard library's
/// "std::bad_alloc" is replaced by advice.
inline std::string reason_of(const std::exception& failure) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
  return no_memory ? "the system has no memory left; try smaller shapes, or fewer --threads"
                   : failure.what();
}

}  // namespace howard
