// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/pattern.h"

#include <pcre2.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/error.h"

namespace howard {
namespace {

constexpr std::uint32_t kMostSteps = 10'000'000;

std::string pcre_message(int code) {
  std::array<unsigned char, 256> text{};
  if (pcre2_get_error_message(code, text.data(), text.size()) < 0) return "an unknown failure";
  return reinterpret_cast<const char*>(text.data());
}

/// Returns the beginning of an expression, in quotes.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return "'" + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "") + "'";
}

PCRE2_SPTR units_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Pattern::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;

  ~Compiled() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
};

Pattern::Pattern(std::string_view text, std::string purpose) : purpose_(std::move(purpose)) {
  const auto compiled = std::make_shared<Compiled>();
  int code = 0;
  PCRE2_SIZE place = 0;
  compiled->code =
      pcre2_compile(units_of(text), text.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                    &code, &place, nullptr);
  if (compiled->code == nullptr) {
    throw Error({.attempted = purpose_,
                 .value = quoted(text) + " at character " + std::to_string(place + 1) + ": " +
                          pcre_message(code),
                 .accepted = "a regular expression"});
  }
  // If there is no just-in-time compiler, the same matches take longer.
  static_cast<void>(pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE));
  compiled->match = pcre2_match_data_create(1, nullptr);
  compiled->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(compiled->context, kMostSteps);
  compiled_ = compiled;
}

std::optional<Pattern::Span> Pattern::find(std::string_view text, std::size_t from) const {
  const int code = pcre2_match(compiled_->code, units_of(text), text.size(), from, 0,
                               compiled_->match, compiled_->context);
  if (code == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (code < 0) {
    throw Error({.attempted = purpose_,
                 .value = "behind byte " + std::to_string(from) + ": " + pcre_message(code),
                 .accepted = "a regular expression that finds its match in 10 million steps"});
  }
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(compiled_->match);
  return Span{ends[0], ends[1]};
}

}  // namespace howard
