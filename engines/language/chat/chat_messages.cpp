// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/chat_messages.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_dump.h"
#include "base/json_node.h"

namespace howard::language {
namespace {

/// JSON whose objects keep the order of their members, as Python's do.
using nlohmann::ordered_json;

ordered_json parsed_messages(std::string_view text, const std::string& source) {
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
  return ordered_json::parse(list.dump());
}

}  // namespace

std::string chat_variables(std::string_view text, const std::string& source,
                           const std::string& prompt, const TokenizerConfig& config) {
  ordered_json messages = ordered_json::array();
  if (!source.empty()) messages = parsed_messages(text, source);
  if (!prompt.empty()) messages.push_back({{"role", "user"}, {"content", prompt}});
  HOWARD_CHECK(!messages.empty(), "a chat has a message");
  ordered_json variables(config.marks);
  variables["messages"] = std::move(messages);
  variables["add_generation_prompt"] = true;
  variables["tools"] = nullptr;
  variables["documents"] = nullptr;
  return json_dump(variables);
}

}  // namespace howard::language
