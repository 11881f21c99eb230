// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "reports/page/timeline.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Holds a part of a page, to which the page's navigation leads.
struct PagePart {
  std::string name;     ///< In the navigation, and in the address behind "#".
  std::string heading;  ///< The heading above it.
  std::string html;     ///< What it shows.
};

/// Returns a page as one HTML file that needs nothing else: it opens from a disk, loads nothing,
/// and its Content-Security-Policy forbids everything but its own script and style. It can be read
/// without JavaScript, which sorts and filters tables and draws the timeline. The same input gives
/// the same bytes. `title` is what the browser calls it.
std::string html_document(std::string_view title, std::span<const PagePart> parts);

/// Returns the sentences as a list of that class; "" without one.
std::string html_list(std::string_view kind, const std::vector<std::string>& sentences);

/// Returns each sentence as a paragraph.
std::string html_paragraphs(const std::vector<std::string>& sentences);

/// Returns the tables, one below the other.
std::string html_tables(const std::vector<Table>& tables);

/// Returns what may explain the numbers of a run: the version, the chip, the CPU and so on.
std::string html_context(const harness::RunContext& context);

/// Returns the part with the timeline of recorded points; there must be one. `words` say what they
/// are.
PagePart timeline_part(std::string_view words, std::span<const TimelinePoint> points);

}  // namespace howard::reports
