// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement/slice_pad_permute.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {
namespace {

Shape shape_of(const Sides& sides) { return {sides[0], sides[1], sides[2], sides[3]}; }

/// Throws Error unless `out` has a's data type and layout.
void require_same_kind(std::string_view op, const Tensor& a, const Tensor& out) {
  require_output(op, out, {out.spec().shape, a.spec().dtype, a.spec().layout});
}

}  // namespace

Program slice(const Tensor& a, const Sides& begins, const Sides& steps, const Tensor& out) {
  const Sides& from = a.spec().shape.dimensions();
  const Sides& to = out.spec().shape.dimensions();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool begins_within = begins[i] >= 0 && begins[i] < from[i] && steps[i] >= 1;
    if (begins_within && to[i] - 1 <= (from[i] - 1 - begins[i]) / steps[i]) continue;
    throw Error(
        {.attempted = fmt::format("take a slice {} of {}", text(out.spec()), text(a.spec())),
         .value = fmt::format("from {} in steps of {} along dimension {}", begins[i], steps[i], i),
         .accepted = "begins from 0 on and steps from 1 on, within the tensor"});
  }
  require_same_kind("slice", a, out);
  return {.name = "slice",
          .attributes = SliceAttributes{.begins = begins, .steps = steps},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

Program slice(const Tensor& a, const Sides& begins, const Tensor& out) {
  return slice(a, begins, {1, 1, 1, 1}, out);
}

Program write_rows(const Tensor& a, std::int64_t row, const Tensor& cache) {
  const Sides& from = a.spec().shape.dimensions();
  const Sides& to = cache.spec().shape.dimensions();
  const bool fits = from[0] == to[0] && from[1] == to[1] && from[3] == to[3] && row >= 0 &&
                    row <= to[2] - from[2];
  if (!fits) {
    refuse("write_rows", {a.spec(), cache.spec()},
           fmt::format("rows of the cache, from row {} on", row));
  }
  require_same_kind("write_rows", a, cache);
  return {.name = "write_rows",
          .attributes = SliceAttributes{.begins = {0, 0, row, 0}},
          .inputs = {a.operand(), cache.operand()},
          .outputs = {cache.operand()}};
}

Program write_rows(const Tensor& a, const Tensor& position, const Tensor& cache) {
  Program program = write_rows(a, 0, cache);
  require_position("write_rows", position);
  program.inputs.push_back(position.operand());
  return program;
}

Program pad(const Tensor& a, const Sides& before, float value, const Tensor& out) {
  const Sides& from = a.spec().shape.dimensions();
  const Sides& to = out.spec().shape.dimensions();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (before[i] >= 0 && before[i] <= to[i] - from[i]) continue;
    refuse("pad", {a.spec(), out.spec()},
           "a result with room for the operand and what is before it");
  }
  if (!is_real(a.spec())) refuse("pad", {a.spec()}, "real numbers");
  require_same_kind("pad", a, out);
  return {.name = "pad",
          .attributes = PadAttributes{.before = before, .value = value},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

TensorSpec permute_output(const TensorSpec& a, const std::array<int, 4>& order) {
  Sides sides{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int from = order[i];
    if (from < 0 || from > 3 || std::ranges::count(order, from) != 1) {
      throw Error(
          {.attempted = "permute a tensor " + text(a),
           .value = fmt::format("the order {},{},{},{}", order[0], order[1], order[2], order[3]),
           .accepted = "0, 1, 2 and 3, each once"});
    }
    sides[i] = a.shape.dimensions().at(static_cast<std::size_t>(from));
  }
  return {shape_of(sides), a.dtype, a.layout};
}

Program permute(const Tensor& a, const std::array<int, 4>& order, const Tensor& out) {
  require_output("permute", out, permute_output(a.spec(), order));
  return {.name = "permute",
          .attributes = PermuteAttributes{.order = order},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

TensorSpec concat_output(std::span<const TensorSpec> parts, int dimension) {
  HOWARD_CHECK(!parts.empty() && dimension >= 0 && dimension < 4, "parts along a dimension");
  const auto along = static_cast<std::size_t>(dimension);
  const TensorSpec& first = parts[0];
  Sides sides = first.shape.dimensions();
  sides[along] = 0;
  for (const TensorSpec& part : parts) {
    Sides own = part.shape.dimensions();
    sides[along] += own[along];
    own[along] = first.shape.dimensions()[along];
    if (shape_of(own) != first.shape || part.dtype != first.dtype || part.layout != first.layout) {
      refuse("concat", {first, part},
             fmt::format("parts of one data type and layout that differ in dimension {} only",
                         dimension));
    }
  }
  return {shape_of(sides), first.dtype, first.layout};
}

Program concat(std::span<const Tensor> parts, int dimension, const Tensor& out) {
  std::vector<TensorSpec> specs;
  std::vector<Operand> inputs;
  for (const Tensor& part : parts) {
    specs.push_back(part.spec());
    inputs.push_back(part.operand());
  }
  require_output("concat", out, concat_output(specs, dimension));
  return {.name = "concat",
          .attributes = ConcatAttributes{.dimension = dimension},
          .inputs = std::move(inputs),
          .outputs = {out.operand()}};
}

}  // namespace howard::ops
