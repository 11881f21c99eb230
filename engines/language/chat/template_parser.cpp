// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/template_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "engines/language/chat/expression_parser.h"
#include "engines/language/chat/template_lexer.h"

namespace howard::language {
namespace {

constexpr int kMostStatementDepth = 100;

class TemplateParser {
 public:
  TemplateParser(const std::vector<TemplatePiece>& pieces, const std::string& source)
      : pieces_(pieces), source_(source) {}

  TemplateBody run() {
    TemplateBody body = body_until({});
    if (at_ < pieces_.size()) fail(word(pieces_[at_]) + " with nothing to end", "a statement");
    return body;
  }

 private:
  using Statement = TemplateStatement;
  using Kind = TemplateStatement::Kind;

  [[noreturn]] void fail(std::string value, std::string accepted) const {
    const std::size_t last = std::min(at_, pieces_.size() - 1);
    refuse_template({&source_, pieces_[last].line}, std::move(value), std::move(accepted));
  }

  static std::string word(const TemplatePiece& piece) {
    return piece.tokens.front().kind == TemplateToken::Kind::name ? piece.tokens.front().text : "";
  }
  /// Says whether the next piece is a statement of one of these words.
  bool stands_at(std::initializer_list<std::string_view> words) const {
    if (at_ >= pieces_.size() || pieces_[at_].kind != TemplatePiece::Kind::statement) return false;
    return std::ranges::find(words, word(pieces_[at_])) != words.end();
  }
  static bool ends_something(const std::string& word) {
    return word.starts_with("end") || word == "else" || word == "elif";
  }

  /// Reads statements up to one of these words, which it leaves, or to the end of what is open.
  TemplateBody body_until(std::initializer_list<std::string_view> words) {
    if (++depth_ > kMostStatementDepth) {
      fail("statements too deep in each other", fmt::format("{} levels", kMostStatementDepth));
    }
    TemplateBody body;
    while (at_ < pieces_.size() && !stands_at(words)) {
      const TemplatePiece& piece = pieces_[at_];
      if (piece.kind == TemplatePiece::Kind::statement && ends_something(word(piece))) break;
      add_next(body);
    }
    --depth_;
    return body;
  }

  void require(std::string_view name) {
    if (stands_at({name})) return void(++at_);
    fail(at_ < pieces_.size() ? "'" + word(pieces_[at_]) + "'" : "the end",
         fmt::format("{} before it", name));
  }

  void add_next(TemplateBody& body) {
    const TemplatePiece& piece = pieces_[at_];
    Statement statement{.line = piece.line};
    if (piece.kind == TemplatePiece::Kind::text) {
      statement.text = piece.text;
      ++at_;
    } else if (piece.kind == TemplatePiece::Kind::output) {
      ExpressionParser code(piece.tokens, source_);
      statement.kind = Kind::output;
      statement.value = code.expression();
      code.require_end();
      ++at_;
    } else {
      return add_statement(body);
    }
    body.push_back(std::move(statement));
  }

  void add_statement(TemplateBody& body) {
    const std::string name = word(pieces_[at_]);
    if (name == "generation") {
      ++at_;
      TemplateBody inner = body_until({"endgeneration"});
      require("endgeneration");
      std::ranges::move(inner, std::back_inserter(body));
      return;
    }
    if (name == "if") {
      body.push_back(branch());
    } else if (name == "for") {
      body.push_back(loop());
    } else if (name == "set") {
      body.push_back(assignment());
    } else if ((name == "break" || name == "continue") && loops_ > 0) {
      body.push_back(
          {.kind = name == "break" ? Kind::leave : Kind::next, .line = pieces_[at_].line});
      ++at_;
    } else {
      fail(fmt::format("the statement '{}'", name), "if, for, set, break, continue, generation");
    }
  }

  Statement branch() {
    Statement statement{.kind = Kind::branch, .line = pieces_[at_].line};
    do {
      ExpressionParser code(pieces_[at_].tokens, source_, 1);
      ExpressionPointer condition = code.expression();
      code.require_end();
      ++at_;
      TemplateBody body = body_until({"elif", "else", "endif"});
      statement.arms.push_back({std::move(condition), std::move(body)});
    } while (stands_at({"elif"}));
    if (stands_at({"else"})) {
      ++at_;
      statement.otherwise = body_until({"endif"});
    }
    require("endif");
    return statement;
  }

  Statement loop() {
    Statement statement{.kind = Kind::loop, .line = pieces_[at_].line};
    ExpressionParser code(pieces_[at_].tokens, source_, 1);
    do {
      statement.names.push_back(code.name());
    } while (code.takes(","));
    code.require("in");
    statement.value = code.without_choice();
    ExpressionPointer condition = code.takes("if") ? code.expression() : nullptr;
    code.require_end();
    ++at_;
    ++loops_;
    TemplateBody body = body_until({"else", "endfor"});
    --loops_;
    statement.arms.push_back({std::move(condition), std::move(body)});
    if (stands_at({"else"})) {
      ++at_;
      statement.otherwise = body_until({"endfor"});
    }
    require("endfor");
    return statement;
  }

  Statement assignment() {
    Statement statement{.kind = Kind::assign, .line = pieces_[at_].line};
    ExpressionParser code(pieces_[at_].tokens, source_, 1);
    statement.names.push_back(code.name());
    if (code.takes(".")) statement.names.push_back(code.name());
    if (code.takes("=")) {
      statement.value = code.expression();
      code.require_end();
      ++at_;
      return statement;
    }
    code.require_end();
    ++at_;
    if (statement.names.size() > 1) fail("a member set to a text of several lines", "a name");
    statement.kind = Kind::assign_text;
    statement.arms.push_back({nullptr, body_until({"endset"})});
    require("endset");
    return statement;
  }

  const std::vector<TemplatePiece>& pieces_;
  const std::string& source_;
  std::size_t at_ = 0;
  int depth_ = 0, loops_ = 0;
};

}  // namespace

TemplateBody parse_template(std::string_view text, const std::string& source) {
  const std::vector<TemplatePiece> pieces = template_pieces(text, source);
  return TemplateParser(pieces, source).run();
}

}  // namespace howard::language
