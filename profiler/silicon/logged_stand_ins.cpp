// SPDX-License-Identifier: Apache-2.0
// Ops that the emulator does not have, and what stands for them there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/text.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

/// Returns a move of `moved` from the memory of one tensor to that of another.
Program move_of(const TensorSpec& moved, const TensorSpec& from, const TensorSpec& to) {
  const auto at = [&](const TensorSpec& place) {
    TensorSpec spec = moved;
    spec.storage = place.storage;
    spec.sharding.reset();
    if (place.shape == moved.shape) spec.sharding = place.sharding;
    return spec;
  };
  return make_program(MemoryMoveAttributes{}, {at(from)}, {at(to)});
}

}  // namespace

/// Each core of a norm whose rows are shared by devices adds up its squares. Rows in shards are
/// also collected from the cores that share them, as in a whole norm.
Program statistics_of_norm(const Call& call) {
  const TensorSpec& x = call.in(0);
  if (x.sharding && x.storage == Storage::l1) {
    return make_program(told<RmsNormAttributes>(call), {x}, {x});
  }
  if (x.layout != Layout::tile) refuse("row-major tensors", "tiles");
  return make_program(
      ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::columns}, {x},
      {TensorSpec{x.shape.with_columns(1), x.dtype}});
}

/// What follows when all devices have all sums takes as many passes as a whole norm.
Program norm_of_statistics(const Call& call) {
  TensorSpec out = call.out();
  out.shape = call.in(0).shape;
  const TensorSpec scale{{call.in(0).shape.columns()}, call.in(0).dtype};
  return make_program(told<RmsNormAttributes>(call), {call.in(0), scale}, {out});
}

/// All parts together have the operand's tiles.
Program all_parts(const Call& call) {
  TensorSpec parts = call.in(0);
  parts.storage = call.out().storage;
  parts.sharding.reset();
  return make_program(MoveTilesAttributes{}, {call.in(0)}, {parts});
}

/// The last tiles of rows and columns, which have padding, are copied.
Program fill_padding(const Call& call) {
  const Shape& shape = call.in(0).shape;
  if (call.in(0).layout != Layout::tile) refuse("row-major tensors", "tiles");
  const std::int64_t below = shape.rows() % kTileSide != 0 ? shape.tile_columns() : 0;
  const std::int64_t beside = shape.columns() % kTileSide != 0 ? shape.tile_rows() : 0;
  const std::int64_t both = below > 0 && beside > 0 ? 1 : 0;
  TensorSpec spec = call.in(0);
  spec.sharding.reset();
  spec.shape = {1, shape.batch() * std::max<std::int64_t>(1, below + beside - both), kTileSide,
                kTileSide};
  return make_program(MoveTilesAttributes{}, {spec}, {spec});
}

Program part_to_memory(const Call& call) { return move_of(call.out(), call.in(0), call.out()); }

Program memory_to_part(const Call& call) { return move_of(call.in(0), call.in(0), call.out()); }

namespace {

/// Each device sends the others what it has for them at once: as many bytes pass as when they show
/// each other their shares.
Program sent_at_once(const Call& call, TensorSpec whole, int side, std::int64_t devices) {
  Sides sides = whole.shape.dimensions();
  std::int64_t& shared = sides.at(static_cast<std::size_t>(side));
  shared /= devices;
  TensorSpec part = whole;
  part.shape = {sides[0], sides[1], sides[2], sides[3]};
  if (whole.storage == Storage::l1) {  // Of shards it only matters here that they are there.
    const auto on_a_core = [](TensorSpec& spec) {
      spec.sharding = Sharding{.layout = ShardLayout::width,
                               .grid = {1, 1},
                               .rows = spec.shape.rows(),
                               .columns = spec.shape.columns()};
    };
    on_a_core(part);
    on_a_core(whole);
  }
  const TensorSpec group{.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  return make_program(
      AllGatherAttributes{.dimension = side, .use = told<AllGatherAttributes>(call).use},
      {part, group}, {whole});
}

}  // namespace

Program scatter_at_once(const Call& call) {
  const Program scatter = reduce_scatter(call);
  const TensorSpec& whole = scatter.inputs[0].spec;
  return sent_at_once(call, whole, std::get<ReduceScatterAttributes>(scatter.attributes).side(),
                      whole.shape.elements() / scatter.outputs[0].spec.shape.elements());
}

/// The devices of a group have a share each of a sum, from which a device makes its heads: all
/// results together.
Program scatter_heads(const Call& call) {
  TensorSpec whole = call.in(0);
  whole.sharding.reset();
  std::int64_t own = 0;
  for (const TensorCells& cells : call.all_out_cells()) own += spec_of(cells).shape.elements();
  const std::int64_t devices = whole.shape.elements() / std::max<std::int64_t>(own, 1);
  if (devices < 2 || whole.shape.columns() % devices != 0) {
    refuse(fmt::format("{} to {} numbers of heads", layout_text(whole), own),
           "heads of a share of the columns");
  }
  return sent_at_once(call, whole, 3, devices);
}

/// What is drawn for each element takes as long as what a dropout draws.
Program random(const Call& call) {
  TensorSpec drawn = call.out();
  drawn.layout = Layout::tile;
  return make_program(DropoutAttributes{}, {drawn}, {drawn});
}

/// The gradient of a bias is the sum over all rows.
Program sum_of_rows(const Call& call) {
  TensorSpec gradient = call.in(0);
  if (gradient.layout != Layout::tile) refuse("row-major tensors", "tiles");
  gradient.sharding.reset();
  gradient.shape = {
      gradient.shape.outer() * gradient.shape.heads() * gradient.shape.tile_rows() * kTileSide,
      gradient.shape.columns()};
  return make_program(ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::rows},
                      {gradient}, {TensorSpec{gradient.shape.with_rows(1), gradient.dtype}});
}

