// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/tokenizer_config.h"

#include "base/json_node.h"

namespace howard::language {
namespace {

/// Returns a template, which is a text or a list of names and texts.
std::string template_in(const JsonNode& node) {
  if (!node.is_array()) return node.text();
  for (const JsonNode& each : node.items()) {
    if (each.member("name").text() == "default") return each.member("template").text();
  }
  node.fail("a text, or a list in which one template is named 'default'");
}

}  // namespace

TokenizerConfig parse_tokenizer_config(std::string_view text, const std::string& source) {
  const JsonDocument document(text, {.attempted = "read the chat template of " + source,
                                     .accepted = "a tokenizer_config.json"});
  const JsonNode root = document.root();
  if (!root.is_object()) root.fail("an object");
  TokenizerConfig config;
  const auto has = [&](const char* name) { return root.has(name) && !root.member(name).is_null(); };
  if (has("chat_template")) config.chat_template = template_in(root.member("chat_template"));
  for (const char* const name : {"bos_token", "eos_token", "unk_token", "pad_token"}) {
    if (!has(name)) continue;
    const JsonNode mark = root.member(name);
    config.marks[name] = mark.is_object() ? mark.member("content").text() : mark.text();
  }
  return config;
}

}  // namespace howard::language
