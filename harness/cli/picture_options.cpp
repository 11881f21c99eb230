// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/picture_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "harness/cli/command_line.h"

namespace howard::cli {
namespace {

using reports::PictureFormat;
using reports::PictureSize;

constexpr std::int64_t kLeastWidth = 400;
constexpr std::int64_t kLeastHeight = 300;
constexpr std::int64_t kMost = 10000;

/// Returns a size; absent if a picture cannot have the size that `text` says.
std::optional<PictureSize> parse_size(const std::string& text) {
  const std::vector<std::string> sides = split(text, 'x');
  if (sides.size() != 2) return std::nullopt;
  const auto width = parse_integer(sides[0]);
  const auto height = parse_integer(sides[1]);
  if (!width || !height || *width < kLeastWidth || *height < kLeastHeight ||
      std::max(*width, *height) > kMost) {
    return std::nullopt;
  }
  return PictureSize{.width = static_cast<int>(*width), .height = static_cast<int>(*height)};
}

/// Returns each format once, or no format if one of the words is not a format.
std::vector<PictureFormat> parse_formats(const std::string& text) {
  std::vector<PictureFormat> formats;
  for (const std::string& word : split(text, ',')) {
    bool known = false;
    for (const auto format : {PictureFormat::png, PictureFormat::svg, PictureFormat::pdf}) {
      if (word != reports::name_of(format)) continue;
      known = true;
      if (std::ranges::find(formats, format) == formats.end()) formats.push_back(format);
    }
    if (!known) return {};
  }
  return formats;
}

}  // namespace

void add_picture_options(CLI::App& app, reports::Canvas& canvas) {
  constexpr const char* kSize = "--picture-size";
  constexpr const char* kFormats = "--picture-format";
  app.add_option_function<std::string>(kSize, [&canvas](const std::string& text) {
    canvas.size = parse_size(text);
    if (canvas.size) return;
    refuse_value(kSize, text,
                 fmt::format("WIDTHxHEIGHT in pixels, {}x{} to {}x{}", kLeastWidth, kLeastHeight,
                             kMost, kMost));
  });
  app.add_option_function<std::string>(kFormats, [&canvas](const std::string& text) {
    canvas.formats = parse_formats(text);
    if (!canvas.formats.empty()) return;
    refuse_value(kFormats, text, "png, svg, pdf, or some of them with commas between");
  });
}

}  // namespace howard::cli