Program running_sums(const Call& call) {
  const TensorSpec& x = call.in(0);
  const auto dim = parse_integer(call.attributes.find("dim").value_or(""));
  if (!dim || *dim < 0 || *dim > 3) refuse("no dim", "0 to 3");
  if (x.layout != Layout::tile) refuse("row-major tensors", "tiles");
  return make_program(told<CumsumAttributes>(call), {x}, {x});
}

/// An integral image has the sums down and across; a core has all of some channels.
Program integral_image(const Call& call) {
  const TensorSpec& x = call.in(0);
  if (x.layout != Layout::tile) refuse("row-major tensors", "tiles");
  const std::int64_t lines = x.shape.tile_columns();
  const TensorSpec columns{.shape = {x.shape.tiles() / lines * kTileSide, lines * kTileSide},
                           .dtype = x.dtype};
  return make_program(CumsumAttributes{.dim = 2}, {columns}, {columns});
}

/// The devices of a group have their own heads of a result, and gather all.
Program gather_heads(const Call& call) {
  TensorSpec part = call.in(0);
  part.sharding.reset();
  const Sides& sides = part.shape.dimensions();
  const std::int64_t devices = call.out().shape.elements() / part.shape.elements();
  if (devices < 2) {
    refuse(fmt::format("{} to {}", layout_text(part), layout_text(call.out())),
           "a result of two devices or more");
  }
  require_size({devices, sides[0], sides[1], sides[2], sides[3]});
  TensorSpec whole = part;
  whole.shape = {devices * sides[0], sides[1], sides[2], sides[3]};
  const TensorSpec group{.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major};
  return make_program(
      AllGatherAttributes{.dimension = 0, .use = told<AllGatherAttributes>(call).use},
      {part, group}, {whole});
}

namespace {

/// The reader waits for each row of the grid and for the places of each point, as an embedding
/// waits for each row of its table.
Program sample_in_dram(const Call& call, const TensorSpec& image, std::int64_t points) {
  const Shape& grid = call.in(1).shape;
  const std::int64_t rows = points + grid.elements() / std::max<std::int64_t>(grid.columns(), 1);
  TensorSpec table = image;
  table.layout = Layout::row_major;
  table.shape = {image.shape.elements() / image.shape.columns(), image.shape.columns()};
  const TensorSpec indices{
      .shape = {1, rows}, .dtype = DataType::uint32, .layout = Layout::row_major};
  const EmbeddingAttributes op;
  TensorSpec out = table;
  out.shape = results_of(op, std::array{indices, table})[0].shape;
  require_size({rows, table.shape.columns()});
  return make_program(op, {indices, table}, {out});
}

}  // namespace

/// A point of the result is the weighted mean of four places of the image: a stop of a pool whose
/// window is 2x2.
Program grid_sample(const Call& call) {
  TensorSpec image = call.in(0);
  image.sharding.reset();
  const std::int64_t channels = image.shape.columns();
  const std::int64_t points = call.out().shape.elements() / std::max<std::int64_t>(1, channels);
  if (points < 1) refuse(layout_text(call.out()), "the channels of a point, or of several");
  if (image.storage == Storage::dram) return sample_in_dram(call, image, points);
  constexpr std::int64_t kSeen = 4;
  require_size({kSeen, points, channels});
  image.shape = {kSeen * points, channels};
  TensorSpec out = image;
  out.shape = {points, channels};
  const Window window{.images = points, .height = 2, .width = 2, .size = {2, 2}, .stride = {2, 2}};
  return make_program(
      Pool2dAttributes{
          .kind = PoolKind::average, .window = window, .cores = call.cores().value_or(0)},
      {image}, {out});
}

}  // namespace howard::profiler::logged
