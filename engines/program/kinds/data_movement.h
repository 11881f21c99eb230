// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/program/operands.h"

namespace howard {

/// A number for each of the four dimensions of a shape.
using Sides = std::array<std::int64_t, 4>;

/// Says which two dimensions of [n, c, h, w] are swapped.
enum class Swap : std::uint8_t {
  rows_columns,  ///< h and w, as ttnn's transpose WH
  heads_rows,    ///< c and h, as ttnn's transpose HC
};
inline constexpr std::array<std::string_view, 2> kSwaps{"rows_columns", "heads_rows"};

struct TransposeAttributes {
  static constexpr std::string_view kName = "transpose";
  static constexpr std::string_view kTtnn = "TransposeDeviceOperation";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};
  static constexpr Leeway kLeeway{.layout = true};

  Swap swap = Swap::rows_columns;

  static void fields(auto& self, auto&& visit) {
    visit({"swap", "dim=TransposeOpDim::WH/TransposeOpDim::HC"}, self.swap, kSwaps);
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const TransposeAttributes&, const TransposeAttributes&) = default;
};

/// Keeps the elements in row order under another shape, in tile layout; this moves data. The shape
/// is the result's.
struct ReshapeAttributes {
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kTtnn = "ReshapeDeviceOperation";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any_in_tiles("result")};

  static void check(Specs in, Specs out);

  friend auto operator<=>(const ReshapeAttributes&, const ReshapeAttributes&) = default;
};

/// Repeats each head: [n, h, s, d] becomes [n, h count, s, d], where copies lie one after the
/// other. The count follows from the result.
struct RepeatAttributes {
  static constexpr std::string_view kName = "repeat";
  static constexpr std::string_view kTtnn = "RepeatDeviceOperation";
  static constexpr std::string_view kShown = "repeat_heads";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};

  static void check(Specs in, Specs out);

  friend auto operator<=>(const RepeatAttributes&, const RepeatAttributes&) = default;
};

/// Tilizes or untilizes: the result is the same tensor in the other layout.
struct LayoutAttributes {
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};
  static constexpr Leeway kLeeway{.dtype = true};

  Layout to = Layout::tile;
  bool use_multicore = true;  ///< If false, one core does it all.

  static void fields(auto& self, auto&& visit) {
    visit({"use_multicore", "use_multicore"}, self.use_multicore);
  }
  /// There is an op for each layout.
  static std::vector<LayoutAttributes> all();
  std::string_view name() const { return to == Layout::tile ? "tilize" : "untilize"; }
  std::string_view ttnn() const {
    return to == Layout::tile ? "TilizeDeviceOperation" : "UntilizeDeviceOperation";
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const LayoutAttributes&, const LayoutAttributes&) = default;
};

/// Brings a tensor to other memory: from DRAM to L1, or into other shards.
struct MemoryMoveAttributes {
  static constexpr std::string_view kName = "copy";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};
  static constexpr Leeway kLeeway{.dtype = true};

  static std::string_view ttnn(Specs in, Specs out);
  static SpecList results(Specs in) { return {in[0]}; }

  friend auto operator<=>(const MemoryMoveAttributes&, const MemoryMoveAttributes&) = default;
};

/// Copies the tiles of the first result from anywhere. It stands for ops of scripts that move data
/// and have no kernel of their own here: no device with values has it.
struct MoveTilesAttributes {
  static constexpr std::string_view kName = "move";
  static constexpr std::string_view kTtnn = "ConcatDeviceOperation";
  static constexpr std::array kInputs{role::many(role::any("x"))};
  static constexpr std::array kResults{role::many(role::any("result"))};

  static void check(Specs, Specs) {}

  friend auto operator<=>(const MoveTilesAttributes&, const MoveTilesAttributes&) = default;
};

