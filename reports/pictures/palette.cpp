// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace howard::reports {
namespace {

constexpr std::array<std::string_view, kLineColors> kSeriesColors{
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"};

struct NamedColor {
  std::string_view name, color;
};
/// Those that take the most time of a model, and so stand in one picture, are farthest apart.
constexpr std::array<NamedColor, 40> kPartColors{{{"matmul", "#0072B2"},
                                                  {"linear", "#332288"},
                                                  {"reshape", "#D55E00"},
                                                  {"multiply", "#009E73"},
                                                  {"subtract", "#CC79A7"},
                                                  {"transpose", "#000000"},
                                                  {"add", "#E69F00"},
                                                  {"softmax", "#56B4E9"},
                                                  {"softmax_backward", "#004466"},
                                                  {"sum", "#8C510A"},
                                                  {"mean", "#F0E442"},
                                                  {"rms_norm", "#8F6BB1"},
                                                  {"rms_norm_backward", "#C2A5CF"},
                                                  {"rotary_embedding", "#66A61E"},
                                                  {"repeat_heads", "#A6003C"},
                                                  {"split_heads", "#DDCC77"},
                                                  {"concat_heads", "#999933"},
                                                  {"tilize", "#44AA99"},
                                                  {"untilize", "#1B7837"},
                                                  {"decode_attention", "#882255"},
                                                  {"layernorm", "#8F6BB1"},
                                                  {"layernorm_backward", "#C2A5CF"},
                                                  {"gelu", "#F46D43"},
                                                  {"gelu_backward", "#FDAE61"},
                                                  {"silu", "#F46D43"},
                                                  {"silu_backward", "#FDAE61"},
                                                  {"relu", "#F46D43"},
                                                  {"embedding", "#B2DF8A"},
                                                  {"embedding_backward", "#33A02C"},
                                                  {"cross_entropy", "#FB9A99"},
                                                  {"cross_entropy_backward", "#E31A1C"},
                                                  {"exp", "#80B1D3"},
                                                  {"max", "#6A3D9A"},
                                                  {"concat", "#BC80BD"},
                                                  {"adamw", "#B3DE69"},
                                                  {"write_rows", "#7F6000"},
                                                  {"compute", "#0072B2"},
                                                  {"exchange", "#E69F00"},
                                                  {"bubble", "#CC79A7"},
                                                  {"host", "#56B4E9"}}};
/// What models call their parts. Each has the colour of the op that it is made of.
constexpr std::array<NamedColor, 2> kModelColors{
    {{"attention_softmax_", "#56B4E9"}, {"layer_norm", "#8F6BB1"}}};

constexpr std::array<int, 2> kDashed{7, 4};
constexpr std::array<int, 2> kDotted{2, 3};
constexpr std::array<int, 4> kDashDotted{9, 3, 2, 3};
constexpr std::array<int, 2> kLongDashed{14, 5};

/// Returns the share of red (0), green (1) or blue (2) of a colour, up to 255.
int channel(std::string_view color, std::size_t number) {
  int value = 0;
  const char* const digits = color.data() + 1 + 2 * number;
  std::from_chars(digits, digits + 2, value, 16);
  return value;
}

}  // namespace

std::string_view series_color(std::size_t number) { return kSeriesColors[number % kLineColors]; }

std::string_view part_color(std::string_view name) {
  for (const std::span<const NamedColor> colors :
       {std::span<const NamedColor>(kPartColors), std::span<const NamedColor>(kModelColors)}) {
    const auto found = std::ranges::find(colors, name, &NamedColor::name);
    if (found != colors.end()) return found->color;
  }
  std::size_t sum = 0;
  for (const char letter : name) sum = 31 * sum + static_cast<unsigned char>(letter);
  return kPartColors[sum % kPartColors.size()].color;
}

std::span<const int> line_dashes(std::size_t number) {
  switch (number % kLineDashes) {
    case 1:
      return kDashed;
    case 2:
      return kDotted;
    case 3:
      return kDashDotted;
    case 4:
      return kLongDashed;
    default:
      return {};
  }
}

std::string map_color(double place) {
  std::size_t stop = 0;
  while (stop + 2 < kMapStops.size() && place > kMapStops[stop + 1].place) ++stop;
  const auto& [low, from] = kMapStops[stop];
  const auto& [high, to] = kMapStops[stop + 1];
  const double share = std::clamp((place - low) / (high - low), 0.0, 1.0);
  const auto mix = [&](std::size_t number) {
    const int begin = channel(from, number);
    return begin + static_cast<int>(share * (channel(to, number) - begin));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

}  // namespace howard::reports
