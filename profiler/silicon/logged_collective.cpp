// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

/// Stands for the devices of the group, which take part at the same time.
Operand group() {
  return TensorSpec{.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
}

/// Returns the only dimension in which two tensors differ, of which `part` is a share. Throws Error
/// if there is none.
int shared_dimension(const TensorSpec& part, const TensorSpec& whole) {
  int dimension = -1;
  bool fits = true;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t of_part = part.shape.dimensions().at(static_cast<std::size_t>(i));
    const std::int64_t of_whole = whole.shape.dimensions().at(static_cast<std::size_t>(i));
    if (of_part == of_whole) continue;
    fits = fits && dimension < 0 && of_part > 0 && of_whole % of_part == 0;
    dimension = i;
  }
  if (dimension < 0 || !fits) {
    refuse(fmt::format("{} and {}", layout_text(part), layout_text(whole)),
           "a tensor and a share of it along one dimension");
  }
  return dimension;
}

/// Returns the tensor as a link sees it, whose shards do not matter.
TensorSpec plain(TensorSpec spec) {
  spec.sharding.reset();
  return spec;
}

/// Returns the operand that a gathered tensor is multiplied by: logs may list its memory, too.
TensorSpec second_factor(const Call& call, const TensorSpec& part, const TensorSpec& product) {
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const TensorSpec b = plain(call.in(i));
    const bool fits = b.shape.columns() == product.shape.columns() &&
                      b.shape.rows() > part.shape.columns() &&
                      b.shape.rows() % part.shape.columns() == 0;
    if (fits) return b;
  }
  refuse(fmt::format("{} and {}", layout_text(part), layout_text(product)),
         "an operand with as many rows as the gathered one has columns");
}

}  // namespace

Program all_gather_matmul(const Call& call) {
  const TensorSpec part = plain(call.in(0)), product = plain(spec_of(call.last_out_cells()));
  const TensorSpec b = second_factor(call, part, product);
  TensorSpec whole = part;
  whole.shape = part.shape.with_columns(b.shape.rows());
  return make_program(
      AllGatherMatmulAttributes{
          .gather = {.dimension = 3, .use = told<AllGatherAttributes>(call).use},
          .matmul = product_attributes(call)},
      {part, group(), b}, {whole, product});
}

Program matmul_reduce_scatter(const Call& call) {
  const TensorSpec a = plain(call.in(0)), b = plain(call.in(1)),
                   part = plain(spec_of(call.last_out_cells()));
  TensorSpec product = part;
  product.shape = a.shape.with_columns(b.shape.columns());
  const int side = shared_dimension(part, product);
  if (side < 2) refuse("a share of the batch", "a share of the rows or of the columns");
  return make_program(
      MatmulReduceScatterAttributes{
          .scatter = {.dimension = side == 3 ? Dimension::columns : Dimension::rows,
                      .use = told<AllGatherAttributes>(call).use},
          .matmul = product_attributes(call)},
      {a, group(), b}, {product, part});
}

Program all_gather(const Call& call) {
  const TensorSpec part = plain(call.in(0)), whole = plain(call.out());
  return make_program(AllGatherAttributes{.dimension = shared_dimension(part, whole),
                                          .use = told<AllGatherAttributes>(call).use},
                      {part, group()}, {whole});
}

Program all_reduce(const Call& call) {
  auto text = call.attributes.find("ring_size");
  if (!text) text = call.attributes.anywhere("ring_size");
  constexpr std::int64_t kMostDevices = 1 << 16;
  const std::int64_t devices = std::min(parse_integer(text.value_or("")).value_or(0), kMostDevices);
  if (devices < 2) refuse("no ring_size among its attributes", "2 devices or more");
  const TensorSpec part = plain(call.in(0));
  TensorSpec whole = part;
  const Sides& sides = part.shape.dimensions();
  require_size({devices, sides[0], sides[1], sides[2], sides[3]});
  whole.shape = {devices * sides[0], sides[1], sides[2], sides[3]};
  return make_program(
      AllGatherAttributes{.dimension = 0, .use = told<AllGatherAttributes>(call).use},
      {part, group()}, {whole});
}

namespace {

/// The choices and the experts of devices are the second and the third operand, in either order.
struct Choices {
  TensorSpec chosen, mapping;
};
Choices choices_of(const Call& call) {
  const TensorSpec one = plain(call.in(1)), other = plain(call.in(2));
  const bool swapped = one.shape.batch() == 1 && other.shape.batch() > 1;
  return swapped ? Choices{other, one} : Choices{one, other};
}

}  // namespace

Program all_to_all_dispatch(const Call& call) {
  const auto [chosen, mapping] = choices_of(call);
  const TensorSpec sent = plain(call.out());
  TensorSpec all = chosen;
  all.shape = sent.shape.with_columns(chosen.shape.columns());
  return make_program(told<AllToAllDispatchAttributes>(call),
                      {plain(call.in(0)), group(), chosen, mapping}, {sent, all});
}

Program all_to_all_combine(const Call& call) {
  const auto [chosen, mapping] = choices_of(call);
  return make_program(told<AllToAllCombineAttributes>(call),
                      {plain(call.in(0)), group(), chosen, mapping}, {plain(call.out())});
}

/// Its result has more dimensions than a log lists.
Program sparse_matmul(const Call& call) {
  const auto op = told<SparseMatmulAttributes>(call);
  TensorSpec sparsity = call.in(2);
  sparsity.sharding.reset();
  const SpecList in{call.in(0), call.in(1), sparsity};
  TensorSpec out = results_of(op, in)[0];
  out.dtype = call.out().dtype;
  out.storage = call.out().storage;
  return make_program(op, {in.begin(), in.end()}, {out});
}

Program reduce_scatter(const Call& call) {
  // Where the log lists what the devices pass on as well, the share is the last result.
  const TensorSpec whole = plain(call.in(0)), part = plain(spec_of(call.last_out_cells()));
  const int side = shared_dimension(part, whole);
  if (side < 2) refuse("a share of the batch", "a share of the rows or of the columns");
  return make_program(
      ReduceScatterAttributes{.dimension = side == 3 ? Dimension::columns : Dimension::rows,
                              .use = told<AllGatherAttributes>(call).use},
      {whole, group()}, {part});
}

}  // namespace howard::profiler::logged
