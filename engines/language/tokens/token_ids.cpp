// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/token_ids.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::language {
namespace {

constexpr std::int64_t kMostTokens = 1 << 24;

[[noreturn]] void refuse_tokens(const std::string& source, std::string value, std::string accepted,
                                std::string hint = "") {
  throw Error({.attempted = "read the tokens in " + source,
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = std::move(hint)});
}

template <class Word>
std::vector<std::uint32_t> binary_tokens(std::string_view bytes, const std::string& source) {
  if (bytes.size() % sizeof(Word) != 0) {
    refuse_tokens(source, fmt::format("{} bytes", bytes.size()),
                  fmt::format("{} bytes for each token", sizeof(Word)));
  }
  std::vector<std::uint32_t> tokens;
  tokens.reserve(bytes.size() / sizeof(Word));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Word)) {
    std::uint32_t token = 0;
    for (std::size_t byte = 0; byte < sizeof(Word); ++byte) {
      token |= std::uint32_t{static_cast<unsigned char>(bytes[i + byte])} << (8 * byte);
    }
    tokens.push_back(token);
  }
  return tokens;
}

bool separates(char sign) {
  return sign == ' ' || sign == ',' || sign == '\n' || sign == '\r' || sign == '\t';
}

std::vector<std::uint32_t> written_tokens(std::string_view text, const std::string& source) {
  std::vector<std::uint32_t> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && separates(*at)) ++at;
    if (at == end) return tokens;
    std::uint32_t token = 0;
    const auto [behind, failure] = std::from_chars(at, end, token);
    if (failure != std::errc() || (behind != end && !separates(*behind))) {
      const auto shown =
          std::string_view(at, static_cast<std::size_t>(std::min<std::ptrdiff_t>(end - at, 12)));
      refuse_tokens(source, fmt::format("token {} is '{}'", tokens.size() + 1, shown),
                    "whole numbers between blanks or commas",
                    "--tokenizer tokenizer.json if it is a text");
    }
    tokens.push_back(token);
    at = behind;
  }
}

TokenFile yaml_tokens(std::string_view bytes, const std::string& source) {
  TokenFile file;
  try {
    const YAML::Node root = YAML::Load(std::string(bytes));
    if (!root.IsMap() || !root["tokens"]) {
      refuse_tokens(source, "it has no tokens", "tokenizer_vocab_size and tokens");
    }
    if (root["tokenizer_vocab_size"]) {
      file.vocabulary = root["tokenizer_vocab_size"].as<std::int64_t>();
      if (file.vocabulary < 1 || file.vocabulary > kMostTokens) {
        refuse_tokens(source, fmt::format("a tokenizer_vocab_size of {}", file.vocabulary),
                      fmt::format("1 to {}", kMostTokens));
      }
    }
    const YAML::Node tokens = root["tokens"];
    file.tokens = tokens.IsSequence() ? tokens.as<std::vector<std::uint32_t>>()
                                      : written_tokens(tokens.as<std::string>(), source);
  } catch (const YAML::Exception& failure) {
    refuse_tokens(source, fmt::format("line {}: {}", failure.mark.line + 1, failure.msg),
                  "tokenizer_vocab_size: N and tokens: \"1 2 3\"");
  }
  return file;
}

}  // namespace

bool names_token_file(std::string_view name) {
  const std::string lower = lower_case(name);
  return std::ranges::any_of(std::array<std::string_view, 4>{".bin", ".u32", ".yaml", ".yml"},
                             [&](std::string_view ending) { return lower.ends_with(ending); });
}

TokenFile read_token_file(std::string_view bytes, const std::string& source) {
  TokenFile file;
  const std::string name = lower_case(source);
  if (name.ends_with(".bin")) {
    file.tokens = binary_tokens<std::uint16_t>(bytes, source);
  } else if (name.ends_with(".u32")) {
    file.tokens = binary_tokens<std::uint32_t>(bytes, source);
  } else if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    file = yaml_tokens(bytes, source);
  } else {
    file.tokens = written_tokens(bytes, source);
  }
  if (file.tokens.empty()) refuse_tokens(source, "there is none", "one or more");
  const std::int64_t most = file.vocabulary == 0 ? kMostTokens : file.vocabulary;
  const auto bad = std::ranges::find_if(file.tokens, [&](auto token) { return token >= most; });
  if (bad != file.tokens.end()) {
    refuse_tokens(source, fmt::format("token {} is {}", bad - file.tokens.begin() + 1, *bad),
                  fmt::format("0 to {}", most - 1));
  }
  return file;
}

std::vector<std::uint32_t> TokenIds::encode(std::string_view text) const {
  std::vector<std::uint32_t> tokens = written_tokens(text, "a text of tokens");
  for (const std::uint32_t token : tokens) {
    if (token < tokens_) continue;
    refuse_tokens("a text of tokens", fmt::format("{}", token),
                  fmt::format("0 to {}", tokens_ - 1));
  }
  return tokens;
}

std::string TokenIds::decode(std::span<const std::uint32_t> tokens) const {
  std::string text;
  for (const std::uint32_t token : tokens) text += fmt::format(" {}", token);
  return text;
}

}  // namespace howard::language
