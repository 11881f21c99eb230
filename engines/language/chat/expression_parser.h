// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/chat/template_lexer.h"
#include "engines/language/chat/template_tree.h"

namespace howard::language {

/// Reads the code of one piece of a template, from left to right. All functions throw Error, with
/// the line, for what is no Jinja.
class ExpressionParser {
 public:
  /// `first` is the first token to read. The tokens and the source must outlive this object.
  ExpressionParser(const std::vector<TemplateToken>& tokens, const std::string& source,
                   std::size_t first = 0)
      : tokens_(tokens), source_(source), at_(first) {}

  ExpressionPointer expression();
  /// Reads an expression that is no choice: behind it an `if` may stand.
  ExpressionPointer without_choice();
  std::string name();
  /// Goes on if this sign or word is next.
  bool takes(std::string_view text);
  void require(std::string_view text);
  void require_end();

 private:
  using Kind = TemplateExpression::Kind;

  const TemplateToken& next() const { return tokens_[at_]; }
  bool stands_at(std::string_view text) const;
  [[noreturn]] void fail(const std::string& accepted) const;
  ExpressionPointer made(Kind kind, std::string name, std::vector<ExpressionPointer> parts) const;
  ExpressionPointer joined(Kind kind, std::string name, ExpressionPointer a,
                           ExpressionPointer b) const;

  ExpressionPointer conjunction();
  ExpressionPointer negated();
  ExpressionPointer compared();
  ExpressionPointer sum();
  ExpressionPointer text_sum();
  ExpressionPointer product();
  ExpressionPointer with_sign();
  ExpressionPointer operand();
  ExpressionPointer literal();
  ExpressionPointer list();
  ExpressionPointer object();
  ExpressionPointer with_parts(ExpressionPointer value);
  ExpressionPointer subscript(ExpressionPointer value);
  ExpressionPointer tested(ExpressionPointer value);
  void read_arguments(TemplateExpression& to);

  const std::vector<TemplateToken>& tokens_;
  const std::string& source_;
  std::size_t at_;
  int depth_ = 0;
};

}  // namespace howard::language
