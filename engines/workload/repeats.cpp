// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"

namespace howard::workload {
namespace {

/// The rows of a repeat are looked for in as many before them. A step of a large model has more,
/// but its layers do not.
constexpr std::size_t kLongest = 512;
/// A repeat that saves fewer rows is no shorter than they are.
constexpr std::size_t kLeastSaved = 4;
/// Stands for a number in the form of a row.
constexpr char kNumber = '#';

struct Row {
  std::string form;  ///< ["call",#]
  std::vector<std::int64_t> numbers;
  std::size_t kind = 0;  ///< Rows of one form have one.
};

std::vector<Row> rows_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::size_t> kinds;
  std::vector<Row> rows;
  rows.reserve(texts.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const std::string& text : texts) {
    Row& row = rows.emplace_back();
    for (auto at = text.begin(); at != text.end();) {
      const auto end = std::find_if_not(at, text.end(), is_digit);
      if (end == at) {
        row.form += *at++;
        continue;
      }
      row.form += kNumber;
      row.numbers.push_back(parse_integer(std::string(at, end)).value());
      at = end;
    }
    row.kind = kinds.emplace(row.form, kinds.size()).first->second;
  }
  return rows;
}

/// Returns a row whose numbers move on to those of `next` in the next turn.
std::string text_of(const Row& row, const Row& next) {
  std::string text;
  std::size_t place = 0;
  for (const char c : row.form) {
    if (c != kNumber) {
      text += c;
      continue;
    }
    const std::int64_t first = row.numbers[place], step = next.numbers[place] - first;
    text += step == 0 ? std::to_string(first) : fmt::format("\"{}{:+}\"", first, step);
    ++place;
  }
  return text;
}

/// Says whether the numbers of three rows of one form move on evenly.
bool are_even(const Row& a, const Row& b, const Row& c) {
  if (a.kind != b.kind || b.kind != c.kind) return false;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    if (c.numbers[i] - b.numbers[i] != b.numbers[i] - a.numbers[i]) return false;
  }
  return true;
}

struct Repeat {
  std::size_t rows = 1, times = 1;
  std::size_t saved() const { return rows * (times - 1); }
};

/// Returns the repeat from `begin` on that saves most rows.
Repeat longest_repeat(const std::vector<Row>& rows, std::size_t begin) {
  Repeat best;
  const std::size_t left = rows.size() - begin;
  for (std::size_t period = 1; period <= std::min(kLongest, left / 3); ++period) {
    std::size_t even = 0;
    for (std::size_t at = begin; at + 2 * period < rows.size(); ++at, ++even) {
      if (!are_even(rows[at], rows[at + period], rows[at + 2 * period])) break;
    }
    if (even < period) continue;
    const Repeat found{period, even / period + 2};
    if (found.saved() > best.saved()) best = found;
  }
  return best;
}

}  // namespace

std::string rows_text(const std::vector<std::string>& texts) {
  const std::vector<Row> rows = rows_of(texts);
  const bool repeats = std::cmp_less_equal(rows.size(), kMostRepeatedRows);
  std::string text;
  bool follows = false;  // a row on the same line
  for (std::size_t i = 0; i < rows.size();) {
    const Repeat repeat = repeats ? longest_repeat(rows, i) : Repeat();
    const bool is_row = repeat.saved() < kLeastSaved;
    if (i > 0) text += ",";
    if (!is_row || !follows) text += "\n";
    follows = is_row;
    if (is_row) {
      text += texts[i++];
      continue;
    }
    text += fmt::format("{{\"repeat\":{},\"of\":[", repeat.times);
    for (std::size_t k = i; k < i + repeat.rows; ++k) {
      if (k > i) text += ",";
      text += text_of(rows[k], rows[k + repeat.rows]);
    }
    text += "]}";
    i += repeat.rows * repeat.times;
  }
  return text;
}

std::int64_t RowReader::number(const JsonNode& node, std::int64_t most) const {
  if (!node.is_text()) return node.integer(0, most);
  const std::string text = node.text();
  const std::size_t sign = std::min(text.find_first_of("+-"), text.size());
  const auto first = parse_integer(text.substr(0, sign));
  const auto step = parse_integer(text.substr(std::min(sign + 1, text.size())));
  // A step may be larger than `most`, which grows from turn to turn where the number is that of an
  // earlier row. No product of a step and a turn is too large for its type.
  constexpr std::int64_t kMostStep = std::numeric_limits<std::uint32_t>::max();
  if (!first || !step || *first < 0 || *first > most || *step < 0 || *step > kMostStep) {
    node.fail(R"(a number and its step, such as "40+22")");
  }
  const std::int64_t moved = *first + (text[sign] == '-' ? -1 : 1) * turn_ * *step;
  if (moved < 0 || moved > most) {
    node.fail(fmt::format("numbers from 0 to {}: turn {} has {}", most, turn_, moved));
  }
  return moved;
}

}  // namespace howard::workload
