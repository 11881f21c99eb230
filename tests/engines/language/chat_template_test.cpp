// SPDX-License-Identifier: Apache-2.0
//
// Chat templates. The expected texts are those of Jinja2 3.1 with Hugging Face's settings
// (trim_blocks, lstrip_blocks, loopcontrols).
#include "engines/language/chat/chat_template.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "engines/language/chat/chat_messages.h"

namespace howard::language {
namespace {

constexpr const char* kOneTurn = R"([{"role": "user", "content": "Hi there "}])";
constexpr const char* kTwoTurns =
    R"([{"role": "system", "content": " Be brief.\n"}, {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And?"}])";

std::string filled(const std::string& format, const std::string& messages = kOneTurn) {
  const TokenizerConfig config{.chat_template = {},
                               .marks = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}};
  return chat_text(ChatTemplate(format, "t.jinja"), config, parse_chat_messages(messages, "m"));
}

/// Returns what the template is refused with.
std::string refused(const std::string& format) {
  try {
    filled(format);
  } catch (const Error& failure) {
    return failure.what();
  }
  return "it is not refused";
}

void expect_refused(const std::string& format, const std::string& part) {
  EXPECT_NE(refused(format).find(part), std::string::npos) << refused(format);
}

TEST(ChatTemplate, ChatMlPutsItsSystemMessageFirst) {
  const std::string format =
      "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
      "{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{% endif %}"
      "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
      "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}\n";
  EXPECT_EQ(filled(format),
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
            "<|im_start|>user\nHi there <|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(filled(format, kTwoTurns),
            "<|im_start|>system\n Be brief.\n<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(ChatTemplate, ZephyrsLinesOfStatementsAreNoText) {
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

TEST(ChatTemplate, Llama3TrimsContentsAndBeginsWithItsMark) {
  const std::string format =
      "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = "
      "'<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | "
      "trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}"
      "{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}";
  EXPECT_EQ(filled(format),
            "<s><|start_header_id|>user<|end_header_id|>\n\nHi there<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

TEST(ChatTemplate, Llama31HasADateAndAnInnerSystemMessage) {
  const std::string format = R"({{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}

{#- The system message has its own place. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|system|>\n\nToday Date: " + date_string + "\n\n" }}
{%- if tools is not none %}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{%- endfor %}
{%- endif %}
{{- system_message }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|' + message['role'] + '|>'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif not message.tool_calls|length == 1 %}
        {{- raise_exception("This model only supports single tool-calls at once!") }}
    {%- endif %}
{%- endfor %}
)";
  EXPECT_EQ(filled(format, kTwoTurns),
            "<s><|system|>\n\nToday Date: 26 Jul 2024\n\nBe brief.<|user|>Hi<|eot_id|>"
            "<|assistant|>Hello<|eot_id|><|user|>And?<|eot_id|>");
}

TEST(ChatTemplate, NamespacesMethodsAndSlicesAreThoseOfQwen) {
  const std::string format = R"({%- set ns = namespace(open=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.open and message.role == "user" and not(message.content.startswith('<tool')) %}
        {%- set ns.open = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{{- ns.last }};{% for message in messages %}
    {%- set content = message.content %}
    {%- if '</think>' in content %}
        {%- set why = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
        {%- set content = content.split('</think>')[-1].lstrip('\n') %}
{{ why }}:{% endif %}
{{ content }}{% if not loop.last %}, {% endif %}{% endfor %})";
  const std::string messages =
      R"([{"role": "user", "content": "a"},
          {"role": "assistant", "content": "<think>\nhm\n</think>\n\nb"}])";
  EXPECT_EQ(filled(format, messages), "0;a, hm:b");
}

TEST(ChatTemplate, ComputesAsJinjaDoes) {
  const std::pair<const char*, const char*> rows[] = {
      {"{{ -3 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 * 3 - 1 }}", "-2 2 3.5 5"},
      {"{{ 'h\u00e9llo'[1:3] }} {{ 'abc'[::-1] }} {{ [1, 2, 3][-2] }}", "\u00e9l cba 2"},
      {"{{ undefined_thing }}|{{ (1 if false) is defined }}", "|False"},
      {"{{ true }} {{ none }} {{ 3 is odd }} {{ not true or 1 == 1 }}", "True None True True"},
      {"{{ {'x': [1, 2.5, none, '\u00e9']} | tojson }}", "{\"x\": [1, 2.5, null, \"\u00e9\"]}"},
      {"{% set block %}\n in {{ 1 + 2 }}\n{% endset %}[{{ block }}]{{ \"%}\" }}", "[ in 3\n]%}"},
      {"{% for i in range(5) if i != 2 %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
       "013"},
      {"  {# c #}\n {% if true %} \n q\n {%+ endif %}\nx", " \n q\n x"},
      {"{{ messages | selectattr('role', 'equalto', 'user') | list | length }}", "1"},
      {"{{ x | default('d') }}{{ '' | default('e', true) }}{{ messages[0].get('z', 'w') }}", "dew"},
      {"{{ 10 | string + '1' }} {{ 'a' 'b' }} {{ 'a,b,,c'.split(',') | join('+') }}",
       "101 ab a+b++c"},
      {"{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% else %}none{% endfor %}", "a1"},
      {"{% for k in [] %}{{ k }}{% else %}none{% endfor %}", "none"},
      {"{{ ('a' if 1 > 2 else 'b') ~ 1 }}", "b1"},
  };
  for (const auto& [format, expected] : rows) EXPECT_EQ(filled(format), expected) << format;
}

TEST(ChatTemplate, WhatItDoesNotKnowIsRefusedWithItsLine) {
  expect_refused("a\n{% macro x() %}{% endmacro %}", "t.jinja, line 2: the statement 'macro'");
  expect_refused("{% import 'os' as os %}", "the statement 'import'");
  expect_refused("{{ 'a' | pprint }}", "the filter 'pprint'");
  expect_refused("{{ 'a' is callable }}", "the test 'callable'");
  expect_refused("{{ open('/etc/passwd') }}", "the function 'open'");
  expect_refused("{{ ''.__class__.__mro__ }}", "not defined");
  expect_refused("{{ 'a'.format(1) }}", "the method 'format' of a text");
  expect_refused("{{ raise_exception('roles must alternate') }}", "roles must alternate");
  expect_refused("{{ messages[0].content.x.y }}", "not defined");
  expect_refused("{{ messages }}", "prints a list");
  expect_refused("{{ 1 + 'a' }}", "'+'");
  expect_refused("{{ 1 / 0 }}", "'/'");
  expect_refused("{{ 1 // 0 }}", "'//'");
  expect_refused("{{ 9223372036854775807 + 1 }}", "'+'");
  expect_refused("{{ 99999999999999999999 }}", "too large");
  for (const char* const open : {"{{ 'a",
                                 "{{ a",
                                 "{% if x %}",
                                 "{# ",
                                 "{% for i in x %}",
                                 "{{ (1 }}",
                                 "{{ }}",
                                 "{%",
                                 "{{",
                                 "{% endif %}",
                                 "{% else %}",
                                 "{% set %}",
                                 "{% for %}{% endfor %}",
                                 "{{ a. }}",
                                 "{{ [1 }}",
                                 "{{ a[ }}",
                                 "{{ x | }}",
                                 "{{ x is }}",
                                 "{% if %}{% endif %}",
                                 "{{ '\\q' }}",
                                 "{{ \x01 }}",
                                 "{% set a %}",
                                 "{% break %}",
                                 "{{ not }}",
                                 "{{ {1} }}"}) {
    expect_refused(open, "cannot fill in the chat template of t.jinja");
  }
}

TEST(ChatTemplate, HasBounds) {
  const std::string loop =
      "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}"
      "{% endfor %}{% endfor %}{% endfor %}";
  expect_refused(loop, "a million steps");
  expect_refused("{{ range(1000000000) | length }}", "a long range");
  expect_refused(
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(64) %}"
      "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "too large");
  expect_refused(
      "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}"
      "{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "too large");
  std::string deep, branches;
  for (int i = 0; i < 10000; ++i) deep += "(";
  expect_refused("{{ " + deep + "1" + std::string(deep.size(), ')') + " }}", "levels");
  std::string sum = "{{ 1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  expect_refused(sum + " }}", "levels");
  for (int i = 0; i < 10000; ++i) branches += "{% if true %}";
  expect_refused(branches, "levels");
  expect_refused(std::string(2 << 20, 'a'), "bytes at most");
}

TEST(ChatMessages, AreRolesAndContents) {
  EXPECT_EQ(parse_chat_messages(R"({"messages": [{"role": "user", "content": ""}]})", "m").size(),
            1U);
  for (const char* const text :
       {"", "[]", "{}", "3", "[1]", "[{}]", R"([{"role": "user"}])",
        R"([{"role": "user", "content": 3}])", R"([{"role": "", "content": "a"}])",
        R"([{"role": ["user"], "content": "a"}])", R"({"messages": 1})", "[{\"role\": \"user\""}) {
    EXPECT_THROW(parse_chat_messages(text, "m"), Error) << text;
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
