// SPDX-License-Identifier: Apache-2.0
#include "reports/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "reports/findings/run_summary.h"
#include "reports/page/html.h"
#include "reports/page/page_words.h"
#include "reports/page/sample_chart.h"
#include "reports/page/svg_chart.h"
#include "reports/page/training_charts.h"
#include "reports/pictures/bar_chart.h"
#include "reports/published/claims.h"
#include "reports/sweeps/sweep_pictures.h"
#include "reports/sweeps/sweep_summary.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::ExperimentResult;

/// Long tables show a sample of their rows; the JSON and the CSV beside the page have all.
constexpr bool kAllRows = false;

PagePart summary_part(const Page& page, const std::vector<ExperimentResult>& results) {
  PagePart part{.name = "summary", .heading = "Summary", .html = {}};
  part.html = html_list("problems", page.problems);
  if (results.empty()) {
    part.html += "<p>There is no result to show.</p>\n";
    return part;
  }
  part.html += html_context(results.front().context);
  std::vector<std::string> findings = page.findings;
  std::ranges::move(run_findings(results), std::back_inserter(findings));
  part.html += html_list("findings", findings);
  return part;
}

/// Returns how the results stand to what was published.
PagePart published_part(const std::vector<ExperimentResult>& results) {
  PagePart part{.name = "published", .heading = "Beside the published figures", .html = {}};
  if (can_judge(results)) part.html += html_table(claims_table(report_claims(), results));
  part.html += html_table(summary_table(results, {}));
  return part;
}

std::string charts(const PageSection& section) {
  std::string text;
  const harness::Presentation& presentation = section.presentation;
  if (!presentation.swept.empty()) {
    const SweepCharts sweeps = sweep_charts(section.result, presentation);
    for (const XyChart& chart : sweeps.lines) text += svg_chart(chart);
    for (const MapChart& map : sweeps.maps) text += svg_map(map);
    return text;
  }
  for (const harness::Plot& plot : presentation.plots) text += svg_lines(section.result, plot);
  for (const XyChart& chart : training_charts(section.result)) text += svg_chart(chart);
  if (const auto runs = sample_chart(section.result)) text += svg_chart(*runs);
  if (section.memory != nullptr) {
    if (const auto chart = memory_chart(*section.memory)) text += svg_chart(*chart);
  }
  for (const Backend backend : {Backend::emulated, Backend::host}) {
    for (const harness::BarChart& chart : presentation.bar_charts) {
      if (const auto bars = bar_picture(section.result, backend, chart, ""))
        text += svg_bars(*bars);
    }
    for (const harness::HeatMap& map : presentation.heat_maps) {
      if (const auto cells = map_chart(section.result, backend, map)) text += svg_map(*cells);
    }
  }
  return text;
}

std::string links(const std::vector<std::string>& files) {
  if (files.empty()) return "";
  std::string text = "<p class=\"files\">Files:";
  for (const std::string& file : files) {
    text += fmt::format(" <a href=\"{0}\">{0}</a>", html_text(file));
  }
  return text + "</p>\n";
}

PagePart part_of(const PageSection& section) {
  const ExperimentResult& result = section.result;
  PagePart part{.name = result.experiment, .heading = result.experiment, .html = {}};
  if (!section.question.empty()) {
    part.html += "<p class=\"question\">" + html_text(section.question) + "</p>\n";
  }
  part.html += html_paragraphs(experiment_words(result)) + charts(section);
  std::vector<Table> tables = section.tables;
  if (tables.empty()) {
    tables = make_tables(result, section.presentation, kAllRows);
    std::ranges::move(sweep_tables(result, section.presentation, kAllRows),
                      std::back_inserter(tables));
  }
  part.html += html_tables(tables) + html_tables(section.more);
  if (section.of_experiment) {
    part.html += "<p>To run it again: <code>" + html_text(command_of(result)) + "</code></p>\n";
  }
  part.html += links(section.files);
  return part;
}

}  // namespace

std::string html_page(const Page& page) {
  std::vector<ExperimentResult> results;
  for (const PageSection& section : page.sections) results.push_back(section.result);
  std::vector<PagePart> parts{summary_part(page, results)};
  // What has changed concerns its reader more than what was once published.
  std::ranges::copy(page.before, std::back_inserter(parts));
  if (std::ranges::any_of(page.sections, &PageSection::of_experiment)) {
    parts.push_back(published_part(results));
  }
  if (!page.timelines.empty()) {
    parts.push_back(timeline_part("One iteration of a point, in virtual time.", page.timelines));
  }
  for (const PageSection& section : page.sections) parts.push_back(part_of(section));
  return html_document("Howard: results", parts);
}

}  // namespace howard::reports
