// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/mlir_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace howard::workload {
namespace {

constexpr std::string_view kDialect = "\"ttnn.";

/// Returns where what begins with a bracket at `at` has ended; absent if it never does. The ">" of
/// an arrow is no bracket, and texts in quotes have none.
std::optional<std::size_t> find_end_of_group(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = text.find('"', at + 1);
      if (at == std::string_view::npos) return std::nullopt;
    } else if (c == '(' || c == '<' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && text[at - 1] != '-')) {
      if (--depth == 0) return at + 1;
    }
  }
  return std::nullopt;
}

/// Returns the same of a part of a text; its end if the bracket is not closed.
std::size_t end_of_group(std::string_view text, std::size_t at) {
  return find_end_of_group(text, at).value_or(text.size());
}

/// Returns the same of a module. Throws Error, with the line, if the bracket is not closed: each
/// further op would look for its end again.
std::size_t end_in_module(std::string_view text, std::size_t at) {
  if (const auto end = find_end_of_group(text, at)) return *end;
  const auto lines = std::ranges::count(text.substr(0, at), '\n');
  throw Error({.attempted = "read a module",
               .value = fmt::format("the '{}' on line {} is not closed", text[at], lines + 1),
               .accepted = "the whole text of a module"});
}

/// Splits at the commas that are in no brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == ',') {
      const std::string_view part = trimmed(text.substr(begin, at - begin));
      if (!part.empty()) parts.push_back(part);
      begin = at + 1;
    } else if (std::string_view("(<[{\"").find(text[at]) != std::string_view::npos) {
      at = text[at] == '"' ? std::min(text.find('"', at + 1), text.size() - 1)
                           : end_of_group(text, at) - 1;
    }
  }
  return parts;
}

/// Takes "1x32x" off the beginning of a text.
std::vector<std::int64_t> take_sizes(std::string_view& text) {
  std::vector<std::int64_t> sizes;
  while (true) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto length = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || length == text.size() || text[length] != 'x') return sizes;
    sizes.push_back(size);
    text.remove_prefix(length + 1);
  }
}

DataType data_type(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, DataType>, 12> kTypes{{
      {"bfp_bf8", DataType::bfloat8_b},
      {"bfp_bf4", DataType::bfloat4_b},
      {"bf16", DataType::bfloat16},
      {"f16", DataType::bfloat16},
      {"f32", DataType::float32},
      {"u32", DataType::uint32},
      {"ui32", DataType::uint32},
      {"i32", DataType::int32},
      {"u16", DataType::uint16},
      {"ui16", DataType::uint16},
      {"u8", DataType::uint8},
      {"ui8", DataType::uint8},
  }};
  for (const auto& [name, type] : kTypes) {
    if (word.find(name) != std::string_view::npos) return type;
  }
  return DataType::uint32;
}

/// Returns the columns and rows of the grid in a layout, "<rows x columns>".
std::optional<CoreGrid> grid_in(std::string_view layout) {
  for (std::size_t at = layout.find('<'); at != std::string_view::npos;
       at = layout.find('<', at + 1)) {
    std::string sizes(layout.substr(at + 1, 16));
    std::ranges::replace(sizes, '>', 'x');
    std::ranges::replace(sizes, ',', 'x');
    std::string_view rest = sizes;
    const auto found = take_sizes(rest);
    if (found.size() >= 2 && found[0] > 0 && found[1] > 0 && found[0] <= 64 && found[1] <= 64) {
      return CoreGrid{static_cast<int>(found[1]), static_cast<int>(found[0])};
    }
  }
  return std::nullopt;
}

std::optional<ShardLayout> sharding_in(std::string_view layout) {
  if (layout.find("height_sharded") != std::string_view::npos) return ShardLayout::height;
  if (layout.find("width_sharded") != std::string_view::npos) return ShardLayout::width;
  if (layout.find("block_sharded") != std::string_view::npos) return ShardLayout::block;
  return std::nullopt;
}

std::vector<std::string> names_of(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view part : parts_of(list)) names.emplace_back(part);
  return names;
}

/// Returns the names of results: of "%3:2 = " two.
std::vector<std::string> results_of(std::string_view before) {
  before = trimmed(before);
  if (!before.ends_with('=')) return {};
  before = trimmed(before.substr(0, before.size() - 1));
  const std::size_t colon = before.find(':');
  if (colon == std::string_view::npos) return {std::string(before)};
  const auto count = parse_number(before.substr(colon + 1)).value_or(1);
  std::vector<std::string> results;
  for (int i = 0; i < static_cast<int>(count) && i < 64; ++i) {
    results.push_back(std::string(before.substr(0, colon)) + "#" + std::to_string(i));
  }
  return results;
}

