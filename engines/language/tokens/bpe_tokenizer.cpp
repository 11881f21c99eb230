// SPDX-License-Identifier: Apache-2.0
#include "engines/language/tokens/bpe_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace howard::language {
namespace {

constexpr std::string_view kBlankMark = "\xe2\x96\x81";  // U+2581

std::string utf8_of(std::uint32_t point) {
  if (point < 0x80) return {static_cast<char>(point)};
  return {static_cast<char>(0xc0U | point >> 6U), static_cast<char>(0x80U | (point & 0x3fU))};
}

/// Returns GPT-2's printable character for each byte: the byte itself if it is printable in
/// Latin-1, otherwise a character from 256 on.
const std::array<std::string, 256>& characters_of_bytes() {
  static const std::array<std::string, 256> kCharacters = [] {
    std::array<std::string, 256> all;
    std::uint32_t next = 256;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
                             (byte >= 174 && byte <= 255);
      all[byte] = utf8_of(printable ? byte : next++);
    }
    return all;
  }();
  return kCharacters;
}

const std::unordered_map<std::string, char>& bytes_of_characters() {
  static const std::unordered_map<std::string, char> kBytes = [] {
    std::unordered_map<std::string, char> all;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      all.emplace(characters_of_bytes()[byte], static_cast<char>(byte));
    }
    return all;
  }();
  return kBytes;
}

/// Returns the length of the character that begins `text`, or 1 if it is not UTF-8.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) return 1;
  }
  return length;
}

std::string byte_token(char byte) {
  return fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
}

std::string with_marks(std::string_view text) {
  std::string marked;
  for (const char byte : text) {
    if (byte == ' ') {
      marked += kBlankMark;
    } else {
      marked += byte;
    }
  }
  return marked;
}

