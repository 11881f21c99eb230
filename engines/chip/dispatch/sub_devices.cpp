// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/sub_devices.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace howard::chip {
namespace {

[[noreturn]] void refuse(std::string value, std::string accepted) {
  throw Error({.attempted = "divide the device",
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

CoreRange whole(CoreGrid grid) { return {0, 0, grid.columns - 1, grid.rows - 1}; }

bool overlap(const CoreRange& a, const CoreRange& b) {
  return a.first_column <= b.last_column && b.first_column <= a.last_column &&
         a.first_row <= b.last_row && b.first_row <= a.last_row;
}

bool lies_in(const CoreRange& range, CoreGrid grid) {
  return range.first_column >= 0 && range.first_row >= 0 &&
         range.first_column <= range.last_column && range.first_row <= range.last_row &&
         range.last_column < grid.columns && range.last_row < grid.rows;
}

std::string text(const CoreRange& range) {
  return fmt::format("({},{})-({},{})", range.first_column, range.first_row, range.last_column,
                     range.last_row);
}

}  // namespace

SubDevices::SubDevices(CoreGrid grid, int most) : grid_(grid), most_(most), ranges_{whole(grid)} {}

void SubDevices::divide(std::span<const CoreRange> ranges) {
  if (std::ssize(ranges) > most_) {
    refuse(fmt::format("{} sub-devices", ranges.size()), fmt::format("{} at most", most_));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (!lies_in(ranges[i], grid_)) {
      refuse(text(ranges[i]), fmt::format("cores of the {}x{} grid", grid_.columns, grid_.rows));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(ranges[i], ranges[j])) {
        refuse(text(ranges[j]) + " and " + text(ranges[i]) + " overlap",
               "sub-devices without a common core");
      }
    }
  }
  ranges_.assign(ranges.begin(), ranges.end());
  if (ranges_.empty()) ranges_.push_back(whole(grid_));
}

const CoreRange& SubDevices::range(int index) const {
  if (index < 0 || index >= count()) {
    throw Error({.attempted = "run a program on a sub-device",
                 .value = std::to_string(index),
                 .accepted = fmt::format("0 to {}", count() - 1),
                 .hint = "set_sub_devices first"});
  }
  return ranges_[static_cast<std::size_t>(index)];
}

}  // namespace howard::chip
