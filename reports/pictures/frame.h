// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/pictures/picture.h"

namespace howard::reports {

/// Says where the plot of a picture lies, so that all text around it has room. All numbers are
/// pixels; edges are counted from the left and from the bottom.
struct Frame {
  PictureSize size;  ///< The picture's; it is higher than was asked if less has no room.
  double left = 0, right = 0, bottom = 0, top = 0;

  double width() const { return right - left; }
  double height() const { return top - bottom; }
};

/// Returns the frame of a picture whose texts are known. Its height does not depend on the space
/// that is kept to the left and to the right of the plot.
Frame frame_of(const Picture& picture);

/// Returns the lines of script that set the margins and write the title, the labels of the axes and
/// the legend.
std::string frame_text(const Picture& picture, const Frame& frame);

/// Returns how wide `text` is at the most, in pixels of every format.
double drawn_width(std::string_view text);

/// Returns `text` as lines that are no wider than `width`; a longer word is cut.
std::vector<std::string> lines_within(std::string_view text, double width);

/// Returns `text`, cut with an ellipsis if it is wider than `width`.
std::string cut_to(std::string_view text, double width);

}  // namespace howard::reports