/// Puts all operands side by side along one dimension.
struct ConcatAttributes {
  static constexpr std::string_view kName = "concat";
  static constexpr std::string_view kTtnn = "ConcatDeviceOperation";
  static constexpr std::array kInputs{role::many(role::any("part"))};
  static constexpr std::array kResults{role::any("result")};

  int dimension = 3;

  static void fields(auto& self, auto&& visit) {
    visit({"dimension", "dim"}, self.dimension, Whole{0, 3});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const ConcatAttributes&, const ConcatAttributes&) = default;
};

/// Splits [n, 1, s, (heads + 2 groups) d] into q [n, heads, s, d], and k and v, each [n, groups, s,
/// d]. The columns hold q first, then k, then v.
struct SplitHeadsAttributes {
  static constexpr std::string_view kName = "split_heads";
  static constexpr std::string_view kTtnn = "NlpCreateHeadsDeviceOperation";
  static constexpr std::array kInputs{role::reals("qkv")};
  static constexpr std::array kResults{role::reals("q"), role::reals("k"), role::reals("v")};

  int heads = 1;
  int groups = 0;            ///< Heads of k and of v; 0 stands for as many as q has.
  bool transpose_k = false;  ///< k becomes [n, groups, d, s].

  static void fields(auto& self, auto&& visit) {
    visit(needed({"heads", "num_q_heads|num_heads"}), self.heads, Whole{1, 1 << 20});
    visit({"groups", "num_kv_heads"}, self.groups, Whole{0, 1 << 20});
    visit({"transpose_k", "transpose_k_heads|transpose_k"}, self.transpose_k);
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const SplitHeadsAttributes&, const SplitHeadsAttributes&) = default;
};

/// Splits q [n, 1, s, heads d] off one tensor, and k and v off another, [n, 1, t, 2 groups d].
struct SplitGroupsAttributes {
  static constexpr std::string_view kName = "split_groups";
  static constexpr std::string_view kTtnn = SplitHeadsAttributes::kTtnn;
  static constexpr std::string_view kShown = "split_heads";
  static constexpr std::array kInputs{role::reals("q"), role::reals("kv")};
  static constexpr std::array kResults = SplitHeadsAttributes::kResults;

  int heads = 1, groups = 1;
  bool transpose_k = false;  ///< k becomes [n, groups, d, t].

  static void fields(auto& self, auto&& visit) {
    visit(needed({"heads", "num_q_heads|num_heads"}), self.heads, Whole{1, 1 << 20});
    visit({"groups", "num_kv_heads"}, self.groups, Whole{1, 1 << 20});
    visit({"transpose_k", "transpose_k_heads|transpose_k"}, self.transpose_k);
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const SplitGroupsAttributes&, const SplitGroupsAttributes&) = default;
};

/// Turns [n, heads, s, d] into [n, 1, s, heads d].
struct ConcatHeadsAttributes {
  static constexpr std::string_view kName = "concat_heads";
  static constexpr std::string_view kTtnn = "NLPConcatHeadsDeviceOperation";
  static constexpr std::string_view kMeaning = "[n, 1, s, heads d] of [n, heads, s, d]";
  static constexpr std::array kInputs{role::reals("x")};
  static constexpr std::array kResults{role::reals("result")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const ConcatHeadsAttributes&, const ConcatHeadsAttributes&) = default;
};

/// Takes a part of the operand: along each dimension, element i of the result is element begin + i
/// step of the operand. There are as many as the result has room for.
struct SliceAttributes {
  static constexpr std::string_view kName = "slice";
  static constexpr std::string_view kTtnn = "SliceDeviceOperation";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("part")};

  Sides begins{};
  Sides steps{1, 1, 1, 1};

  static void fields(auto& self, auto&& visit) {
    visit(needed({"begins", "slice_start"}), self.begins, kSides);
    visit({"steps", "step"}, self.steps, Whole{1, kSides.most});
  }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const SliceAttributes&, const SliceAttributes&) = default;
};

