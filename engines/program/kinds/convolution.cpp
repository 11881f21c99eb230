// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/convolution.h"

namespace howard {
namespace {

std::int64_t stops(std::int64_t side, std::int64_t border, std::int64_t window, std::int64_t stride,
                   std::int64_t dilation) {
  const std::int64_t room = side + border - dilation * (window - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/// Throws Error unless x has a row for each place of the window's images, and the window fits into
/// them.
void require_places(std::string_view op, const Window& window, Specs in) {
  if (in[0].shape.batch() != 1 || in[0].shape.rows() != window.places_in()) {
    refuse_operands(op, {in[0]}, "[1, 1, images x height x width, channels]");
  }
  if (window.places_out() < 1) {
    refuse_operands(op, {in[0]}, "images that are at least as large as the window");
  }
}

TensorSpec result_of(const Window& window, const TensorSpec& x, std::int64_t channels) {
  return {{window.places_out(), channels}, x.dtype, x.layout};
}

void require_row(std::string_view op, Specs in, std::size_t i, std::int64_t columns) {
  if (i < in.size() && in[i].shape != Shape{columns}) {
    refuse_operands(op, {in[0], in[i]}, "a row with a number for each channel");
  }
}

}  // namespace

std::int64_t Window::rows_out() const {
  return stops(height, padding[0] + padding[1] + beyond[0], size[0], stride[0], dilation[0]);
}

std::int64_t Window::columns_out() const {
  return stops(width, padding[2] + padding[3] + beyond[1], size[1], stride[1], dilation[1]);
}

SpecList Conv2dAttributes::results(Specs in) const {
  require_places(kName, window, in);
  const Shape& weights = in[1].shape;
  if (weights.batch() != 1 || weights.rows() != window.places() * in[0].shape.columns()) {
    refuse_operands(kName, {in[0], in[1]}, "weights [window rows x columns x channels, results]");
  }
  require_row(kName, in, 2, weights.columns());
  return {result_of(window, in[0], weights.columns())};
}

Flops Conv2dAttributes::flops(Specs in, Specs out) const {
  return Flops(2 * out[0].shape.elements() * in[1].shape.rows());
}

SpecList HaloAttributes::results(Specs in) const {
  require_places(kName, window, in);
  return {{in[0].shape, in[0].dtype, Layout::row_major}};
}

std::vector<Pool2dAttributes> Pool2dAttributes::all() {
  return {{.kind = PoolKind::max}, {.kind = PoolKind::average}};
}

SpecList Pool2dAttributes::results(Specs in) const {
  require_places(name(), window, in);
  return {result_of(window, in[0], in[0].shape.columns())};
}

SpecList UpsampleAttributes::results(Specs in) const {
  const auto [n, h, w, c] = in[0].shape.dimensions();
  return {{{n, h * factor[0], w * factor[1], c}, in[0].dtype, in[0].layout}};
}

SpecList FoldAttributes::results(Specs in) const {
  const auto [n, h, w, c] = in[0].shape.dimensions();
  if (h % stride[0] != 0 || w % stride[1] != 0) {
    refuse_operands(kName, {in[0]}, "a height and a width that the stride divides");
  }
  return {
      {{n, h / stride[0], w / stride[1], c * stride[0] * stride[1]}, in[0].dtype, in[0].layout}};
}

void FoldAttributes::check(Specs in, Specs out) const {
  SpecList expected = results(in);
  const Shape& made = expected[0].shape;
  const std::int64_t places = made.batch() * made.rows();
  if (out[0].shape == Shape{places, made.columns()}) expected[0].shape = out[0].shape;
  require_results(kName, kResults, expected, out, {.dtype = true, .layout = true});
}

SpecList GroupNormAttributes::results(Specs in) const {
  const Shape& x = in[0].shape;
  if (x.heads() != 1 || x.columns() % groups != 0) {
    refuse_operands(kName, {in[0]}, "[n, 1, places, channels] of channels that the groups divide");
  }
  require_row(kName, in, 1, x.columns());
  require_row(kName, in, 2, x.columns());
  return {in[0]};
}

SpecList BatchNormAttributes::results(Specs in) const {
  const Shape numbers{1, in[0].shape.heads(), 1, 1};
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (in[i].shape != numbers) {
      refuse_operands(kName, {in[0], in[i]}, "x [n, c, h, w] and [1, c, 1, 1]");
    }
  }
  return {in[0]};
}

}  // namespace howard
