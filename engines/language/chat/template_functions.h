// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engines/language/chat/template_value.h"

namespace howard::language {

/// The arguments of a filter, a test, a method or a function.
struct TemplateArguments {
  std::vector<ChatValue> values;
  std::vector<std::pair<std::string, ChatValue>> named;

  /// Returns the argument at a place or of a name; null if there is none.
  ChatValue find(std::size_t place, std::string_view name) const;
};

// These are Jinja's and Python's of the same names, as far as chat templates use them. Each throws
// Error, with the line, for a name that is not here and for operands that it does not take.

/// Computes value | name(arguments).
ChatValue filtered(const std::string& name, const ChatValue& value,
                   const TemplateArguments& arguments, const TemplatePlace& place);
/// Computes value is name(arguments).
bool passes_test(const std::string& name, const ChatValue& value,
                 const TemplateArguments& arguments, const TemplatePlace& place);
/// Computes value.name(arguments).
ChatValue method_result(const std::string& name, const ChatValue& value,
                        const TemplateArguments& arguments, const TemplatePlace& place);
/// Computes name(arguments): namespace, dict, range, or raise_exception, whose message it throws.
ChatValue function_result(const std::string& name, const TemplateArguments& arguments,
                          const TemplatePlace& place);
/// Computes a sign b, where the sign is one of Python's, `in` and `not in` included.
ChatValue computed(const std::string& sign, const ChatValue& a, const ChatValue& b,
                   const TemplatePlace& place);
/// Computes value[from:to:step], where null stands for a number that is left out.
ChatValue sliced(const ChatValue& value, const ChatValue& from, const ChatValue& to,
                 const ChatValue& step, const TemplatePlace& place);

}  // namespace howard::language
