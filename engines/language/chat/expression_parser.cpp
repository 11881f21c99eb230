// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace howard::language {
namespace {

constexpr int kMostExpressionDepth = 200;

using TokenKind = TemplateToken::Kind;

/// Says whether a name is a word of the language, which no variable has.
bool is_word(std::string_view name) {
  for (const std::string_view word : {"and", "or", "not", "if", "else", "in", "is"}) {
    if (name == word) return true;
  }
  return false;
}

}  // namespace

bool ExpressionParser::stands_at(std::string_view text) const {
  return (next().kind == TokenKind::sign || next().kind == TokenKind::name) && next().text == text;
}

bool ExpressionParser::takes(std::string_view text) {
  if (!stands_at(text)) return false;
  ++at_;
  return true;
}

void ExpressionParser::fail(const std::string& accepted) const {
  refuse_template({&source_, next().line},
                  next().kind == TokenKind::end ? "the end of the code"
                                                : fmt::format("'{}' in the code", next().text),
                  accepted);
}

void ExpressionParser::require(std::string_view text) {
  if (!takes(text)) fail(fmt::format("'{}'", text));
}

void ExpressionParser::require_end() {
  if (next().kind != TokenKind::end) fail("the end of the code");
}

std::string ExpressionParser::name() {
  if (next().kind != TokenKind::name || is_word(next().text)) fail("a name");
  return tokens_[at_++].text;
}

ExpressionPointer ExpressionParser::made(Kind kind, std::string name,
                                         std::vector<ExpressionPointer> parts) const {
  auto result = std::make_unique<TemplateExpression>();
  result->kind = kind;
  result->name = std::move(name);
  result->parts = std::move(parts);
  result->line = next().line;
  for (const ExpressionPointer& part : result->parts) {
    if (part) result->depth = std::max(result->depth, part->depth + 1);
  }
  if (result->depth > kMostExpressionDepth) {
    fail(fmt::format("expressions of up to {} levels", kMostExpressionDepth));
  }
  return result;
}

ExpressionPointer ExpressionParser::joined(Kind kind, std::string name, ExpressionPointer a,
                                           ExpressionPointer b) const {
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(a));
  parts.push_back(std::move(b));
  return made(kind, std::move(name), std::move(parts));
}

ExpressionPointer ExpressionParser::expression() {
  if (++depth_ > kMostExpressionDepth) {
    fail(fmt::format("expressions of up to {} levels", kMostExpressionDepth));
  }
  ExpressionPointer value = without_choice();
  while (takes("if")) {
    ExpressionPointer condition = without_choice();
    ExpressionPointer otherwise = takes("else") ? expression() : nullptr;
    value = joined(Kind::choice, "", std::move(value), std::move(condition));
    value->depth = std::max(value->depth, otherwise ? otherwise->depth + 1 : 0);
    value->parts.push_back(std::move(otherwise));
  }
  --depth_;
  return value;
}

ExpressionPointer ExpressionParser::without_choice() {
  ExpressionPointer value = conjunction();
  while (takes("or")) value = joined(Kind::either, "", std::move(value), conjunction());
  return value;
}

ExpressionPointer ExpressionParser::conjunction() {
  ExpressionPointer value = negated();
  while (takes("and")) value = joined(Kind::both, "", std::move(value), negated());
  return value;
}

ExpressionPointer ExpressionParser::negated() {
  int count = 0;
  while (takes("not")) ++count;
  ExpressionPointer value = compared();
  if (count == 0) return value;
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(value));
  ExpressionPointer result = made(Kind::negation, "", std::move(parts));
  if (count % 2 != 0) return result;
  std::vector<ExpressionPointer> twice;
  twice.push_back(std::move(result));
  return made(Kind::negation, "", std::move(twice));
}

ExpressionPointer ExpressionParser::compared() {
  ExpressionPointer value = sum();
  for (const char* const sign : {"==", "!=", "<=", ">=", "<", ">", "in"}) {
    if (takes(sign)) return joined(Kind::binary, sign, std::move(value), sum());
  }
  if (stands_at("not") && tokens_[at_ + 1].text == "in") {
    at_ += 2;
    return joined(Kind::binary, "not in", std::move(value), sum());
  }
  return value;
}

ExpressionPointer ExpressionParser::sum() {
  ExpressionPointer value = text_sum();
  while (stands_at("+") || stands_at("-")) {
    std::string sign = tokens_[at_++].text;
    value = joined(Kind::binary, std::move(sign), std::move(value), text_sum());
  }
  return value;
}

ExpressionPointer ExpressionParser::text_sum() {
  ExpressionPointer value = product();
  while (takes("~")) value = joined(Kind::binary, "~", std::move(value), product());
  return value;
}

ExpressionPointer ExpressionParser::product() {
  ExpressionPointer value = with_sign();
  while (stands_at("*") || stands_at("/") || stands_at("//") || stands_at("%")) {
    std::string sign = tokens_[at_++].text;
    value = joined(Kind::binary, std::move(sign), std::move(value), with_sign());
  }
  return value;
}

