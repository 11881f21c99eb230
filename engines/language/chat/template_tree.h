// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/language/chat/template_value.h"

namespace howard::language {

/// An expression of a template.
struct TemplateExpression {
  enum class Kind : std::uint8_t {
    constant,  ///< `value`.
    name,      ///< The variable `name`.
    list,      ///< [parts...].
    object,    ///< {parts[0]: parts[1], ...}.
    member,    ///< parts[0].name.
    item,      ///< parts[0][parts[1]].
    slice,     ///< parts[0][parts[1]:parts[2]:parts[3]], where a missing number is null.
    call,      ///< parts[0](parts[1], ..., named...).
    filter,    ///< parts[0] | name(parts[1], ..., named...).
    test,      ///< parts[0] is name(parts[1], ...).
    negation,  ///< not parts[0].
    minus,     ///< -parts[0].
    binary,    ///< parts[0] name parts[1].
    both,      ///< parts[0] and parts[1].
    either,    ///< parts[0] or parts[1].
    choice,    ///< parts[0] if parts[1] else parts[2], which may be missing.
  };

  Kind kind = Kind::constant;
  std::string name;
  ChatValue value;
  std::vector<std::unique_ptr<TemplateExpression>> parts;
  std::vector<std::pair<std::string, std::unique_ptr<TemplateExpression>>> named;
  int line = 0;
  int depth = 1;  ///< The number of levels of the expression.
};

using ExpressionPointer = std::unique_ptr<TemplateExpression>;

struct TemplateStatement;
using TemplateBody = std::vector<TemplateStatement>;

/// A statement of a template, or a text.
struct TemplateStatement {
  enum class Kind : std::uint8_t {
    text,         ///< Prints `text`.
    output,       ///< Prints `value`.
    branch,       ///< Runs the body of the first arm whose condition holds, or else `otherwise`.
    loop,         ///< For names in value, if condition: arms[0]; `otherwise` if there was nothing.
    assign,       ///< Sets names[0] to value, or its member names[1].
    assign_text,  ///< Sets names[0] to what the body of arms[0] prints.
    leave,        ///< Leaves the loop.
    next,         ///< Goes on with the loop's next element.
  };
  struct Arm {
    ExpressionPointer condition;  ///< Of a loop: null takes each element.
    TemplateBody body;
  };

  Kind kind = Kind::text;
  std::string text;
  std::vector<std::string> names;
  ExpressionPointer value;
  std::vector<Arm> arms;
  TemplateBody otherwise;
  int line = 0;
};

}  // namespace howard::language