/// Replaces the rows of the cache from `row` on by those of x, in place: ttnn's slice_write. The
/// other three dimensions of both are equal.
struct WriteRowsAttributes {
  static constexpr std::string_view kName = "write_rows";
  static constexpr std::string_view kTtnn = "SliceWriteDeviceOperation";
  static constexpr std::array kInputs{role::any("x"), role::any("cache")};
  static constexpr std::array kResults{role::any("cache")};

  std::int64_t row = 0;

  static void fields(auto& self, auto&& visit) { visit({"row", ""}, self.row, kSides); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const WriteRowsAttributes&, const WriteRowsAttributes&) = default;
};

/// Writes the same rows from the place on that a number holds when the program runs, so that a
/// replay writes other rows: ttnn's paged_update_cache.
struct UpdateCacheAttributes {
  static constexpr std::string_view kName = "update_cache";
  static constexpr std::string_view kTtnn = "PagedUpdateCacheDeviceOperation";
  static constexpr std::string_view kShown = "write_rows";
  static constexpr std::array kInputs{role::reals("x"), role::reals("cache"),
                                      role::one("position")};
  static constexpr std::array kResults{role::reals("cache")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const UpdateCacheAttributes&, const UpdateCacheAttributes&) = default;
};

/// Pads the operand with one value, `before` it and behind it along each of four dimensions.
struct PadAttributes {
  static constexpr std::string_view kName = "pad";
  static constexpr std::string_view kTtnn = "PadDeviceOperation";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};

  Sides before{};
  float value = 0;
  bool use_multicore = true;  ///< If false, one core pads tiles; rows have all cores in any case.

  static void fields(auto& self, auto&& visit) {
    visit({"before", "input_tensor_start"}, self.before, kSides);
    visit({"value", "pad_value"}, self.value);
    visit({"use_multicore", "use_multicore"}, self.use_multicore);
  }
  void check(Specs in, Specs out) const;

  friend auto operator<=>(const PadAttributes&, const PadAttributes&) = default;
};

/// Permutes the dimensions: dimension i of the result is the operand's dimension order[i].
struct PermuteAttributes {
  static constexpr std::string_view kName = "permute";
  static constexpr std::string_view kTtnn = "PermuteDeviceOperation";
  static constexpr std::array kInputs{role::any("x")};
  static constexpr std::array kResults{role::any("result")};

  std::array<int, 4> order{0, 1, 2, 3};

  static void fields(auto& self, auto&& visit) {
    visit(needed({"order", "dims"}), self.order, Whole{0, 3});
  }
  SpecList results(Specs in) const;

  friend auto operator<=>(const PermuteAttributes&, const PermuteAttributes&) = default;
};

/// Looks up one row of a table [v, d] for each index: indices [..., s] give [..., s, d].
struct EmbeddingAttributes {
  static constexpr std::string_view kName = "embedding";
  static constexpr std::string_view kTtnn = "EmbeddingsDeviceOperation";
  static constexpr std::array kInputs{role::tokens("indices"), role::rows("table")};
  static constexpr std::array kResults{role::reals("rows")};
  static constexpr Leeway kLeeway{.dtype = true, .layout = true, .batch = true};

  SpecList results(Specs in) const;

  friend auto operator<=>(const EmbeddingAttributes&, const EmbeddingAttributes&) = default;
};

/// Computes the gradient of the table from the indices and dy: for each index, the sum of dy over
/// its positions. The result has as many rows as the table.
struct EmbeddingBackwardAttributes {
  static constexpr std::string_view kName = "embedding_backward";
  static constexpr std::string_view kTtnn = "EmbeddingBackwardDeviceOperation";
  static constexpr std::array kInputs{role::tokens("indices"), role::reals("dy")};
  static constexpr std::array kResults{role::reals("dtable")};

  static void check(Specs in, Specs out);

  friend auto operator<=>(const EmbeddingBackwardAttributes&,
                          const EmbeddingBackwardAttributes&) = default;
};

}  // namespace howard