[[noreturn]] void refuse_tokenizer(const std::string& source, std::string value,
                                   std::string accepted) {
  throw Error({.attempted = "read the tokenizer in " + source,
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

}  // namespace

BpeTokenizer::BpeTokenizer(std::string_view json, const std::string& source) : source_(source) {
  const BpeFile file = parse_bpe_file(json, source);
  spelling_ = file.spelling;
  prefix_ = file.prefix;
  prefixes_blanks_ = file.prefixes_blanks;
  takes_whole_pieces_ = file.takes_whole_pieces;
  for (const std::string& pattern : file.patterns) {
    patterns_.push_back(std::make_unique<TextPieces>(pattern, source));
  }
  take_tokens(file);
  take_merges(file);
  if (file.unknown) unknown_ = find(*file.unknown);
  if (file.begin) begin_ = find(*file.begin);
}

/// Returns the bytes that a token of the vocabulary stands for.
std::string BpeTokenizer::bytes_of(const std::string& spelled) const {
  std::string bytes;
  std::string_view left = spelled;
  if (spelling_ == BpeFile::Spelling::blanks) {
    if (left.size() == 6 && left.starts_with("<0x") && left.ends_with('>')) {
      for (int byte = 0; byte < 256; ++byte) {
        if (byte_token(static_cast<char>(byte)) == left) return {static_cast<char>(byte)};
      }
    }
    for (std::size_t at = left.find(kBlankMark); at != std::string_view::npos;
         at = left.find(kBlankMark)) {
      bytes.append(left.substr(0, at)) += ' ';
      left.remove_prefix(at + kBlankMark.size());
    }
    return bytes.append(left);
  }
  while (!left.empty()) {
    const std::size_t length = character_length(left);
    const auto found = bytes_of_characters().find(std::string(left.substr(0, length)));
    // A character that stands for no byte is a mark and stands for itself.
    if (found == bytes_of_characters().end()) return spelled;
    bytes += found->second;
    left.remove_prefix(length);
  }
  return bytes;
}

void BpeTokenizer::take_tokens(const BpeFile& file) {
  std::vector<bool> taken;
  const auto place = [&](std::uint32_t id, const std::string& text, const std::string& token) {
    if (texts_.size() <= id) {
      texts_.resize(std::size_t{id} + 1);
      taken.resize(std::size_t{id} + 1);
    }
    if (taken[id]) {
      refuse_tokenizer(source_, fmt::format("'{}' has the number {} of another token", token, id),
                       "a number for each token");
    }
    taken[id] = true;
    texts_[id] = text;
  };
  for (const auto& [token, id] : file.vocabulary) {
    place(id, bytes_of(token), token);
    tokens_.emplace(token, id);
  }
  for (const auto& [token, id] : file.added) {
    const auto found = tokens_.find(token);
    if (found == tokens_.end()) {
      place(id, token, token);
      tokens_.emplace(token, id);
    } else if (found->second != id) {
      refuse_tokenizer(source_, fmt::format("'{}' is {} and {}", token, found->second, id),
                       "a number for each token");
    }
    texts_[id] = token;
    added_[token.front()].emplace_back(token, id);
  }
  for (auto& [first, all] : added_) {
    std::ranges::stable_sort(all, std::greater{},
                             [](const auto& entry) { return entry.first.size(); });
  }
}

void BpeTokenizer::take_merges(const BpeFile& file) {
  std::size_t number = 0;
  for (const auto& [left, right] : file.merges) {
    ++number;
    const auto require = [&](const std::string& token) {
      const auto found = find(token);
      if (found) return *found;
      refuse_tokenizer(source_,
                       fmt::format("merge {} needs '{}', which is no token", number, token),
                       "merges of tokens to tokens");
    };
    const std::uint32_t first = require(left);
    const std::uint32_t second = require(right);
    if (!merges_.add(first, second, require(left + right))) {
      refuse_tokenizer(source_,
                       fmt::format("merge {} of '{}' and '{}' is there twice", number, left, right),
                       "each merge once");
    }
  }
}

std::optional<std::uint32_t> BpeTokenizer::find(const std::string& text) const {
  const auto found = tokens_.find(text);
  return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the length of the added token that begins `text`, or 0 if none does.
std::size_t BpeTokenizer::length_of_added(std::string_view text, std::uint32_t& token) const {
  const auto found = added_.find(text.front());
  if (found == added_.end()) return 0;
  for (const auto& [content, id] : found->second) {
    if (!text.starts_with(content)) continue;
    token = id;
    return content.size();
  }
  return 0;
}

std::vector<std::uint32_t> BpeTokenizer::encode(std::string_view text) const {
  std::vector<std::uint32_t> tokens;
  std::size_t plain = 0;  // Where the text began that no added token has interrupted.
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t token = 0;
    const std::size_t length = added_.empty() ? 0 : length_of_added(text.substr(at), token);
    if (length == 0) {
      ++at;
      continue;
    }
    encode_plain(text.substr(plain, at - plain), plain == 0, tokens);
    tokens.push_back(token);
    plain = at += length;
  }
  encode_plain(text.substr(plain), plain == 0, tokens);
  return tokens;
}

void BpeTokenizer::encode_plain(std::string_view text, bool is_first,
                                std::vector<std::uint32_t>& to) const {
  if (text.empty()) return;
  const bool blanks = spelling_ == BpeFile::Spelling::blanks;
  std::string changed;
  const bool wants_blank =
      prefix_ == BpeFile::Prefix::each || (prefix_ == BpeFile::Prefix::first && is_first);
  if (wants_blank && (prefixes_blanks_ || text.front() != ' ')) {
    changed = " " + std::string(text);
    text = changed;
  }
  std::string marked;
  if (blanks) text = marked = with_marks(text);
  std::vector<std::string_view> pieces{text};
  for (const auto& pattern : patterns_) {
    std::vector<std::string_view> finer;
    for (const std::string_view piece : pieces) {
      const std::vector<std::string_view> parts = pattern->pieces(piece);
      finer.insert(finer.end(), parts.begin(), parts.end());
    }
    pieces = std::move(finer);
  }
  Cache known;
  for (const std::string_view piece : pieces) {
    auto found = known.find(piece);
    if (found == known.end()) found = known.emplace(piece, encode_piece(piece)).first;
    to.insert(to.end(), found->second.begin(), found->second.end());
  }
}

/// Adds the token of one character, or the tokens of its bytes.
void BpeTokenizer::spell(std::string_view character, std::vector<std::uint32_t>& to) const {
  if (const auto token = find(std::string(character))) return to.push_back(*token);
  std::vector<std::uint32_t> bytes;
  for (const char byte : character) {
    const auto token = find(byte_token(byte));
    if (token && spelling_ == BpeFile::Spelling::blanks) bytes.push_back(*token);
  }
  if (bytes.size() == character.size()) {
    to.insert(to.end(), bytes.begin(), bytes.end());
  } else if (unknown_) {
    to.push_back(*unknown_);
  } else {
    throw Error({.attempted = "read a text with " + source_,
                 .value = fmt::format("'{}' has no token", character),
                 .accepted = "what the tokenizer's vocabulary can spell"});
  }
}

std::vector<std::uint32_t> BpeTokenizer::encode_piece(std::string_view piece) const {
  const bool bytes = spelling_ == BpeFile::Spelling::bytes;
  std::string spelled;
  std::vector<std::uint32_t> tokens;
  if (bytes) {
    for (const char byte : piece) {
      spelled += characters_of_bytes()[static_cast<unsigned char>(byte)];
    }
    piece = spelled;
  }
  if (takes_whole_pieces_) {
    if (const auto whole = find(std::string(piece))) return {*whole};
  }
  while (!piece.empty()) {
    const std::size_t length = character_length(piece);
    spell(piece.substr(0, length), tokens);
    piece.remove_prefix(length);
  }
  return merges_.merged(std::move(tokens));
}

std::string BpeTokenizer::decode(std::span<const std::uint32_t> tokens) const {
  std::string text;
  for (const std::uint32_t token : tokens) {
    if (token < texts_.size()) text += texts_[token];
  }
  const bool has_blank = prefix_ != BpeFile::Prefix::none && text.starts_with(' ');
  if (has_blank && spelling_ == BpeFile::Spelling::blanks) text.erase(0, 1);
  return text;
}

}  // namespace howard::language
