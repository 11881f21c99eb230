// SPDX-License-Identifier: Apache-2.0
#include "engines/training/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/language/tokens/character_tokenizer.h"
#include "engines/language/tokens/token_ids.h"
#include "engines/training/text_batches.h"

namespace howard::training {
namespace {

constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::int64_t kMasked = -100;  // the label without a loss, as in PyTorch
constexpr const char* kForms =
    R"({"prompt": TEXT, "completion": TEXT} or {"input_ids": [...], "labels": [...]} on each line)";

/// What a line says.
struct Line {
  std::size_t number = 0;  ///< From 1.
  bool has_tokens = false;
  std::string prompt, completion;
  std::vector<std::uint32_t> tokens, targets;
};

Line parsed_line(const JsonNode& node, std::size_t number) {
  Line line{.number = number, .has_tokens = node.has("input_ids")};
  for (const char* key : {"prompt", "completion"}) {
    if (line.has_tokens && node.has(key)) node.member(key).fail("no text beside input_ids");
  }
  if (!line.has_tokens) {
    line.prompt = node.member("prompt").text();
    line.completion = node.member("completion").filled_text();
    return line;
  }
  for (const JsonNode& token : node.member("input_ids").items()) {
    line.tokens.push_back(static_cast<std::uint32_t>(token.integer(0, kMostTokens - 1)));
  }
  const JsonNode labels = node.member("labels");
  for (const JsonNode& item : labels.items()) {
    const std::int64_t label = item.integer(kMasked, kMostTokens - 1);
    if (label < 0 && label != kMasked) item.fail("a token, or -100 for no loss");
    line.targets.push_back(label < 0 ? kNoTarget : static_cast<std::uint32_t>(label));
  }
  if (line.targets.size() != line.tokens.size()) {
    labels.fail(fmt::format("a label for each of {} input_ids", line.tokens.size()));
  }
  return line;
}

/// Reads the lines of one file of examples.
class ExampleReader {
 public:
  ExampleReader(const std::string& source, const ExampleOptions& options)
      : source_(source), options_(options), tokenizer_(options.tokenizer) {}

  language::Corpus read(std::string_view bytes) {
    std::vector<Line> lines = parsed(bytes);
    if (options_.characters) take_characters(lines);
    std::vector<std::uint32_t> samples;
    for (Line& line : lines) {
      if (!line.has_tokens) encode(line);
      append(line, samples);
    }
    if (cut_ > 0 && options_.note) {
      options_.note(fmt::format(
          "{}: {} of {} examples are longer than the {} tokens of max_sequence_length, and are cut",
          source_, cut_, lines.size(), options_.sequence));
    }
    const std::int64_t used = std::int64_t{most_} + 1;
    if (!tokenizer_) {
      tokenizer_ = std::make_shared<const language::TokenIds>(
          options_.vocabulary > 0 ? options_.vocabulary : used);
    }
    if (used > tokenizer_->tokens()) {
      throw Error({.attempted = "read the examples in " + source_,
                   .value = fmt::format("token {}", most_),
                   .accepted = fmt::format("0 to {}, the vocabulary", tokenizer_->tokens() - 1),
                   .hint = "a larger vocab_size"});
    }
    return {std::move(samples), tokenizer_};
  }

 private:
  std::string place_of(std::size_t line) const {
    return fmt::format("read line {} of {}", line, source_);
  }

  std::vector<Line> parsed(std::string_view bytes) const {
    std::vector<Line> lines;
    std::size_t number = 0;
    for (const std::string& text : split(bytes, '\n')) {
      ++number;
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      const JsonDocument document(text, {.attempted = place_of(number), .accepted = kForms});
      lines.push_back(parsed_line(document.root(), number));
    }
    if (!lines.empty()) return lines;
    throw Error({.attempted = "read the examples in " + source_,
                 .value = "there is none",
                 .accepted = kForms});
  }

  /// The tokens are the characters of all texts.
  void take_characters(const std::vector<Line>& lines) {
    std::string all;
    for (const Line& line : lines) {
      if (line.has_tokens) {
        throw Error({.attempted = place_of(line.number),
                     .value = "tokens beside a tokenizer_type of char",
                     .accepted = "texts, or a tokenizer_type of bpe",
                     .hint = "--with tokenizer_type=bpe"});
      }
      all += line.prompt + line.completion;
    }
    tokenizer_ = std::make_shared<const language::CharacterTokenizer>(all);
  }

  void encode(Line& line) const {
    if (!tokenizer_) {
      throw Error({.attempted = place_of(line.number),
                   .value = "a text without a tokenizer",
                   .accepted = "input_ids and labels, or a tokenizer",
                   .hint = "--tokenizer FILE, or --with tokenizer_type=char"});
    }
    std::vector<std::uint32_t> tokens = tokenizer_->encode(line.prompt);
    const std::size_t prompt = tokens.size();
    const std::vector<std::uint32_t> completion = tokenizer_->encode(line.completion);
    tokens.insert(tokens.end(), completion.begin(), completion.end());
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      line.tokens.push_back(tokens[i]);
      line.targets.push_back(i + 1 < prompt ? kNoTarget : tokens[i + 1]);
    }
  }

  void append(Line& line, std::vector<std::uint32_t>& samples) {
    const auto sequence = static_cast<std::size_t>(options_.sequence);
    const auto first = std::ranges::find_if(
        line.targets, [](std::uint32_t target) { return target != kNoTarget; });
    const auto needed = static_cast<std::int64_t>(first - line.targets.begin()) + 1;
    const bool has_none = first == line.targets.end();
    if (has_none || needed > options_.sequence) {
      throw Error(
          {.attempted = place_of(line.number),
           .value = has_none ? "no token has a loss"
                             : fmt::format("the first token with a loss is number {}", needed),
           .accepted = fmt::format("a completion within the {} tokens of max_sequence_length",
                                   options_.sequence),
           .hint = has_none ? "" : fmt::format("--with max_sequence_length={}", needed)});
    }
    if (std::any_of(line.targets.begin() + std::min(std::ssize(line.targets), options_.sequence),
                    line.targets.end(), [](std::uint32_t target) { return target != kNoTarget; })) {
      ++cut_;
    }
    line.tokens.resize(sequence, 0);
    line.targets.resize(sequence, kNoTarget);
    for (const std::uint32_t token : line.tokens) most_ = std::max(most_, token);
    for (const std::uint32_t target : line.targets) {
      if (target != kNoTarget) most_ = std::max(most_, target);
    }
    samples.insert(samples.end(), line.tokens.begin(), line.tokens.end());
    samples.insert(samples.end(), line.targets.begin(), line.targets.end());
  }

  const std::string& source_;
  const ExampleOptions& options_;
  std::shared_ptr<const language::Tokenizer> tokenizer_;
  std::uint32_t most_ = 0;  ///< The largest token.
  std::int64_t cut_ = 0;    ///< The examples with a target beyond the positions.
};

}  // namespace

bool names_examples(std::string_view name) { return lower_case(name).ends_with(".jsonl"); }

language::Corpus read_examples(std::string_view bytes, const std::string& source,
                               const ExampleOptions& options) {
  return ExampleReader(source, options).read(bytes);
}

}  // namespace howard::training
