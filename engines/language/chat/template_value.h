// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace howard::language {

/// JSON whose objects keep the order of their members, as Python's do.
using ChatJson = nlohmann::ordered_json;

/// A value of a chat template, which nobody changes; null stands for Jinja's undefined.
using ChatValue = std::shared_ptr<const ChatJson>;

/// Says where a template is wrong.
struct TemplatePlace {
  const std::string* source = nullptr;  ///< The name of the file.
  int line = 0;
};

/// Throws Error with the file, the line and what to do.
[[noreturn]] void refuse_template(const TemplatePlace& place, std::string value,
                                  std::string accepted);

/// The most bytes of a text and the most elements of a list that a template may make.
inline constexpr std::size_t kMostTemplateText = 1 << 24;
inline constexpr std::size_t kMostTemplateList = 1 << 16;

ChatValue chat_value(ChatJson json);
/// Returns a part of a value without copying it; the whole is kept alive.
ChatValue chat_part(const ChatValue& whole, const ChatJson& part);

/// Returns Python's truth: nothing, none, false, 0 and what is empty are false.
bool is_true(const ChatValue& value);

/// Returns the characters of a text, each as a text; a byte that is no UTF-8 is a character.
std::vector<std::string> characters_of(const std::string& text);

/// Returns how Jinja prints a value. Refuses a list and an object.
std::string printed(const ChatValue& value, const TemplatePlace& place);
/// Returns a text; refuses every other value. `what` names it in the message.
const std::string& text_in(const ChatValue& value, const char* what, const TemplatePlace& place);

}  // namespace howard::language
