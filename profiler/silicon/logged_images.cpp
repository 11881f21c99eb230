// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profiler/silicon/logged_call.h"
#include "profiler/silicon/logged_shards.h"

namespace howard::profiler::logged {
namespace {

std::string_view window_text(const Call& call) {
  auto text = call.attributes.find("sliding_window_config");
  if (!text) text = call.attributes.find("config");
  if (!text) refuse("no sliding_window_config among its attributes", "one");
  return *text;
}

/// Returns the numbers of a member: "input_hw=(3;3)" gives 3 and 3.
std::vector<std::int64_t> numbers_of(std::string_view text, std::string_view name) {
  return parse_ttnn_list(ttnn_member(text, name).value_or(""))
      .value_or(std::vector<std::int64_t>());
}

std::int64_t number_of(std::string_view text, std::string_view name, std::int64_t otherwise) {
  constexpr std::int64_t kMost = 1 << 10;
  const auto number = parse_integer(ttnn_member(text, name).value_or(""));
  return std::clamp<std::int64_t>(number.value_or(otherwise), 0, kMost);
}

/// Returns what makes the last stop of a side whole.
std::int64_t beyond_of(std::int64_t side, std::int64_t border, std::int64_t window,
                       std::int64_t stride, std::int64_t dilation) {
  const std::int64_t room = side + border - dilation * (window - 1) - 1;
  return room < 0 ? 0 : (stride - room % stride) % stride;
}

/// Returns the window with what is told of it by all versions in a way of their own.
Window window_of(const Call& call, Window window) {
  const std::string_view text = window_text(call);
  const auto is_told = [&](std::string_view name) {
    const auto word = ttnn_member(text, name);
    return word == "true" || word == "1";
  };
  if (is_told("is_transpose")) refuse("a transposed convolution", "one that is not");
  const std::vector<std::int64_t> sides = numbers_of(text, "input_hw");
  constexpr std::int64_t kMost = 1 << 16;
  if (sides.size() != 2 || std::ranges::min(sides) < 1 || std::ranges::max(sides) > kMost) {
    refuse("a sliding_window_config without input_hw", "two numbers");
  }
  window.height = sides[0];
  window.width = sides[1];
  const std::vector<std::int64_t> borders = numbers_of(text, "pad_hw");
  if (borders.size() >= 2) {
    window.padding = {borders[0], borders[0], borders[1], borders[1]};
    for (std::int64_t& border : window.padding) border = std::clamp<std::int64_t>(border, 0, kMost);
  }
  if (is_told("ceil_mode")) {
    const auto& [top, bottom, left, right] = window.padding;
    window.beyond = {beyond_of(window.height, top + bottom, window.size[0], window.stride[0],
                               window.dilation[0]),
                     beyond_of(window.width, left + right, window.size[1], window.stride[1],
                               window.dilation[1])};
  }
  return window;
}

/// Returns the operand as the images that it holds: a row for each place. What a halo adds is left
/// out.
TensorSpec images_of(const Call& call, const Window& window) {
  TensorSpec spec = spec_of(call.cells(0));
  require_size({window.images, window.height, window.width, spec.shape.columns()});
  spec.shape = {window.places_in(), spec.shape.columns()};
  return spec;
}

TensorSpec result_of(const Call& call, const Window& window, std::int64_t channels) {
  TensorSpec spec = spec_of(call.out_cells());
  const std::int64_t places = window.places_out();
  if (places < 1) refuse("a window that is larger than the images", "a smaller one");
  require_size({places, channels});
  spec.shape = {places, channels};
  return spec;
}

ShardLayout layout_of_call(const Call& call) {
  if (const auto layout = layout_of(call.cells(0).memory)) return *layout;
  if (const auto layout = layout_of(call.out_cells().memory)) return *layout;
  const auto told = call.attributes.member("memory_config", "memory_layout");
  return layout_of(told.value_or("")).value_or(ShardLayout::height);
}

/// Returns the function that follows as logs of 2024 and 2025 have it: "relu".
std::optional<EltwiseStep> activation_after(const Call& call) {
  const std::string_view text = call.attributes.find("activation").value_or("");
  if (text.empty() || text == "none") {
    if (!call.attributes.flag("fuse_relu").value_or(false)) return std::nullopt;
    return step_of(Eltwise::relu);
  }
  std::string name(text);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const auto function = find_eltwise_by_ttnn(name, 1);
  if (!function) refuse(fmt::format("activation '{}'", text), "a function that the emulator has");
  return step_of(*function);
}

/// Returns the cores over which a group norm of a tensor without shards was dealt out: the most
/// square ones of CORE COUNT whose columns have whole tiles of channels and a group at least.
std::optional<CoreGrid> cores_of_norm(const Call& call, const TensorSpec& x, std::int64_t groups) {
  const auto cores = call.cores();
  std::optional<CoreGrid> found;
  for (std::int64_t columns = 1; cores && columns <= std::min(*cores, groups); ++columns) {
    const std::int64_t channels = x.shape.columns() / columns;
    const bool legal = *cores % columns == 0 && channels * columns == x.shape.columns() &&
                       channels % kTileSide == 0;
    if (!legal) continue;
    const CoreGrid grid{static_cast<int>(columns), static_cast<int>(*cores / columns)};
    const auto longer = [](const CoreGrid& one) { return std::max(one.columns, one.rows); };
    if (!found || longer(grid) < longer(*found)) found = grid;
  }
  return found;
}

}  // namespace

Program convolution(const Call& call) {
  auto op = told<Conv2dAttributes>(call);
  const Window& window = op.window = window_of(call, op.window);
  const TensorSpec x = images_of(call, window);
  TensorSpec weights = spec_of(call.cells(1));
  const std::int64_t channels = weights.shape.columns();
  require_size({window.places(), x.shape.columns(), channels});
  weights.shape = {window.places() * x.shape.columns(), channels};
  op.sharding = layout_of_call(call);
  if (!op.activation) op.activation = activation_after(call);
  const std::string_view dealt = call.attributes.find("parallelization_config").value_or("");
  if (!ttnn_member(dealt, "num_cores_nhw")) {
    op.cores = number_of(window_text(call), "num_cores_nhw", 0);
  }
  if (op.sharding == ShardLayout::height) {
    op.channel_cores = 0;
  } else if (!ttnn_member(dealt, "num_cores_c_in") && !ttnn_member(dealt, "num_cores_c")) {
    op.channel_cores = number_of(window_text(call), "num_cores_c", 1);
  }
  std::vector<Operand> inputs{x, weights};
  if (call.inputs() > 2 && call.attributes.flag("has_bias").value_or(false)) {
    TensorSpec bias = spec_of(call.cells(2));
    bias.shape = {channels};
    inputs.push_back(bias);
  }
  return make_program(op, std::move(inputs), {result_of(call, window, channels)});
}

Program halo(const Call& call) {
  auto op = told<HaloAttributes>(call);
  op.window = window_of(call, op.window);
  const TensorSpec x = images_of(call, op.window);
  TensorSpec out = x;
  out.dtype = spec_of(call.out_cells()).dtype;
  out.layout = Layout::row_major;
  return make_program(op, {x}, {out});
}

Program pool(const Call& call) {
  auto op = told<Pool2dAttributes>(call);
  if (!is_told(op, call.attributes)) op.kind = PoolKind::average;
  op.window = window_of(call, op.window);
  const TensorSpec x = images_of(call, op.window);
  return make_program(op, {x}, {result_of(call, op.window, x.shape.columns())});
}

Program upsample(const Call& call) {
  const Shape& from = call.in(0).shape;
  const Shape& to = call.out().shape;
  const std::array<std::int64_t, 2> factor{to.heads() / from.heads(), to.rows() / from.rows()};
  if (factor[0] < 1 || factor[1] < 1 || to.heads() != factor[0] * from.heads() ||
      to.rows() != factor[1] * from.rows()) {
    refuse(fmt::format("{} to {}", from.text(), to.text()), "whole factors of [n, h, w, c]");
  }
  auto op = told<UpsampleAttributes>(call);
  op.factor = factor;
  return make_program(op, {call.in(0)}, {call.out()});
}

Program group_norm(const Call& call) {
  auto op = told<GroupNormAttributes>(call);
  const TensorSpec& x = call.in(0);
  TensorSpec out = call.out();
  if (out.shape.columns() != x.shape.columns() || out.shape.elements() > x.shape.elements()) {
    refuse(fmt::format("{} to {}", layout_text(x), layout_text(out)),
           "a result of the operand's channels, with no more rows");
  }
  out.shape = x.shape;  // The kernel goes over all rows, those of padding too.
  if (!op.core_grid && !x.sharding) op.core_grid = cores_of_norm(call, x, op.groups);
  return make_program(op, {x}, {out});
}

}  // namespace howard::profiler::logged
