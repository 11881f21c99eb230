// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/data_movement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace howard {
namespace {

Shape shape_of(const Sides& sides) { return {sides[0], sides[1], sides[2], sides[3]}; }

/// Throws Error unless the result has the operand's data type and layout.
void require_same_kind(std::string_view op, Specs in, Specs out) {
  if (in[0].dtype == out[0].dtype && in[0].layout == out[0].layout) return;
  refuse_operands(op, {in[0], out[0]}, "a result of the operand's data type and layout");
}

SpecList split(std::string_view op, Specs in, std::int64_t heads, std::int64_t groups,
               bool transpose_k) {
  const Shape& q = in[0].shape;
  const Shape& kv = in.back().shape;
  const bool together = in.size() == 1;
  const std::int64_t parts = together ? heads + 2 * groups : heads;
  const std::int64_t width = q.columns() / parts;
  const bool fits = q.heads() == 1 && q.columns() % parts == 0 && kv.heads() == 1 &&
                    in[0].dtype == in.back().dtype && q.outer() == kv.outer() &&
                    (together || kv.columns() == 2 * groups * width);
  if (!fits) {
    refuse_operands(op, in,
                    together
                        ? fmt::format("[n, 1, s, {} d]", parts)
                        : fmt::format("[n, 1, s, {} d] and [n, 1, t, {} d]", heads, 2 * groups));
  }
  const TensorSpec k{{kv.outer(), groups, kv.rows(), width}, in[0].dtype};
  TensorSpec keys = k;
  if (transpose_k) keys.shape = k.shape.transposed();
  return {{{q.outer(), heads, q.rows(), width}, in[0].dtype}, keys, k};
}

SpecList written(std::string_view op, Specs in, std::int64_t row) {
  const Sides& from = in[0].shape.dimensions();
  const Sides& to = in[1].shape.dimensions();
  const bool fits = from[0] == to[0] && from[1] == to[1] && from[3] == to[3] && row >= 0 &&
                    row <= to[2] - from[2] && in[0].dtype == in[1].dtype &&
                    in[0].layout == in[1].layout;
  if (!fits) {
    refuse_operands(op, in.first(2), fmt::format("rows of the cache, from row {} on", row));
  }
  return {in[1]};
}

}  // namespace

SpecList TransposeAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  return {{swap == Swap::rows_columns ? x.transposed() : x.heads_swapped(), in[0].dtype}};
}

void ReshapeAttributes::check(Specs in, Specs out) {
  if (in[0].shape.elements() == out[0].shape.elements() && in[0].dtype == out[0].dtype) return;
  refuse_operands(kName, {in[0], out[0]}, "a result of as many elements, of the same data type");
}

void RepeatAttributes::check(Specs in, Specs out) {
  const Shape& x = in[0].shape;
  const std::int64_t heads = out[0].shape.heads();
  const Shape repeated{x.outer(), heads, x.rows(), x.columns()};
  if (out[0].shape != repeated || heads % x.heads() != 0) {
    refuse_operands(kName, {in[0], out[0]}, "a result of the operand's heads several times");
  }
  require_same_kind(kName, in, out);
}

std::vector<LayoutAttributes> LayoutAttributes::all() {
  return {{.to = Layout::tile}, {.to = Layout::row_major}};
}

SpecList LayoutAttributes::results(Specs in) const {
  if (in[0].layout == to) refuse_operands(name(), in, "a tensor in the other layout");
  return {{in[0].shape, in[0].dtype, to}};
}

std::string_view MemoryMoveAttributes::ttnn(Specs in, Specs out) {
  const bool from = in[0].sharding.has_value(), to = out[0].sharding.has_value();
  if (from && to) return "ReshardDeviceOperation";
  if (to) return "InterleavedToShardedDeviceOperation";
  return from ? "ShardedToInterleavedDeviceOperation" : "CopyDeviceOperation";
}

