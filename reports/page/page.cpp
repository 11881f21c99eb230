// SPDX-License-Identifier: Apache-2.0
#include "reports/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "reports/findings/run_summary.h"
#include "reports/page/html.h"
#include "reports/page/page_words.h"
#include "reports/page/svg.h"
#include "reports/page/timeline.h"
#include "reports/pictures/bar_chart.h"
#include "reports/published/claims.h"
#include "reports/sweeps/sweep_summary.h"
#include "reports/tables/format.h"

namespace howard::reports {

namespace embedded {
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
extern const std::string_view kPageStyleDigest;
extern const std::string_view kPageScriptDigest;
}  // namespace embedded

namespace {

using harness::Backend;
using harness::ExperimentResult;

/// Tables of more rows show a sample; the JSON and the CSV beside the page have all.
constexpr bool kAllRows = false;

/// "sha256-..." of a digest in hexadecimal digits, as a Content-Security-Policy wants it.
std::string policy_hash(std::string_view digest) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint32_t> bytes;
  for (std::size_t i = 0; i + 1 < digest.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint32_t>(std::stoul(std::string(digest.substr(i, 2)), nullptr, 16)));
  }
  std::string text = "sha256-";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t place) { return place < bytes.size() ? bytes[place] : 0U; };
    const std::uint32_t group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) {
      const bool filler = i + k > bytes.size();
      text += filler ? '=' : kDigits[group >> (18U - 6U * k) & 63U];
    }
  }
  return text;
}

std::string head() {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; "
      "script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Howard: results</title>\n<style>{}</style>\n</head>\n<body>\n",
      policy_hash(embedded::kPageStyleDigest), policy_hash(embedded::kPageScriptDigest),
      embedded::kPageStyle);
}

std::string navigation(const Page& page) {
  std::string text = "<nav aria-label=\"Experiments\"><a href=\"#summary\">summary</a>\n";
  if (page.changes) text += "<a href=\"#changes\">changes</a>\n";
  if (!page.timelines.empty()) text += "<a href=\"#timeline\">timeline</a>\n";
  for (const PageSection& section : page.sections) {
    text += fmt::format("<a href=\"#{}\">{}</a>\n", html_word(section.result.experiment),
                        html_text(section.result.experiment));
  }
  return text + "</nav>\n";
}

std::string list_of(std::string_view kind, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  std::string text = fmt::format("<ul class=\"{}\">\n", kind);
  for (const std::string& sentence : sentences) text += "<li>" + html_text(sentence) + "</li>\n";
  return text + "</ul>\n";
}

std::string context_list(const harness::RunContext& context) {
  std::string text = "<dl class=\"context\">\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html_text(value));
  };
  fact("version", context.version);
  fact("commit", context.git);
  fact("chip", context.chip_profile);
  fact("software", context.software_profile);
  fact("CPU", context.cpu);
  if (context.threads > 0) fact("threads", std::to_string(context.threads));
  fact("compiler", context.compiler);
  fact("seed", std::to_string(context.seed));
  return text + "</dl>\n";
}

std::string summary(const Page& page, const std::vector<ExperimentResult>& results) {
  std::string text = "<section id=\"summary\">\n<h2>Summary</h2>\n";
  text += list_of("problems", page.problems);
  if (results.empty()) return text + "<p>There is no result to show.</p>\n</section>\n";
  text += context_list(results.front().context);
  text += list_of("findings", run_findings(results));
  text += html_table(summary_table(results, {}));
  if (can_judge(results)) text += html_table(claims_table(report_claims(), results));
  return text + "</section>\n";
}

std::string changes(const Page& page) {
  if (!page.changes) return "";
  std::string text = fmt::format("<section id=\"changes\">\n<h2>Changes since {}</h2>\n<p>{}</p>\n",
                                 html_text(page.older), html_text(change_words(*page.changes)));
  text += list_of("problems", page.changes->warnings);
  for (const Table& table : comparison_tables(*page.changes)) text += html_table(table);
  return text + "</section>\n";
}

std::string timeline(const Page& page) {
  if (page.timelines.empty()) return "";
  return "<section id=\"timeline\">\n<h2>Timeline</h2>\n"
         "<p>One iteration of a point, in virtual time. Drag to move, turn the wheel or press + "
         "and "
         "- to zoom, arrow keys to move, 0 to see all. Gaps between kernels are coloured by what "
         "the "
         "chip waited for.</p>\n<div id=\"timeline-view\"><noscript><p>The timeline needs "
         "JavaScript.</p></noscript></div>\n<script type=\"application/json\" "
         "id=\"timeline-data\">" +
         timeline_json(page.timelines) + "</script>\n</section>\n";
}

std::string charts(const PageSection& section) {
  std::string text;
  const harness::Presentation& presentation = section.presentation;
  for (const harness::Plot& plot : presentation.plots) text += svg_lines(section.result, plot);
  for (const Backend backend : {Backend::emulated, Backend::host}) {
    for (const harness::BarChart& chart : presentation.bar_charts) {
      if (const auto bars = bar_picture(section.result, backend, chart, ""))
        text += svg_bars(*bars);
    }
    for (const harness::HeatMap& map : presentation.heat_maps) {
      text += svg_map(section.result, backend, map);
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

std::string section_of(const PageSection& section) {
  const ExperimentResult& result = section.result;
  std::string text = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", html_word(result.experiment),
                                 html_text(result.experiment));
  if (!section.question.empty()) {
    text += "<p class=\"question\">" + html_text(section.question) + "</p>\n";
  }
  for (const std::string& sentence : experiment_words(result)) {
    text += "<p>" + html_text(sentence) + "</p>\n";
  }
  text += charts(section);
  std::vector<Table> tables = section.tables;
  if (tables.empty()) {
    tables = make_tables(result, section.presentation, kAllRows);
    std::ranges::move(sweep_tables(result, section.presentation, kAllRows),
                      std::back_inserter(tables));
  }
  for (const Table& table : tables) text += html_table(table);
  text += "<p>To run it again: <code>" + html_text(command_of(result)) + "</code></p>\n";
  return text + links(section.files) + "</section>\n";
}

}  // namespace

std::string html_page(const Page& page) {
  std::vector<ExperimentResult> results;
  for (const PageSection& section : page.sections) results.push_back(section.result);
  std::string text = head();
  text += "<a class=\"skip\" href=\"#summary\">to the results</a>\n<header><h1>Howard</h1>" +
          navigation(page) + "</header>\n<main>\n";
  text += summary(page, results) + changes(page) + timeline(page);
  for (const PageSection& section : page.sections) text += section_of(section);
  text += "</main>\n<script>";
  text += embedded::kPageScript;
  return text + "</script>\n</body>\n</html>\n";
}

}  // namespace howard::reports
