// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/chat/template_value.h"

namespace howard::language {

/// A word of the code between {{ and }}, or {% and %}.
struct TemplateToken {
  enum class Kind : std::uint8_t { name, text, number, sign, end };

  Kind kind = Kind::end;
  std::string text;  ///< The name, the sign, or the text itself.
  ChatJson number;
  int line = 0;
};

/// A stretch of a template.
struct TemplatePiece {
  enum class Kind : std::uint8_t { text, output, statement };

  Kind kind = Kind::text;
  std::string text;                   ///< Of a text.
  std::vector<TemplateToken> tokens;  ///< Of code; an end is the last.
  int line = 0;
};

/// Divides a template as Jinja does with trim_blocks and lstrip_blocks, which Hugging Face's
/// library sets: a newline behind a statement and blanks before it, from the beginning of its line,
/// are no text. Comments are left out. Throws Error for what is not closed.
std::vector<TemplatePiece> template_pieces(std::string_view text, const std::string& source);

}  // namespace howard::language
