// SPDX-License-Identifier: Apache-2.0
//
// generate, and training on tokens, as a contract: what they print and write, and what they refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class GenerateCli : public CliFixture {
 protected:
  GenerateCli() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "a rose is a rose is a rose. ";
    put("text", text);
    put("training.yaml",
        "training_config:\n  batch_size: 2\n  max_steps: 2\n  tokenizer_type: bpe\n"
        "  data_path: text\n  tokenizer_path: tokenizer.json\n  model_config: model.yaml\n");
    put("model.yaml",
        "transformer_config:\n  model_type: llama\n  num_heads: 2\n  num_groups: 1\n"
        "  embedding_dim: 64\n  num_blocks: 2\n  max_sequence_length: 64\n");
    put("tokenizer.json", tokenizer());
  }

  /// Of the letters above; "Ġ" stands for the blank.
  static std::string tokenizer() {
    json vocabulary = json::object();
    for (const char* const token : {"a", "e", "i", "o", "r", "s", ".", "\xc4\xa0", "\xc4\xa0r",
                                    "os", "\xc4\xa0ros", "\xc4\xa0rose"}) {
      vocabulary[token] = vocabulary.size();
    }
    return json{{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                {"model",
                 {{"type", "BPE"},
                  {"vocab", vocabulary},
                  {"merges", {"\xc4\xa0 r", "o s", "\xc4\xa0r os", "\xc4\xa0ros e"}}}}}
        .dump();
  }

  Outcome train(const std::string& arguments) const {
    return run("train -c training.yaml --threads 1 --no-progress " + arguments);
  }
  Outcome write(const std::string& arguments) const {
    return run("generate --weights w.safetensors --model model.yaml --threads 1 " + arguments);
  }
};

TEST_F(GenerateCli, TrainsOnTheTokensOfATokenizerAndWritesWithItsWeights) {
  const Outcome trained = train(
      "--generate 5 --prompt 'a rose' --export w.safetensors --dtype float32 "
      "--parameters float32");
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out, "\na rose")) << trained.out;

  const std::string greedy = "--prompt 'a rose is' --max-tokens 12 --dtype float32 ";
  const Outcome cached = write(greedy);
  ASSERT_EQ(cached.status, 0) << cached.err;
  EXPECT_TRUE(cached.out.starts_with("a rose is")) << cached.out;
  EXPECT_TRUE(contains(cached.err, "tokens/s/user")) << cached.err;
  for (const char* const other : {"--no-kv-cache", "--cache ttml", "--engine static",
                                  "--engine traced", "--backend emulated --engine traced"}) {
    const Outcome outcome = write(greedy + other);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, cached.out) << other;
  }
  const Outcome chip = write(greedy + "--backend emulated --results out");
  EXPECT_EQ(chip.status, 0) << chip.err;
  const json result = json::parse(content(folder() / "out" / "generate.json"));
  const json& metrics = result["points"][0]["metrics"];
  EXPECT_GT(metrics["prefill"]["value"], metrics["time"]["value"]);
  EXPECT_GT(metrics["tokens"]["value"], 0);
}

TEST_F(GenerateCli, TrainsOnFilesOfTokens) {
  std::string ids, binary;
  for (int i = 0; i < 200; ++i) {
    ids += std::to_string(i * i % 50) + " ";
    binary += static_cast<char>(i * i % 50);
    binary += '\0';
  }
  put("ids.txt", ids);
  put("ids.bin", binary);
  put("training.yaml",
      "training_config:\n  batch_size: 2\n  max_steps: 2\n  tokenizer_type: bpe\n"
      "  model_config: model.yaml\n");
  const std::string tokens = "--with vocab_size=64 --data ";
  const Outcome written = train(tokens + "ids.txt");
  ASSERT_EQ(written.status, 0) << written.err;
  const std::size_t first_loss = written.out.find("Full step");
  EXPECT_EQ(train(tokens + "ids.bin").out.substr(0, first_loss), written.out.substr(0, first_loss));
  const Outcome beyond = train("--with vocab_size=32 --data ids.txt");
  EXPECT_EQ(beyond.status, 1);
  EXPECT_TRUE(contains(beyond.err, "vocab_size")) << beyond.err;
  put("bad.bin", "abc");
  EXPECT_TRUE(contains(train(tokens + "bad.bin").err, "bad.bin"));
}

TEST_F(GenerateCli, ATrainingIsValidatedOnWhatItIsNotTrainedOn) {
  const Outcome outcome = train("--with eval_every=2 --with max_steps=4 --results out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = outcome.out.find("Validation loss: ", at)) != std::string::npos;
       ++at) {
    ++lines;
  }
  EXPECT_EQ(lines, 2U) << outcome.out;
  const json result = json::parse(content(folder() / "out" / "train.json"));
  EXPECT_EQ(result["points"][0]["metrics"]["validation_loss"]["samples"].size(), 2U);
  const Outcome full =
      train("--with training_config.optimizer.type=AdamWFullPrecision --with max_steps=1");
  EXPECT_EQ(full.status, 0) << full.err;
}

