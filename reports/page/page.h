// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "profiler/formats/traces/trace_process.h"
#include "reports/findings/comparison.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// One experiment on the page.
struct PageSection {
  harness::ExperimentResult result;
  harness::Presentation presentation;
  std::string question;            ///< "TFLOPS against size, ..."; empty: the name stands alone.
  std::vector<std::string> files;  ///< Beside the page, for links: "matmul_sweep.json".
  std::vector<Table> tables;       ///< Shown in place of those that the presentation makes.
};

/// What a page says.
struct Page {
  std::vector<PageSection> sections;
  /// What could not be read or drawn, a sentence each; the page says it at its top.
  std::vector<std::string> problems;
  /// Recorded points for the timeline; the page has none without them.
  std::span<const profiler::TraceProcess> timelines = {};
  /// What has changed since an older run, and what that run is called.
  std::optional<Comparison> changes = {};
  std::string older = {};
};

/// The page as one HTML file that needs nothing else: it opens from a disk, loads nothing, and its
/// Content-Security-Policy forbids everything but its own script and style. It can be read without
/// JavaScript, which sorts and filters tables and draws the timeline. The same input gives the same
/// bytes.
std::string html_page(const Page& page);

}  // namespace howard::reports
