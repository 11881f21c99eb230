// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "engines/language/tokens/text_pieces.h"

#include <pcre2.h>

#include <array>

#include "base/error.h"

namespace howard::language {
namespace {

std::string pcre_message(int code) {
  std::array<unsigned char, 256> text{};
  if (pcre2_get_error_message(code, text.data(), text.size()) < 0) return "an unknown failure";
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

const char* const kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct TextPieces::Expression {
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;

  ~Expression() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
};

TextPieces::TextPieces(const std::string& pattern, const std::string& source)
    : expression_(std::make_unique<Expression>()), source_(source) {
  int code = 0;
  PCRE2_SIZE place = 0;
  expression_->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                    &code, &place, nullptr);
  if (expression_->code == nullptr) {
    throw Error({.attempted = "read the pattern of " + source,
                 .value = "at character " + std::to_string(place + 1) + ": " + pcre_message(code),
                 .accepted = "a regular expression",
                 .hint = ""});
  }
  // If there is no just-in-time compiler, the same matches take longer.
  static_cast<void>(pcre2_jit_compile(expression_->code, PCRE2_JIT_COMPLETE));
  expression_->match = pcre2_match_data_create(1, nullptr);
  expression_->context = pcre2_match_context_create(nullptr);
  constexpr std::uint32_t kMostSteps = 10'000'000;
  pcre2_set_match_limit(expression_->context, kMostSteps);
}

TextPieces::~TextPieces() = default;

std::vector<std::string_view> TextPieces::pieces(std::string_view text) const {
  std::vector<std::string_view> found;
  const auto* const units = reinterpret_cast<PCRE2_SPTR>(text.data());
  std::size_t done = 0;
  std::size_t start = 0;
  while (start < text.size()) {
    const int code = pcre2_match(expression_->code, units, text.size(), start, 0,
                                 expression_->match, expression_->context);
    if (code == PCRE2_ERROR_NOMATCH) break;
    if (code < 0) {
      throw Error({.attempted = "divide a text by the pattern of " + source_,
                   .value = "behind byte " + std::to_string(start) + ": " + pcre_message(code),
                   .accepted = "a pattern that finds its pieces at once",
                   .hint = ""});
    }
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(expression_->match);
    if (ends[1] <= ends[0]) {  // An empty match divides nothing.
      start = ends[1] + 1;
      continue;
    }
    if (ends[0] > done) found.push_back(text.substr(done, ends[0] - done));
    found.push_back(text.substr(ends[0], ends[1] - ends[0]));
    done = start = ends[1];
  }
  if (done < text.size()) found.push_back(text.substr(done));
  return found;
}

}  // namespace howard::language