/// The weights of a model and a tokenizer with two marks, beside each other as in a model's folder.
class ChatCli : public GenerateCli {
 protected:
  ChatCli() {
    json tokens = json::parse(tokenizer());
    tokens["added_tokens"] = {{{"content", "<u>"}, {"id", 12}}, {{"content", "<e>"}, {"id", 13}}};
    put("tokenizer.json", tokens.dump());
    EXPECT_EQ(train("--export w.safetensors").status, 0);
    put("tokenizer_config.json",
        json{{"bos_token", nullptr},
             {"eos_token", "<e>"},
             {"chat_template",
              "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}"
              "{{ raise_exception('no role ' + m.role) }}{% endif %}"
              "{{ '<u>' if m.role == 'user' }}{{ m.content + eos_token }}{% endfor %}"}}
            .dump());
    put("nothing.jinja", "");
    const Outcome outcome = write("--chat-template nothing.jinja --prompt a");
    jinja_ = !contains(outcome.err, "python3-jinja2");
    put("earlier.json", R"([{"role": "user", "content": "a rose"},
                            {"role": "assistant", "content": " is"}])");
  }
  void SetUp() override {
    if (!jinja_) GTEST_SKIP() << "there is no Jinja2 for Python";
  }

 private:
  bool jinja_ = true;
};

TEST_F(ChatCli, AnswersMessagesByTheTemplateOfTheModel) {
  const auto tokens_read = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.err.substr(0, outcome.err.find(" in "));
  };
  // The marks are tokens: <u>, a, the blank and rose, <e>.
  const Outcome one = write("--chat --prompt 'a rose' --max-tokens 8");
  EXPECT_EQ(tokens_read(one), "generate: 4 tokens of the prompt");
  EXPECT_FALSE(contains(one.out, "<u>a rose")) << one.out;
  EXPECT_FALSE(contains(one.out, "<e>")) << one.out;
  const Outcome by_hand = write("--prompt '<u>a rose<e>' --max-tokens 8 --no-end");
  const std::string answer = one.out.substr(0, one.out.size() - 1);
  EXPECT_TRUE(by_hand.out.starts_with("<u>a rose<e>" + answer)) << by_hand.out << one.out;
  // Earlier messages have 4 and 4 tokens.
  EXPECT_EQ(tokens_read(write("--messages earlier.json --prompt 'a rose' --max-tokens 2")),
            "generate: 12 tokens of the prompt");
  put("own.jinja", "{{ messages[-1].content }}");
  EXPECT_EQ(tokens_read(write("--chat-template own.jinja --prompt 'a rose' --max-tokens 2")),
            "generate: 2 tokens of the prompt");
  put("chat_template.jinja", "{{ '<u>' + messages[-1].content }}");
  EXPECT_EQ(tokens_read(write("--chat --prompt 'a rose' --max-tokens 2")),
            "generate: 3 tokens of the prompt");
}

TEST_F(ChatCli, RefusesBadConversationsInOneLine) {
  const auto expect = [&](const std::string& arguments, const char* part) {
    const Outcome outcome = write(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments << outcome.out;
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  };
  put("system.json", R"([{"role": "system", "content": "a"}])");
  expect("--messages system.json", "no role system");
  put("wrong.json", R"([{"role": "user", "content": [1]}])");
  expect("--messages wrong.json", "/0/content");
  put("empty.json", "[]");
  expect("--messages empty.json", "one message");
  put("none.json", "{}");
  expect("--messages none.json --chat", "messages");
  expect("--messages missing.json", "missing.json");
  put("open.jinja", "x\n{% if true %}y");
  expect("--chat-template open.jinja --prompt a", "open.jinja: line 2: ");
  put("tokenizer_config.json", "{}");
  expect("--chat --prompt a", "--chat-template FILE");
  put("tokenizer_config.json", "{\"chat_template\": 1}");
  expect("--chat --prompt a", "at /chat_template: 1; accepted: a text");
  put("tokenizer_config.json", "{}");
  put("blank.jinja", "{# nothing #}");
  expect("--chat-template blank.jinja --prompt a", "no token");
  std::filesystem::remove(folder() / "tokenizer.json");
  expect("--chat --prompt a", "--tokenizer tokenizer.json");
}

TEST_F(GenerateCli, RefusesInOneLine) {
  EXPECT_EQ(run("generate --prompt a").status, 2);
  EXPECT_EQ(run("generate --weights w.safetensors").status, 2);
  EXPECT_EQ(run("generate --weights w --prompt a --cache ttml --engine traced").status, 2);
  const auto expect = [&](const std::string& arguments, const char* part) {
    const Outcome outcome = run("generate --threads 1 " + arguments);
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  };
  expect("--weights nothing/w.safetensors --prompt a", "there is no such file or folder");
  put("other.json", R"({"model_type": "bert"})");
  put("w", "too short");
  expect("--weights w --model other.json --prompt a", "bert");
  expect("--weights w --model model.yaml --prompt a", "w");
  expect("--weights w --model model.yaml --prompt ABC", "no token");
  expect("--weights w --model model.yaml --prompt a --context 1000", "64");
  expect("--weights w --model model.yaml --prompt a --max-tokens 100", "does not slide");
}

}  // namespace
}  // namespace howard::cli