SpecList ConcatAttributes::results(Specs in) const {
  const auto along = static_cast<std::size_t>(dimension);
  Sides sides = in[0].shape.dimensions();
  const Sides first = sides;
  sides.at(along) = 0;
  for (const TensorSpec& part : in) {
    Sides own = part.shape.dimensions();
    sides.at(along) += own.at(along);
    own.at(along) = first.at(along);
    if (own != first || part.dtype != in[0].dtype || part.layout != in[0].layout) {
      refuse_operands(kName, {in[0], part},
                      fmt::format("parts of one data type and layout that differ in dimension {} "
                                  "only",
                                  dimension));
    }
  }
  return {{shape_of(sides), in[0].dtype, in[0].layout}};
}

SpecList SplitHeadsAttributes::results(Specs in) const {
  if (heads < 1 || groups < 0) refuse_operands(kName, in, "one head or more");
  return split(kName, in, heads, groups == 0 ? heads : groups, transpose_k);
}

SpecList SplitGroupsAttributes::results(Specs in) const {
  if (heads < 1 || groups < 1) refuse_operands(kName, in, "one head or more");
  return split(kName, in, heads, groups, transpose_k);
}

SpecList ConcatHeadsAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  return {{{x.outer(), 1, x.rows(), x.heads() * x.columns()}, in[0].dtype}};
}

void SliceAttributes::check(Specs in, Specs out) const {
  const Sides& from = in[0].shape.dimensions();
  const Sides& to = out[0].shape.dimensions();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool begins_within = begins[i] >= 0 && begins[i] < from[i] && steps[i] >= 1;
    if (begins_within && to[i] - 1 <= (from[i] - 1 - begins[i]) / steps[i]) continue;
    throw Error(
        {.attempted = fmt::format("take a slice {} of {}", layout_text(out[0]), layout_text(in[0])),
         .value = fmt::format("from {} in steps of {} along dimension {}", begins[i], steps[i], i),
         .accepted = "begins from 0 on and steps from 1 on, within the tensor x"});
  }
  require_same_kind(kName, in, out);
}

SpecList WriteRowsAttributes::results(Specs in) const { return written(kName, in, row); }

SpecList UpdateCacheAttributes::results(Specs in) const { return written(kName, in, 0); }

void PadAttributes::check(Specs in, Specs out) const {
  const Sides& from = in[0].shape.dimensions();
  const Sides& to = out[0].shape.dimensions();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (before[i] >= 0 && before[i] <= to[i] - from[i]) continue;
    refuse_operands(kName, {in[0], out[0]},
                    "a result with room for the operand and what is before it");
  }
  require_same_kind(kName, in, out);
}

SpecList PermuteAttributes::results(Specs in) const {
  Sides sides{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int from = order[i];
    if (from < 0 || from > 3 || std::ranges::count(order, from) != 1) {
      throw Error(
          {.attempted = "permute a tensor " + layout_text(in[0]),
           .value = fmt::format("the order {},{},{},{}", order[0], order[1], order[2], order[3]),
           .accepted = "0, 1, 2 and 3, each once"});
    }
    sides[i] = in[0].shape.dimensions().at(static_cast<std::size_t>(from));
  }
  return {{shape_of(sides), in[0].dtype, in[0].layout}};
}

SpecList EmbeddingAttributes::results(Specs in) const {
  const Shape& indices = in[0].shape;
  const Shape& table = in[1].shape;
  if (table.batch() != 1) refuse_operands(kName, in, "indices [n, s] and a table [v, d]");
  return {{{indices.batch() * indices.rows(), indices.columns(), table.columns()}, in[1].dtype}};
}

void EmbeddingBackwardAttributes::check(Specs in, Specs out) {
  const Shape& dy = in[1].shape;
  const Shape& table = out[0].shape;
  if (dy.elements() == in[0].shape.elements() * dy.columns() && dy.columns() == table.columns() &&
      table.batch() == 1 && out[0].dtype == in[1].dtype) {
    return;
  }
  refuse_operands(kName, {in[0], in[1], out[0]},
                  "indices [n, s], dy [n, s, d] and a gradient [v, d] of its data type");
}

}  // namespace howard
