// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/template_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace howard::language {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Leaves blanks out at the end of a text.
void strip_end(std::string& text) {
  const std::size_t last = text.find_last_not_of(kBlanks);
  text.resize(last == std::string::npos ? 0 : last + 1);
}

class TemplateLexer {
 public:
  TemplateLexer(std::string_view text, const std::string& source)
      : text_(text), place_{&source, 1} {}

  std::vector<TemplatePiece> run() {
    while (at_ < text_.size()) {
      const std::size_t tag = find_tag();
      std::string plain(text_.substr(at_, tag - at_));
      const int line = place_.line;
      pass(tag - at_);
      if (at_ < text_.size()) strip_before(plain);
      if (!plain.empty()) {
        pieces_.push_back({.kind = TemplatePiece::Kind::text, .text = plain, .line = line});
      }
      if (at_ < text_.size()) read_tag();
    }
    return std::move(pieces_);
  }

 private:
  /// Goes on by `count` bytes and counts their lines.
  void pass(std::size_t count) {
    place_.line += static_cast<int>(std::ranges::count(text_.substr(at_, count), '\n'));
    at_ += count;
  }
  bool follows(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  std::size_t find_tag() const {
    for (std::size_t i = at_; i + 1 < text_.size(); ++i) {
      if (text_[i] == '{' && std::string_view("{%#").find(text_[i + 1]) != std::string_view::npos) {
        return i;
      }
    }
    return text_.size();
  }

  /// Leaves out the blanks of a text that the tag behind it takes away.
  void strip_before(std::string& plain) const {
    const char mark = at_ + 2 < text_.size() ? text_[at_ + 2] : ' ';
    if (mark == '-') return strip_end(plain);
    if (mark == '+' || text_[at_ + 1] == '{') return;
    const std::size_t newline = plain.find_last_of('\n');
    if (newline == std::string::npos && !begins_line_) return;
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    if (plain.find_first_not_of(" \t", begin) == std::string::npos) plain.resize(begin);
  }

  void read_tag() {
    const char kind = text_[at_ + 1];
    TemplatePiece piece{
        .kind = kind == '{' ? TemplatePiece::Kind::output : TemplatePiece::Kind::statement,
        .line = place_.line};
    pass(2);
    if (kind == '#') {
      const std::size_t end = text_.find("#}", at_);
      if (end == std::string_view::npos) refuse_template(place_, "an open comment", "#} behind it");
      pass(end - at_);
      if (text_[at_ - 1] == '-') {
        pass(2);
        return strip_after();
      }
    } else {
      if (follows("-") || follows("+")) pass(1);
      const bool strips = read_tokens(piece, kind == '{' ? "}}" : "%}");
      pieces_.push_back(std::move(piece));
      if (strips) return strip_after();
    }
    if (kind == '#') pass(2);
    begins_line_ = kind != '{' && follows("\n");
    if (begins_line_) pass(1);
  }

  void strip_after() {
    const std::size_t next = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    begins_line_ = next > at_ && text_[next - 1] == '\n';
    pass(next - at_);
  }

  /// Reads code up to its end, and says whether that takes the blanks behind it away.
  bool read_tokens(TemplatePiece& piece, std::string_view end) {
    int open = 0;
    while (true) {
      while (at_ < text_.size() && kBlanks.find(text_[at_]) != std::string_view::npos) pass(1);
      if (at_ >= text_.size()) {
        refuse_template({place_.source, piece.line}, "code without an end", std::string(end));
      }
      const bool strips = open == 0 && follows("-") && text_.substr(at_ + 1).starts_with(end);
      if (strips || (open == 0 && follows(end))) {
        pass(end.size() + (strips ? 1 : 0));
        piece.tokens.push_back({.line = place_.line});
        return strips;
      }
      piece.tokens.push_back(token());
      const TemplateToken& last = piece.tokens.back();
      if (last.kind != TemplateToken::Kind::sign) continue;
      if (std::string_view("([{").find(last.text) != std::string_view::npos) ++open;
      if (std::string_view(")]}").find(last.text) != std::string_view::npos) --open;
    }
  }

  TemplateToken token() {
    const char first = text_[at_];
    TemplateToken token{.line = place_.line};
    if (first == '\'' || first == '"') {
      token.kind = TemplateToken::Kind::text;
      token.text = quoted();
    } else if (is_letter(first)) {
      token.kind = TemplateToken::Kind::name;
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
        token.text += text_[at_++];
      }
    } else if (is_digit(first)) {
      token.kind = TemplateToken::Kind::number;
      token.number = number();
    } else {
      constexpr std::array<std::string_view, 6> kPairs{"==", "!=", "<=", ">=", "//", "**"};
      token.kind = TemplateToken::Kind::sign;
      token.text = first;
      for (const std::string_view pair : kPairs) {
        if (follows(pair)) token.text = pair;
      }
      if (std::string_view("=<>!+-*/%~|.,:()[]{}").find(first) == std::string_view::npos) {
        refuse_template(place_, fmt::format("the byte {:#04x}", static_cast<unsigned char>(first)),
                        "Jinja");
      }
      pass(token.text.size());
    }
    return token;
  }

  ChatJson number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::int64_t whole = 0;
    const auto [after, failure] = std::from_chars(begin, end, whole);
    if (failure != std::errc()) refuse_template(place_, "a number too large", "64 bits");
    at_ += static_cast<std::size_t>(after - begin);
    const bool is_whole = after + 1 >= end || *after != '.' || !is_digit(after[1]);
    if (is_whole) return whole;
    double value = 0;
    const auto [last, wrong] = std::from_chars(begin, end, value, std::chars_format::fixed);
    if (wrong != std::errc()) refuse_template(place_, "a number too large", "a float64");
    at_ += static_cast<std::size_t>(last - after);
    return value;
  }

  std::string quoted() {
    const char quote = text_[at_];
    const int line = place_.line;
    pass(1);
    std::string text;
    while (at_ < text_.size() && text_[at_] != quote) {
      char next = text_[at_];
      if (next == '\\' && at_ + 1 < text_.size()) {
        pass(1);
        constexpr std::string_view kNames = "ntr\\'\"", kMeant = "\n\t\r\\'\"";
        const std::size_t found = kNames.find(text_[at_]);
        if (found == std::string_view::npos) {
          refuse_template(place_, fmt::format("the escape \\{} in a text", text_[at_]),
                          "\\n, \\t, \\r, \\\\, \\' and \\\"");
        }
        next = kMeant[found];
      }
      text += next;
      pass(1);
    }
    if (at_ >= text_.size()) refuse_template({place_.source, line}, "an open text", "its end");
    pass(1);
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  TemplatePlace place_;
  bool begins_line_ = true;  ///< True if what follows stands at the beginning of a line.
  std::vector<TemplatePiece> pieces_;
};

}  // namespace

std::vector<TemplatePiece> template_pieces(std::string_view text, const std::string& source) {
  // As Jinja does, it leaves out one newline at the end.
  if (text.ends_with('\n')) text.remove_suffix(1);
  return TemplateLexer(text, source).run();
}

}  // namespace howard::language
