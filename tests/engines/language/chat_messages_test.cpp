// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/chat_messages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace howard::language {
namespace {

using nlohmann::json;

TEST(ChatMessages, AreRolesAndContentsAndThenThePrompt) {
  const TokenizerConfig config{.chat_template = {}, .marks = {{"bos_token", "<s>"}}};
  const std::string text = R"({"messages": [{"role": "user", "content": "", "name": "a"}]})";
  const json first{{"role", "user"}, {"content", ""}, {"name", "a"}};
  const json prompt{{"role", "user"}, {"content", "Hi"}};
  const json both = json::parse(chat_variables(text, "m", "Hi", config));
  EXPECT_EQ(both, (json{{"bos_token", "<s>"},
                        {"messages", {first, prompt}},
                        {"add_generation_prompt", true},
                        {"tools", nullptr},
                        {"documents", nullptr}}));
  EXPECT_EQ(json::parse(chat_variables(text, "m", "", config))["messages"], json::array({first}));
  EXPECT_EQ(json::parse(chat_variables("", "", "Hi", config))["messages"], json::array({prompt}));
  for (const char* const bad :
       {"", "[]", "{}", "3", "[1]", "[{}]", R"([{"role": "user"}])",
        R"([{"role": "user", "content": 3}])", R"([{"role": "", "content": "a"}])",
        R"([{"role": ["user"], "content": "a"}])", R"({"messages": 1})", "[{\"role\": \"user\""}) {
    EXPECT_THROW(static_cast<void>(chat_variables(bad, "m", "Hi", config)), Error) << bad;
  }
}

TEST(TokenizerConfig, HasATemplateOrSeveralAndMarks) {
  const TokenizerConfig one = parse_tokenizer_config(
      R"({"chat_template": "x", "bos_token": {"content": "<s>"}, "eos_token": null})", "c");
  EXPECT_EQ(one.chat_template, "x");
  EXPECT_EQ(one.marks.at("bos_token"), "<s>");
  EXPECT_FALSE(one.marks.contains("eos_token"));
  const char* const several =
      R"({"chat_template": [{"name": "tool_use", "template": "t"},
                            {"name": "default", "template": "d"}]})";
  EXPECT_EQ(parse_tokenizer_config(several, "c").chat_template, "d");
  EXPECT_FALSE(parse_tokenizer_config("{}", "c").chat_template);
  for (const char* const text :
       {"", "[", "[]", R"({"chat_template": 3})", R"({"chat_template": []})",
        R"({"chat_template": [{"name": "rag", "template": "t"}]})", R"({"bos_token": 1})",
        R"({"eos_token": {}})"}) {
    EXPECT_THROW(parse_tokenizer_config(text, "c"), Error) << text;
  }
}

}  // namespace
}  // namespace howard::language