/// Filters and tests bind closer than signs, as in Jinja.
ExpressionPointer ExpressionParser::with_sign() {
  if (!takes("-")) return tested(with_parts(operand()));
  std::vector<ExpressionPointer> parts;
  parts.push_back(with_parts(operand()));
  return tested(made(Kind::minus, "", std::move(parts)));
}

ExpressionPointer ExpressionParser::operand() {
  if (takes("(")) {
    ExpressionPointer value = expression();
    require(")");
    return value;
  }
  if (takes("[")) return list();
  if (takes("{")) return object();
  if (next().kind == TokenKind::text || next().kind == TokenKind::number) return literal();
  if (next().kind != TokenKind::name || is_word(next().text)) fail("a value");
  ExpressionPointer value = made(Kind::name, next().text, {});
  const auto constant = [&](ChatJson json) {
    value->kind = Kind::constant;
    value->value = chat_value(std::move(json));
  };
  if (value->name == "true" || value->name == "True") constant(true);
  if (value->name == "false" || value->name == "False") constant(false);
  if (value->name == "none" || value->name == "None") constant(nullptr);
  ++at_;
  return value;
}

/// Texts that stand side by side are one.
ExpressionPointer ExpressionParser::literal() {
  ExpressionPointer value = made(Kind::constant, "", {});
  if (next().kind == TokenKind::number) {
    value->value = chat_value(tokens_[at_++].number);
    return value;
  }
  std::string text;
  while (next().kind == TokenKind::text) text += tokens_[at_++].text;
  value->value = chat_value(std::move(text));
  return value;
}

ExpressionPointer ExpressionParser::list() {
  std::vector<ExpressionPointer> parts;
  while (!takes("]")) {
    parts.push_back(expression());
    if (!stands_at("]")) require(",");
  }
  return made(Kind::list, "", std::move(parts));
}

ExpressionPointer ExpressionParser::object() {
  std::vector<ExpressionPointer> parts;
  while (!takes("}")) {
    parts.push_back(expression());
    require(":");
    parts.push_back(expression());
    if (!stands_at("}")) require(",");
  }
  return made(Kind::object, "", std::move(parts));
}

/// Reads members, items and calls.
ExpressionPointer ExpressionParser::with_parts(ExpressionPointer value) {
  const auto of = [&] {
    std::vector<ExpressionPointer> parts;
    parts.push_back(std::move(value));
    return parts;
  };
  while (true) {
    if (takes(".")) {
      std::string member = name();
      value = made(Kind::member, std::move(member), of());
    } else if (takes("[")) {
      value = subscript(std::move(value));
    } else if (takes("(")) {
      value = made(Kind::call, "", of());
      read_arguments(*value);
    } else {
      return value;
    }
  }
}

/// Reads what stands behind "[": an item, or two or three numbers of a slice.
ExpressionPointer ExpressionParser::subscript(ExpressionPointer value) {
  std::vector<ExpressionPointer> parts;
  parts.push_back(std::move(value));
  bool slices = false;
  while (true) {
    parts.push_back(stands_at(":") || stands_at("]") ? nullptr : expression());
    if (takes("]")) break;
    if (parts.size() > 3) fail("']'");
    require(":");
    slices = true;
  }
  if (!slices) {
    if (!parts[1]) fail("what item to take");
    return made(Kind::item, "", std::move(parts));
  }
  parts.resize(4);
  return made(Kind::slice, "", std::move(parts));
}

/// Reads filters and tests.
ExpressionPointer ExpressionParser::tested(ExpressionPointer value) {
  while (true) {
    const bool filters = takes("|");
    if (!filters && !takes("is")) return value;
    const bool negates = !filters && takes("not");
    // Tests have names such as "none" and "in".
    if (next().kind != TokenKind::name) fail("the name of a filter or a test");
    std::vector<ExpressionPointer> parts;
    parts.push_back(std::move(value));
    std::string which = tokens_[at_++].text;
    value = made(filters ? Kind::filter : Kind::test, std::move(which), std::move(parts));
    const bool has_bare = !filters && !is_word(next().text) &&
                          (next().kind == TokenKind::text || next().kind == TokenKind::number ||
                           next().kind == TokenKind::name);
    if (takes("(")) {
      read_arguments(*value);
    } else if (has_bare) {
      value->parts.push_back(with_parts(operand()));
    }
    if (!negates) continue;
    std::vector<ExpressionPointer> inner;
    inner.push_back(std::move(value));
    value = made(Kind::negation, "", std::move(inner));
  }
}

/// Reads arguments up to ")".
void ExpressionParser::read_arguments(TemplateExpression& to) {
  while (!takes(")")) {
    const bool is_named = next().kind == TokenKind::name && tokens_[at_ + 1].text == "=" &&
                          tokens_[at_ + 1].kind == TokenKind::sign;
    if (is_named) {
      std::string key = name();
      require("=");
      to.named.emplace_back(std::move(key), expression());
    } else {
      to.parts.push_back(expression());
    }
    const ExpressionPointer& last = is_named ? to.named.back().second : to.parts.back();
    to.depth = std::max(to.depth, last->depth + 1);
    if (!stands_at(")")) require(",");
  }
  if (to.depth > kMostExpressionDepth) fail("fewer levels");
}

}  // namespace howard::language