/// Reads the op whose name begins behind the dialect's at `at`.
MlirOp op_at(std::string_view text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at) + 1;  // 0 on the first line
  MlirOp op{.results = results_of(text.substr(line, at - line))};
  std::size_t rest = at + kDialect.size();
  const std::size_t quote = std::min(text.find('"', rest), text.size());
  op.name = text.substr(rest, quote - rest);
  rest = quote + 1;
  bool has_operands = false;
  // Operands, properties, regions and attributes stand before the types.
  while (rest < text.size() && text[rest] != ':' && text[rest] != '\n') {
    if (std::string_view("(<{").find(text[rest]) == std::string_view::npos) {
      ++rest;
      continue;
    }
    const std::size_t end = end_in_module(text, rest);
    const std::string_view group = text.substr(rest, end - rest);
    if (group.starts_with('(') && !std::exchange(has_operands, true)) {
      op.operands = names_of(group.substr(1, group.size() - 2));
    } else if (group.starts_with("<{") && group.size() >= 4) {
      op.properties = group.substr(2, group.size() - 4);
    }
    rest = end;
  }
  const std::size_t types = text.find('(', rest);
  if (types == std::string_view::npos) return op;
  const std::size_t end = end_in_module(text, types);
  op.operand_types = names_of(text.substr(types + 1, end - types - 2));
  std::size_t to = text.find("->", end);
  if (to == std::string_view::npos || to > end + 4) return op;
  to = text.find_first_not_of(" ", to + 2);
  if (to == std::string_view::npos) return op;
  if (text[to] == '(') {
    op.result_types = names_of(text.substr(to + 1, end_of_group(text, to) - to - 2));
  } else {
    op.result_types.emplace_back(text.substr(to, end_of_group(text, to) - to));
  }
  return op;
}

}  // namespace

std::optional<std::string_view> MlirOp::property(std::string_view key) const {
  for (const std::string_view part : parts_of(properties)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || trimmed(part.substr(0, equals)) != key) continue;
    return trimmed(part.substr(equals + 1));
  }
  return std::nullopt;
}

std::vector<std::int64_t> MlirOp::numbers(std::string_view key) const {
  std::vector<std::int64_t> numbers;
  const std::string_view text = property(key).value_or("");
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (!begins || error != std::errc()) continue;
    numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data());
  }
  return numbers;
}

MlirText::MlirText(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') && equals != std::string_view::npos) {
      aliases_.emplace(line.substr(0, equals), trimmed(line.substr(equals + 3)));
    }
    at = end + 1;
  }
}

std::string_view MlirText::resolved(std::string_view attribute) const {
  const auto found = aliases_.find(trimmed(attribute));
  return found == aliases_.end() ? attribute : found->second;
}

void MlirText::each_op(const std::function<void()>& begin,
                       const std::function<void(const MlirOp&)>& visit) const {
  constexpr std::string_view kFunction = "func.func";
  bool runs = true;
  std::size_t function = text_.find(kFunction);
  for (std::size_t at = text_.find(kDialect); at != std::string_view::npos;
       at = text_.find(kDialect, at + 1)) {
    while (function < at) {
      const std::size_t end = std::min(text_.find('\n', function), text_.size());
      const std::string_view line = trimmed(text_.substr(function, end - function));
      if (line.ends_with('{')) static_cast<void>(end_in_module(text_, text_.rfind('{', end)));
      runs = text_.substr(function, end - function).find("const_eval") == std::string_view::npos;
      if (runs) begin();
      function = text_.find(kFunction, end);
    }
    const std::size_t name = at + kDialect.size();
    const std::size_t quote = text_.find('"', name);
    const auto is_letter = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    const bool is_op = quote != std::string_view::npos && quote > name &&
                       std::ranges::all_of(text_.substr(name, quote - name), is_letter);
    if (runs && is_op) visit(op_at(text_, at));
  }
}

std::optional<MlirTensor> MlirText::tensor(std::string_view type) const {
  if (!type.starts_with("tensor<") || !type.ends_with('>')) return std::nullopt;
  std::string_view inner = type.substr(7, type.size() - 8);
  const auto sizes = take_sizes(inner);
  const auto parts = parts_of(inner);
  if (parts.size() < 2) return std::nullopt;
  const std::string_view layout = resolved(parts[1]);
  const std::size_t memref = layout.find("memref<");
  if (layout.find("ttnn_layout") == std::string_view::npos || memref == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = end_of_group(layout, memref + 6);
  std::string_view held = layout.substr(memref + 7, end - memref - 8);
  const auto shard = take_sizes(held);
  const auto held_parts = parts_of(held);
  const std::string_view space = held_parts.size() > 1 ? resolved(held_parts[1]) : "";
  const bool tiles = held.find("tile<") != std::string_view::npos;

  std::array<std::int64_t, 4> sides{1, 1, 1, 1};
  constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > kMostElements / elements) return std::nullopt;
    elements *= sizes[i];
    // Leading dimensions beyond four are one.
    sides.at(i + 4 >= sizes.size() ? i + 4 - sizes.size() : 0) *= sizes[i];
  }
  const std::size_t word = tiles ? std::min(held.find(','), held.size()) : 0;
  MlirTensor made{.spec = {.shape = {sides[0], sides[1], sides[2], sides[3]},
                           .dtype = data_type(held_parts.empty() ? "" : held.substr(word)),
                           .layout = tiles ? Layout::tile : Layout::row_major},
                  .rank = static_cast<int>(sizes.size()),
                  .on_host = space.find("system_memory") != std::string_view::npos};
  if (space.find("l1") != std::string_view::npos) made.spec.storage = Storage::l1;
  const auto sharding = sharding_in(layout.substr(end));
  const auto grid = grid_in(layout.substr(layout.find("->") + 2, memref - layout.find("->") - 2));
  if (!sharding || !grid || shard.size() < 2) return made;
  if (std::ranges::any_of(shard, [](auto side) { return side < 1 || side > kMostElements / 32; })) {
    return std::nullopt;
  }
  const std::int64_t unit = tiles ? kTileSide : 1;
  made.spec.sharding = Sharding{.layout = *sharding,
                                .grid = *grid,
                                .rows = shard[shard.size() - 2] * unit,
                                .columns = shard.back() * unit};
  return made;
}

}  // namespace howard::workload
