// SPDX-License-Identifier: Apache-2.0
//
// Chat templates: Hugging Face's settings and functions around Jinja2, its sandbox and its bounds.
#include "engines/python/chat_template.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"

namespace howard::python {
namespace {

constexpr const char* kOneTurn = R"([{"role": "user", "content": "Hi there "}])";
constexpr const char* kTwoTurns =
    R"([{"role": "system", "content": " Be brief.\n"}, {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And?"}])";

std::string filled(const std::string& format, const std::string& messages = kOneTurn,
                   const TemplateLimits& limits = {}) {
  return filled_template(
      format, "t.jinja",
      R"({"bos_token": "<s>", "eos_token": "</s>", "tools": null, "messages": )" + messages +
          R"(, "add_generation_prompt": true})",
      limits);
}

class ChatTemplate : public testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(filled(""));
    } catch (const Error& failure) {
      const std::string what = failure.what();
      if (what.find("python3-jinja2") == std::string::npos) throw;
      GTEST_SKIP() << what;
    }
  }
};

/// Returns what the template is refused with.
std::string refused(const std::string& format, const TemplateLimits& limits = {}) {
  try {
    filled(format, kOneTurn, limits);
  } catch (const Error& failure) {
    return failure.what();
  }
  return "it is not refused";
}

void expect_refused(const std::string& format, const std::string& part) {
  EXPECT_NE(refused(format).find(part), std::string::npos) << refused(format);
}

TEST_F(ChatTemplate, ZephyrsLinesOfStatementsAreNoText) {
  const std::string format =
      "{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
      "{{ '<|user|>\n' + message['content'] + eos_token }}\n"
      "{% elif message['role'] == 'system' %}\n"
      "{{ '<|system|>\n' + message['content'] + eos_token }}\n"
      "{% elif message['role'] == 'assistant' %}\n"
      "{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n"
      "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n"
      "{% endif %}\n{% endfor %}";
  EXPECT_EQ(filled(format), "<|user|>\nHi there </s>\n<|assistant|>\n");
  EXPECT_EQ(filled(format, kTwoTurns),
            "<|system|>\n Be brief.\n</s>\n<|user|>\nHi</s>\n<|assistant|>\nHello</s>\n"
            "<|user|>\nAnd?</s>\n<|assistant|>\n");
}

TEST_F(ChatTemplate, HasTheFunctionsOfHuggingFacesLibrary) {
  const std::pair<const char*, const char*> rows[] = {
      {"  {# c #}\n {% if true %} \n q\n {%+ endif %}\nx", " \n q\n x"},
      {"{% for i in range(5) if i != 2 %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
       "013"},
      {"{{ {'b': '<\u00e9>', 'a': none} | tojson }}", "{\"b\": \"<\u00e9>\", \"a\": null}"},
      {"{% generation %}a{{ 1 + 1 }}{% endgeneration %}b", "a2b"},
      {"{{ strftime_now('%Y') | int > 2000 }}", "True"},
      {"{% macro twice(x) %}{{ x ~ x }}{% endmacro %}{{ twice('a') }}", "aa"},
      {"{{ '<' }}{{ tools is none }}", "<True"},
  };
  for (const auto& [format, expected] : rows) EXPECT_EQ(filled(format), expected) << format;
}

TEST_F(ChatTemplate, WhatIsWrongIsSaidWithItsLine) {
  expect_refused("a\n{% if %}x", "cannot fill in the chat template of t.jinja: line 2: ");
  expect_refused("a\n{{ messages[0].content.x.y }}", "line 2: ");
  expect_refused("a\nb\n{{ raise_exception('roles must alternate') }}",
                 "line 3: roles must alternate");
  expect_refused("{{ 1 / 0 }}", "line 1: division by zero");
}

TEST_F(ChatTemplate, ReachesNothingOutside) {
  expect_refused("{{ ''.__class__.__mro__ }}", "unsafe");
  expect_refused("{{ messages.append(1) }}", "unsafe");
  expect_refused("{{ open('/etc/passwd') }}", "'open' is undefined");
  expect_refused("{% include 'other' %}", "no loader");
}

TEST_F(ChatTemplate, HasBounds) {
  const std::string forever =
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  const TemplateLimits half{.time = std::chrono::milliseconds(500)};
  EXPECT_NE(refused(forever, half).find("it takes more than"), std::string::npos);
  EXPECT_NE(refused("{{ 'a' * 9 }}", {.bytes = 8}).find("9 bytes"), std::string::npos);
  EXPECT_EQ(filled("{{ 'a' * 8 }}", kOneTurn, {.bytes = 8}), "aaaaaaaa");
  expect_refused("{{ range(1000000000) | length }}", "Range too big");
  expect_refused("{{ 'a' * 4000000000 }}", "MemoryError");
}

TEST(ChatTemplateWithoutJinja, IsRefusedWithThePackage) {
  const std::filesystem::path python = testing::TempDir() + "python_without_jinja2";
  std::ofstream(python) << "#!/bin/sh\necho 'No module named jinja2' >&2; exit 3\n";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  setenv("HOWARD_PYTHON", python.c_str(), 1);
  expect_refused("", "Python has no Jinja2 (No module named jinja2)");
  expect_refused("", "try to install python3-jinja2");
  unsetenv("HOWARD_PYTHON");
  std::filesystem::remove(python);
}

}  // namespace
}  // namespace howard::python
