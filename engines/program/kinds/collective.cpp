// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/collective.h"

namespace howard {
namespace {

/// Throws Error unless the tensors differ in one dimension only, of which `part` is a share.
void require_share(std::string_view op, int along, const TensorSpec& part,
                   const TensorSpec& whole) {
  bool fits = part.dtype == whole.dtype && part.layout == whole.layout;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t of_part = part.shape.dimensions()[i];
    const std::int64_t of_whole = whole.shape.dimensions()[i];
    fits = fits && (static_cast<int>(i) == along ? of_whole % of_part == 0 : of_whole == of_part);
  }
  if (fits) return;
  refuse_operands(op, {part, whole},
                  "tensors that differ in one dimension, of which one is a share");
}

/// Returns the spec with one of its sides multiplied and divided.
TensorSpec scaled(TensorSpec spec, int dimension, std::int64_t times, std::int64_t parts) {
  auto sides = spec.shape.dimensions();
  std::int64_t& side = sides.at(static_cast<std::size_t>(dimension));
  if (side * times % parts != 0) {
    refuse_operands(ReduceScatterAttributes::kName, {spec},
                    "rows or columns that the devices divide");
  }
  side = side * times / parts;
  spec.shape = {sides[0], sides[1], sides[2], sides[3]};
  return spec;
}

}  // namespace

TensorSpec all_gather_output(const TensorSpec& part, int devices, int dimension) {
  return scaled(part, dimension, devices, 1);
}

TensorSpec reduce_scatter_output(const TensorSpec& whole, int devices, Dimension dimension) {
  const ReduceScatterAttributes op{.dimension = dimension};
  return scaled(whole, op.side(), 1, devices);
}

void AllGatherAttributes::check(Specs in, Specs out) const {
  require_share(kName, dimension, in[0], out[0]);
}

void ReduceScatterAttributes::check(Specs in, Specs out) const {
  if (dimension != Dimension::rows && dimension != Dimension::columns) {
    refuse_operands(kName, in.first(1), "a share of the rows or of the columns");
  }
  require_share(kName, side(), out[0], in[0]);
}

namespace {

/// Returns the operands of the product within a fused op whose second operand is the group.
SpecList factors_of(const TensorSpec& a, Specs in) {
  SpecList factors{a};
  factors.insert(factors.end(), in.begin() + 2, in.end());
  return factors;
}

/// Throws Error unless `product` is what the factors of a fused op give, whose operands are `in`.
void require_product(std::string_view op, const MatmulAttributes& matmul, const TensorSpec& a,
                     Specs in, std::span<const OperandRole> role, Specs product) {
  require_results(op, role, matmul.results(factors_of(a, in)), product, MatmulAttributes::kLeeway);
}

}  // namespace

void AllGatherMatmulAttributes::check(Specs in, Specs out) const {
  gather.check(in.first(2), out.first(1));
  require_product(kName, matmul, out[0], in, std::span(kResults).last(1), out.last(1));
}

Flops AllGatherMatmulAttributes::flops(Specs in, Specs out) const {
  return matmul.flops(factors_of(out[0], in), out.last(1));
}

void MatmulReduceScatterAttributes::check(Specs in, Specs out) const {
  require_product(kName, matmul, in[0], in, std::span(kResults).first(1), out.first(1));
  scatter.check(out.first(1), out.last(1));
}

Flops MatmulReduceScatterAttributes::flops(Specs in, Specs out) const {
  return matmul.flops(factors_of(in[0], in), out.first(1));
}

namespace {

/// Throws Error unless so many rows are those of some devices that have `part` of them each, and
/// the mapping has no fewer devices.
void require_exchange(std::string_view op, std::int64_t whole, std::int64_t part,
                      const TensorSpec& mapping) {
  const bool divides = part > 0 && whole % part == 0;
  if (divides && whole / part <= mapping.shape.columns()) return;
  refuse_operands(op, {mapping}, "a column of experts for each device that shares the tokens");
}

std::int64_t rows_of(const TensorSpec& spec) {
  return spec.shape.elements() / spec.shape.columns();
}

}  // namespace

void AllToAllDispatchAttributes::check(Specs in, Specs out) const {
  const std::int64_t own = rows_of(in[0]), all = rows_of(out[0]);
  require_exchange(kName, all, own, in[3]);
  const bool fits = in[0].shape.columns() == out[0].shape.columns() && rows_of(in[2]) == own &&
                    rows_of(out[1]) == all && in[2].shape.columns() == out[1].shape.columns() &&
                    in[0].dtype == out[0].dtype;
  if (!fits)
    refuse_operands(kName, {in[0], in[2], out[0], out[1]}, "a row of choices of each token");
}

void AllToAllCombineAttributes::check(Specs in, Specs out) const {
  const std::int64_t chosen = in[2].shape.columns(), all = rows_of(in[2]);
  require_exchange(kName, chosen * all, rows_of(out[0]), in[3]);
  const bool fits = in[0].shape.columns() == out[0].shape.columns() &&
                    in[0].dtype == out[0].dtype && rows_of(in[0]) % all == 0 &&
                    rows_of(out[0]) % chosen == 0;
  if (!fits) refuse_operands(kName, {in[0], in[2], out[0]}, "what experts made of each token");
}

}  // namespace howard
