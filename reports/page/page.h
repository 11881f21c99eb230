// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/page/document.h"
#include "reports/page/timeline.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Holds one experiment on the page.
struct PageSection {
  harness::ExperimentResult result;
  harness::Presentation presentation;
  std::string question;            ///< "TFLOPS against size, ..."; empty: the name stands alone.
  std::vector<std::string> files;  ///< Beside the page, for links: "matmul_sweep.json".
  std::vector<Table> tables;       ///< Shown in place of those that the presentation makes.
  std::vector<Table> more = {};    ///< Shown below them.
  const profiler::MemoryUse* memory = nullptr;  ///< A training's, drawn over time; null: none.
  /// Whether it is of an experiment: its axes run it again, and figures of it may be published.
  bool of_experiment = true;
};

/// Holds what a page says.
struct Page {
  std::vector<PageSection> sections;
  /// What could not be read or drawn, a sentence each; the page says it at its top.
  std::vector<std::string> problems;
  /// Recorded points for the timeline; the page has none without them.
  std::span<const TimelinePoint> timelines = {};
  /// What the summary says before anything else, a sentence each: what has become slower.
  std::vector<std::string> findings = {};
  /// Parts between the summary and the experiments: what has changed, and how it went before.
  std::vector<PagePart> before = {};
};

/// Returns the page of a run or of a folder of results, as html_document() makes it.
std::string html_page(const Page& page);

}  // namespace howard::reports
