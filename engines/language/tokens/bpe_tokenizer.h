// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engines/language/tokens/bpe_merges.h"
#include "engines/language/tokens/text_pieces.h"
#include "engines/language/tokens/tokenizer.h"

namespace howard::language {

/// Holds what BpeTokenizer takes from a tokenizer.json.
struct BpeFile {
  /// Says how the tokens of the vocabulary are spelled.
  enum class Spelling : std::uint8_t {
    bytes,   ///< A printable character for each byte, as GPT-2 and Llama 3 do.
    blanks,  ///< U+2581 for blanks, and <0xNN> for bytes without a token, as Llama 2 does.
  };

  /// Says where a blank is put before a text: nowhere, before all of it, or before each part of it
  /// that lies between two added tokens.
  enum class Prefix : std::uint8_t { none, first, each };

  Spelling spelling = Spelling::bytes;
  /// Applied one after the other; if empty, texts are not divided.
  std::vector<std::string> patterns;
  Prefix prefix = Prefix::none;
  bool prefixes_blanks = false;        ///< Also if the text begins with a blank.
  bool takes_whole_pieces = false;     ///< A piece that is a token is not merged.
  std::optional<std::string> unknown;  ///< The token for bytes that have none.
  std::optional<std::string> begin;    ///< The token that the file puts before a text.
  std::vector<std::pair<std::string, std::uint32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;
  /// These are taken whole, before everything else.
  std::vector<std::pair<std::string, std::uint32_t>> added;
};

/// Reads a tokenizer.json of Hugging Face's library: a byte-pair encoding with its normalizer,
/// pre-tokenizer and added tokens. `source` names the file in messages. Throws Error, naming what
/// is wrong, for a text that is no such JSON, for another model, for a step that is not built here
/// (by its type), for a token that is there twice or out of range, and for a merge of missing
/// tokens.
BpeFile parse_bpe_file(std::string_view json, const std::string& source);

/// A byte-pair encoding.
class BpeTokenizer final : public Tokenizer {
 public:
  /// Throws Error as parse_bpe_file() does.
  BpeTokenizer(std::string_view json, const std::string& source);

  /// Returns one more than the greatest token.
  std::int64_t tokens() const override { return static_cast<std::int64_t>(texts_.size()); }
  /// Throws Error for a byte that has no token if the file has no token for unknown ones.
  std::vector<std::uint32_t> encode(std::string_view text) const override;
  /// Leaves out the blank that encode() puts before the text.
  std::string decode(std::span<const std::uint32_t> tokens) const override;
  std::optional<std::uint32_t> begin() const override { return begin_; }
  /// Returns the token of that text, if there is one.
  std::optional<std::uint32_t> find(const std::string& text) const;

 private:
  using Cache = std::unordered_map<std::string_view, std::vector<std::uint32_t>>;

  void take_tokens(const BpeFile& file);
  void take_merges(const BpeFile& file);
  std::string bytes_of(const std::string& spelled) const;
  std::size_t length_of_added(std::string_view text, std::uint32_t& token) const;
  void encode_plain(std::string_view text, bool is_first, std::vector<std::uint32_t>& to) const;
  std::vector<std::uint32_t> encode_piece(std::string_view piece) const;
  void spell(std::string_view character, std::vector<std::uint32_t>& to) const;

  std::string source_;
  BpeFile::Spelling spelling_;
  BpeFile::Prefix prefix_;
  bool prefixes_blanks_, takes_whole_pieces_;
  std::vector<std::unique_ptr<TextPieces>> patterns_;
  std::unordered_map<std::string, std::uint32_t> tokens_;  ///< As the file spells them.
  std::vector<std::string> texts_;                         ///< The bytes of each token.
  BpeMerges merges_;
  /// The added tokens by their first bytes, the longest first.
  std::unordered_map<char, std::vector<std::pair<std::string, std::uint32_t>>> added_;
  std::optional<std::uint32_t> unknown_, begin_;
};

}  // namespace howard::language
