// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/picture_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace howard::cli {
namespace {

using reports::PictureFormat;
using reports::PictureSize;

constexpr std::int64_t kLeastWidth = 400;
constexpr std::int64_t kLeastHeight = 300;
constexpr std::int64_t kMost = 10000;

/// Absent for what is no size that a picture can have.
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

/// Each format once; none when one of the words is no format.
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
  const auto size = [&canvas](const std::string& text) {
    canvas.size = parse_size(text);
    return canvas.size ? ""
                       : fmt::format("'{}'; accepted: WIDTHxHEIGHT in pixels, {}x{} to {}x{}", text,
                                     kLeastWidth, kLeastHeight, kMost, kMost);
  };
  const auto formats = [&canvas](const std::string& text) {
    canvas.formats = parse_formats(text);
    return canvas.formats.empty() ? fmt::format(
                                        "'{}'; accepted: png, svg, pdf, or some of them "
                                        "with commas between",
                                        text)
                                  : "";
  };
  // The checks read the values; what CLI11 itself keeps of them is not needed.
  app.add_option("--picture-size")->expected(1)->check(CLI::Validator(size, ""));
  app.add_option("--picture-format")->expected(1)->check(CLI::Validator(formats, ""));
}

}  // namespace howard::cli
