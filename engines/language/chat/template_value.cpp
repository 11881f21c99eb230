// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/template_value.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace howard::language {

void refuse_template(const TemplatePlace& place, std::string value, std::string accepted) {
  throw Error({.attempted = fmt::format("fill in the chat template of {}, line {}", *place.source,
                                        place.line),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = "--prompt with the text as the model expects it, in place of --chat"});
}

ChatValue chat_value(ChatJson json) { return std::make_shared<const ChatJson>(std::move(json)); }

ChatValue chat_part(const ChatValue& whole, const ChatJson& part) { return {whole, &part}; }

bool is_true(const ChatValue& value) {
  if (!value || value->is_null()) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0;
  if (value->is_string()) return !value->get_ref<const std::string&>().empty();
  return !value->empty();
}

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (at + length > text.size()) length = 1;
    all.push_back(text.substr(at, length));
    at += length;
  }
  return all;
}

std::string printed(const ChatValue& value, const TemplatePlace& place) {
  if (!value) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_null()) return "None";
  if (value->is_boolean()) return value->get<bool>() ? "True" : "False";
  if (value->is_number()) return value->dump();
  refuse_template(place, value->is_array() ? "it prints a list" : "it prints an object",
                  "texts and numbers");
}

const std::string& text_in(const ChatValue& value, const char* what, const TemplatePlace& place) {
  if (value && value->is_string()) return value->get_ref<const std::string&>();
  refuse_template(place, fmt::format("{} of what is no text", what), "a text");
}

}  // namespace howard::language
