// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

/// Returns a tensor of the same kind and another shape, whose shards are not known.
TensorSpec reshaped(TensorSpec spec, const Shape& shape) {
  const Sides& sides = shape.dimensions();
  require_size({sides[0], sides[1], sides[2], sides[3]});
  spec.shape = shape;
  spec.sharding.reset();
  return spec;
}

/// Returns the number of places of a sequence in a cache, in pages or whole.
std::int64_t places_of(const Call& call, std::int64_t sequences) {
  const Shape& keys = call.in(1).shape;
  if (!call.attributes.flag("paged_attention").value_or(keys.outer() != sequences)) {
    return keys.rows();
  }
  // The table of pages has a row for each sequence.
  for (std::size_t i = 3; i < call.inputs(); ++i) {
    const TensorCells& cells = call.cells(i);
    const bool numbers = cells.datatype.ends_with("INT32") || cells.datatype.ends_with("INT16");
    const auto rows = parse_side(cells.dimensions[2]), columns = parse_side(cells.dimensions[3]);
    if (numbers && rows && columns && rows->logical == sequences && columns->logical > 0) {
      require_size({columns->logical, keys.rows()});
      return columns->logical * keys.rows();
    }
  }
  return std::max<std::int64_t>(1, keys.outer() / sequences) * keys.rows();
}

/// Returns the places of the longest sequence that are seen; 0 if the log does not tell, because
/// the position is a tensor.
std::int64_t seen_places(const Call& call, std::int64_t all) {
  if (!call.attributes.flag("is_causal").value_or(true)) return all;
  std::string_view text = call.attributes.find("cur_pos").value_or("");
  std::int64_t last = -1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789"));
    if (const auto number = parse_integer(text.substr(0, end))) last = std::max(last, *number);
    text.remove_prefix(std::max<std::size_t>(1, end));
  }
  return std::min(last, all - 1) + 1;  // the position may be the largest number of all
}

/// Returns an operand of attention in the type of the keys, which are read most: the kernel takes
/// queries and results of another one.
TensorSpec in_type_of_keys(const Call& call, TensorSpec spec) {
  spec.dtype = call.in(1).dtype;
  spec.sharding.reset();
  return spec;
}

struct CacheAndRows {
  TensorSpec cache, rows;
};

/// Returns the first two operands. ttnn lists the cache first, which is the result too. Where two
/// caches are updated together, on cores of their own, the first takes as long as both.
CacheAndRows cache_of(const Call& call) {
  const bool first = call.in(0).shape == call.out().shape;
  return {call.in(first ? 0 : 1), call.in(first ? 1 : 0)};
}

}  // namespace

Program attention(const Call& call) {
  if (call.attributes.find("chunk_start_idx")) return chunked_attention(call);
  const auto attributes = told<AttentionAttributes>(call);
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < 3; ++i) operands.push_back(in_type_of_keys(call, call.in(i)));
  // A mask lies behind k and v; other operands are tables and sinks.
  if (call.inputs() > 3 && !attributes.causal && call.cells(3).layout == "TILE") {
    operands.push_back(call.in(3));
  }
  return make_program(attributes, std::move(operands), {in_type_of_keys(call, call.out())});
}

Program chunked_attention(const Call& call) {
  // The queries are the last of the places that lie in the pages so far.
  const TensorSpec q = in_type_of_keys(call, call.in(0));
  const Shape& keys = call.in(1).shape;
  const auto start = parse_integer(call.attributes.find("chunk_start_idx").value_or(""));
  constexpr std::int64_t kMostPlaces = 1 << 30;
  if (!start || *start < 0 || *start > kMostPlaces)
    refuse("no chunk_start_idx among its attributes", "a place");
  const TensorSpec all = reshaped(
      call.in(1), {q.shape.outer(), keys.heads(), *start + q.shape.rows(), keys.columns()});
  auto whole = told<AttentionAttributes>(call);
  whole.causal = *start == 0;
  if (!whole.causal) whole.window = 0;  // Nothing says which places of the pages are seen.
  return make_program(whole, {q, all, all}, {in_type_of_keys(call, call.out())});
}

Program joint_attention(const Call& call) {
  constexpr std::size_t kOwn = 3;
  std::vector<Operand> joined;
  for (std::size_t i = 0; i < kOwn; ++i) {
    const TensorSpec spec = in_type_of_keys(call, call.in(i));
    const Sides& sides = spec.shape.dimensions();
    const std::int64_t rows = sides[2] + call.in(kOwn + i).shape.rows();
    joined.push_back(reshaped(spec, {sides[0], sides[1], rows, sides[3]}));
  }
  return make_program(told<AttentionAttributes>(call), joined, {joined[0]});
}

Program decode_attention(const Call& call) {
  if (call.attributes.flag("use_mla").value_or(false)) refuse("keys that are values too", "both");
  const TensorSpec& q = call.in(0);
  const Shape& keys = call.in(1).shape;
  const std::int64_t sequences = q.shape.heads();
  const std::int64_t heads = std::max(q.shape.rows(), keys.heads());
  const std::int64_t all = places_of(call, sequences);
  const TensorSpec cache = reshaped(call.in(1), {sequences, keys.heads(), all, keys.columns()});
  const TensorSpec query =
      reshaped(q, {sequences, heads / keys.heads() * keys.heads(), 1, q.shape.columns()});
  auto attributes = told<DecodeAttentionAttributes>(call);
  attributes.seen = seen_places(call, all);
  const TensorSpec position{
      .shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  return make_program(attributes, {query, cache, cache, position}, {query});
}

Program update_cache(const Call& call) {
  const auto [cache, x] = cache_of(call);
  const bool fills = call.attributes.find("op_type").value_or("").ends_with("FILL");
  if (fills || x.shape.outer() != 1) return fill_cache(call);
  // In 2024 the sequences were the rows of each head.
  const bool turned = chip::stem_of(call.code) == "UpdateKVCache";
  const TensorSpec rows = turned ? reshaped(x, x.shape.heads_swapped()) : x;
  return make_program(PagedUpdateCacheAttributes{}, {rows, cache}, {cache});
}

Program fill_cache(const Call& call) {
  const auto [cache, x] = cache_of(call);
  return make_program(PagedFillCacheAttributes{}, {x, cache}, {cache});
}

Program rotary(const Call& call) {
  // The tables hold as many places as x has rows; in a decoding step all rows have one place. Of a
  // fused pair, the heads of q take longest.
  const RotaryEmbeddingAttributes halves{.style = RotaryStyle::halves};
  const bool is_halves = chip::stem_of(call.code) == chip::stem_of(halves.ttnn());
  const TensorSpec& x = call.in(0);
  TensorSpec table = x;
  table.shape = {x.shape.rows(), x.shape.columns()};
  table.sharding.reset();
  TensorSpec out = x;
  out.dtype = call.out().dtype;
  return make_program(is_halves ? halves : RotaryEmbeddingAttributes{}, {x, table, table}, {out});
}

}  // namespace howard::profiler::logged
