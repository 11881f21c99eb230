// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engines/chip/kernels/ttnn_names.h"
#include "engines/ops/tensor.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

constexpr std::int64_t kMostHeads = 1 << 20;

/// Returns a tensor of the same kind and another shape, whose shards are not known.
TensorSpec reshaped(TensorSpec spec, const Shape& shape) {
  const Sides& sides = shape.dimensions();
  require_size({sides[0], sides[1], sides[2], sides[3]});
  spec.shape = shape;
  spec.sharding.reset();
  return spec;
}

/// Returns a number of heads by the first of its names that the call has.
int heads_of(const Call& call, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto text = call.attributes.find(name);
    if (!text) continue;
    const auto number = parse_integer(*text);
    if (!number || *number < 1 || *number > kMostHeads) {
      refuse(fmt::format("{} '{}'", name, *text), "1 to 1048576 heads");
    }
    return static_cast<int>(*number);
  }
  refuse(fmt::format("no {} among its attributes", *names.begin()), "a number of heads");
}

/// Returns whether the exponential is the fast one, as it is unless the call says otherwise.
bool is_approximate(const Call& call) {
  const auto fast = call.attributes.member("program_config", "exp_approx_mode");
  return fast != "0" && fast != "false";
}

AttentionAttributes attention_attributes(const Call& call) {
  constexpr std::int64_t kMostRows = 1 << 20;
  const auto chunk = [&](std::string_view name) {
    const std::int64_t rows = member_or(call, "program_config", name, kTileSide);
    return std::clamp(ceil_div(rows, kTileSide) * kTileSide, kTileSide, kMostRows);
  };
  return {.causal = call.attributes.flag("is_causal").value_or(false),
          .query_chunk = chunk("q_chunk_size"),
          .key_chunk = chunk("k_chunk_size"),
          .approximate = is_approximate(call),
          .compute = compute_of(call)};
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

/// Returns results in the memory of the first output. The first of them, and those like it, have
/// its shards.
std::vector<Operand> where_out_is(const Call& call, const SpecList& made) {
  std::vector<Operand> results;
  for (TensorSpec spec : made) {
    spec.storage = call.out().storage;
    spec.dtype = call.out().dtype;
    if (results.empty() || spec.shape == made[0].shape) spec.sharding = call.out().sharding;
    results.push_back(spec);
  }
  return results;
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
  const AttentionAttributes attributes = attention_attributes(call);
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
  const AttentionAttributes attributes = attention_attributes(call);
  const TensorSpec q = in_type_of_keys(call, call.in(0));
  const Shape& keys = call.in(1).shape;
  const auto start = parse_integer(call.attributes.find("chunk_start_idx").value_or(""));
  constexpr std::int64_t kMostPlaces = 1 << 30;
  if (!start || *start < 0 || *start > kMostPlaces)
    refuse("no chunk_start_idx among its attributes", "a place");
  const TensorSpec all = reshaped(
      call.in(1), {q.shape.outer(), keys.heads(), *start + q.shape.rows(), keys.columns()});
  AttentionAttributes whole = attributes;
  whole.causal = *start == 0;
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
  return make_program(attention_attributes(call), joined, {joined[0]});
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
  constexpr std::int64_t kMostRows = 1 << 16;
  const std::int64_t chunk = member_or(call, "program_config", "k_chunk_size", 0);
  const std::int64_t cores = member_or(call, "program_config", "max_cores_per_head_batch", 16);
  const DecodeAttentionAttributes attributes{
      .seen = seen_places(call, all),
      .key_chunk = std::clamp<std::int64_t>(chunk, 0, kMostRows),
      .cores_of_head = static_cast<int>(std::clamp<std::int64_t>(cores, 1, 1 << 10)),
      .approximate = is_approximate(call),
      .compute = compute_of(call)};
  const TensorSpec position{
      .shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  return make_program(attributes, {query, cache, cache, position}, {query});
}

Program split_heads(const Call& call) {
  const int heads = heads_of(call, {"num_q_heads", "num_heads"});
  const int groups =
      call.attributes.find("num_kv_heads") ? heads_of(call, {"num_kv_heads"}) : heads;
  const bool transposes = call.attributes.flag("transpose_k_heads")
                              .value_or(call.attributes.flag("transpose_k").value_or(false));
  std::vector<Operand> inputs{call.in(0)};
  Attributes op = SplitHeadsAttributes{heads, groups, transposes};
  SpecList made;
  if (call.inputs() > 1) {
    inputs.push_back(call.in(1));
    op = SplitGroupsAttributes{heads, groups, transposes};
    made = results_of(op, std::array{call.in(0), call.in(1)});
  } else {
    made = results_of(op, std::array{call.in(0)});
  }
  return make_program(op, std::move(inputs), where_out_is(call, made));
}

Program split_heads_decode(const Call& call) {
  const SplitHeadsDecodeAttributes op{.heads = heads_of(call, {"num_q_heads", "num_heads"}),
                                      .groups = heads_of(call, {"num_kv_heads"})};
  const SpecList made = results_of(op, std::array{call.in(0)});
  return make_program(op, {call.in(0)}, where_out_is(call, made));
}

Program concat_heads(const Call& call) {
  const ConcatHeadsAttributes op;
  return make_program(op, {call.in(0)}, where_out_is(call, results_of(op, std::array{call.in(0)})));
}

Program concat_heads_decode(const Call& call) {
  const ConcatHeadsDecodeAttributes op{.heads = heads_of(call, {"num_heads"})};
  return make_program(op, {call.in(0)}, where_out_is(call, results_of(op, std::array{call.in(0)})));
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
  const bool halves = chip::stem_of(call.code) == chip::stem_of(chip::operation::kRotaryHalves);
  const TensorSpec& x = call.in(0);
  TensorSpec table = x;
  table.shape = {x.shape.rows(), x.shape.columns()};
  table.sharding.reset();
  TensorSpec out = x;
  out.dtype = call.out().dtype;
  return make_program(
      RotaryEmbeddingAttributes{.style = halves ? RotaryStyle::halves : RotaryStyle::pairs},
      {x, table, table}, {out});
}

}  // namespace howard::profiler::logged
