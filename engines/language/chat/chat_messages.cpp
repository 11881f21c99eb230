// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/chat_messages.h"

#include <map>

#include "base/json_node.h"

namespace howard::language {

ChatJson parse_chat_messages(std::string_view text, const std::string& source) {
  const JsonDocument document(text, {.attempted = "read the messages in " + source,
                                     .accepted = "a list of messages",
                                     .hint = R"([{"role": "user", "content": "Hello"}])"});
  const JsonNode root = document.root();
  const JsonNode list = root.is_object() ? root.member("messages") : root;
  if (list.items().empty()) list.fail("one message or more");
  for (const JsonNode& message : list.items()) {
    static_cast<void>(message.member("role").filled_text());
    static_cast<void>(message.member("content").text());
  }
  return ChatJson::parse(list.dump());
}

std::string chat_text(const ChatTemplate& format, const TokenizerConfig& config,
                      const ChatJson& messages) {
  std::map<std::string, ChatValue> variables;
  for (const auto& [name, mark] : config.marks) variables[name] = chat_value(mark);
  variables["messages"] = chat_value(messages);
  variables["add_generation_prompt"] = chat_value(true);
  variables["tools"] = variables["documents"] = chat_value(nullptr);
  return format.text(variables);
}

}  // namespace howard::language
