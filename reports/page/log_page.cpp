// SPDX-License-Identifier: Apache-2.0
#include "reports/page/log_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "profiler/dispatch_gaps.h"
#include "reports/findings/gap_names.h"
#include "reports/findings/log_charts.h"
#include "reports/page/document.h"
#include "reports/page/html.h"
#include "reports/page/svg_chart.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::LaneKind;

std::vector<BusyLane> devices_of(const profiler::LoggedRun& run) {
  if (!run.knows_starts) return {};
  return profiler::find_gaps(run.timeline, LaneKind::device);
}

/// Returns "between calls 16.3 s, launch 2.1 ms": the causes that took the most.
std::string main_causes(const BusyLane& lane) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> parts;
  for (const profiler::GapCause cause : causes_present(lane.causes)) {
    if (parts.size() == kNamed) break;
    parts.push_back(fmt::format("{} {}", name_of(cause), format_time(lane.causes[cause])));
  }
  return join(parts, ", ");
}

std::string lane_words(const BusyLane& lane, std::string_view device) {
  const SimTime span = lane.span.duration();
  if (span <= SimTime()) return "";
  std::string words =
      fmt::format("{} {} ran {} in {} and was busy for {} of it ({:.1f} %).", device, lane.device,
                  counted(lane.programs, "program"), format_time(span), format_time(lane.busy),
                  100 * lane.busy.seconds() / span.seconds());
  if (lane.idle > SimTime() && lane.causes[profiler::GapCause::unknown] == lane.idle) {
    words += fmt::format(" It waited for {}; the log does not tell why.", format_time(lane.idle));
  } else if (lane.idle > SimTime()) {
    words += fmt::format(" It waited for {}: {}.", format_time(lane.idle), main_causes(lane));
  }
  return words;
}

/// Says what a device did once all programs had run, which is what a longer run repeats, and then
/// what it did in all.
void add_words_of(const profiler::LoggedRun& run, const BusyLane& lane,
                  std::vector<std::string>& words) {
  BusyLane steady = steady_part(run.timeline, lane);
  if (steady.span.start == lane.span.start) return words.push_back(lane_words(lane, "Device"));
  steady.programs = static_cast<std::uint32_t>(
      std::ranges::count_if(run.timeline.programs, [&](const profiler::ProgramRun& program) {
        return program.device == lane.device && program.kernel.start >= steady.span.start;
      }));
  words.push_back(lane_words(steady, "Once all programs had run, device"));
  words.push_back(lane_words(lane, "With the first runs, device"));
}

/// Returns what several devices did together, and why the one that waited longest did.
std::string devices_words(const std::vector<BusyLane>& devices) {
  const auto span_of = [](const BusyLane& lane) { return lane.span.duration(); };
  const auto busy_of = [](const BusyLane& lane) {
    const double span = lane.span.duration().seconds();
    return span > 0 ? 100 * lane.busy.seconds() / span : 0;
  };
  std::size_t programs = 0;
  for (const BusyLane& lane : devices) programs += lane.programs;
  const auto [shortest, longest] = std::ranges::minmax(devices, {}, span_of);
  const auto [idlest, busiest] = std::ranges::minmax(devices, {}, busy_of);
  std::string words =
      fmt::format("{} ran {} in {} to {} each and were busy for {:.1f} to {:.1f} % of it.",
                  counted(devices.size(), "device"), counted(programs, "program"),
                  format_time(span_of(shortest)), format_time(span_of(longest)), busy_of(idlest),
                  busy_of(busiest));
  const BusyLane& waiting = *std::ranges::max_element(devices, {}, &BusyLane::idle);
  if (waiting.idle > SimTime()) {
    words += fmt::format(" Device {} waited longest, for {}: {}.", waiting.device,
                         format_time(waiting.idle), main_causes(waiting));
  }
  return words;
}

/// Returns charts beside each other, if there are several.
std::string side_by_side(const std::vector<std::string>& charts) {
  const std::string text = join(charts, "");
  if (charts.size() < 2) return text;
  return "<div class=\"multiples\">\n" + text + "</div>\n";
}

std::vector<std::string> core_maps(const PageLog& log) {
  std::vector<std::string> maps;
  for (const MapChart& chart : core_charts(*log.run, log.title)) maps.push_back(svg_map(chart));
  return maps;
}

/// Returns the charts of the idle time; those of several devices stand beside each other.
std::string idle_charts(const PageLog& log, const std::vector<BusyLane>& devices) {
  std::vector<std::string> charts;
  for (const BusyLane& lane : devices) {
    if (const auto idle = idle_chart(lane, log.title)) charts.push_back(svg_stack(*idle));
  }
  return side_by_side(charts);
}

std::string gap_charts(const PageLog& log, const std::vector<BusyLane>& devices) {
  std::string text;
  if (const auto causes = causes_chart(devices, LaneKind::device, log.title)) {
    text += svg_bars(*causes);
  }
  return text + idle_charts(log, devices);
}

/// Returns the charts of the time after the first runs, and those of all of it behind a switch.
std::string charts_of(const PageLog& log, const std::vector<BusyLane>& devices) {
  std::vector<BusyLane> steady;
  bool is_part = false;
  for (const BusyLane& lane : devices) {
    steady.push_back(steady_part(log.run->timeline, lane));
    is_part = is_part || steady.back().span.start != lane.span.start;
  }
  std::string text;
  if (const auto ops = ops_chart(*log.run, log.title)) text += svg_bars(*ops);
  if (const auto roofline = roofline_chart(log.advice, log.title)) text += svg_chart(*roofline);
  text += side_by_side(core_maps(log));
  if (!is_part) return text + gap_charts(log, devices);
  return text +
         "<p>These charts begin where programs had run once. What came before is in the next "
         "ones.</p>\n" +
         gap_charts(log, steady) + "<details><summary>With the first runs</summary>\n" +
         gap_charts(log, devices) + "</details>\n";
}

PagePart log_part(const PageLog& log) {
  const std::string place = log_place(log);
  PagePart part{.name = log.title,
                .heading = place.empty() ? log.title : fmt::format("{} ({})", log.title, place),
                .html = html_tables(log.advice_tables)};
  if (log.run != nullptr && !log.run->timeline.programs.empty()) {
    part.html += charts_of(log, devices_of(*log.run));
  }
  part.html += html_tables(log.tables);
  return part;
}

/// Returns what the browser calls the page: the first log and its chip.
std::string title_of(const LogPage& page) {
  const auto first =
      std::ranges::find_if(page.logs, [](const PageLog& log) { return log.run != nullptr; });
  if (first == page.logs.end()) return "Howard: logs";
  const std::string place = log_place(*first);
  return place.empty() ? first->title : fmt::format("{}: {}", first->title, place);
}

}  // namespace

std::string log_place(const PageLog& log) {
  if (log.run == nullptr) return "";
  std::string place;
  const std::vector<profiler::LoggedDevice>& devices = log.run->devices;
  if (!devices.empty()) {
    const profiler::LoggedDevice& one = devices.front();
    if (devices.size() > 1) place += fmt::format("{} devices of ", devices.size());
    place += one.architecture.empty() ? "an unknown chip" : one.architecture;
    if (one.worker_cores > 0)
      place += ", " + counted(static_cast<std::size_t>(one.worker_cores), "core");
    if (one.clock.value() > 0) place += fmt::format(", {} MHz", one.clock.value() / 1'000'000);
  }
  if (log.recorded.empty()) return place;
  return place.empty() ? log.recorded : place + "; " + log.recorded;
}

std::vector<std::string> log_words(const PageLog& log) {
  std::vector<std::string> words;
  if (log.run == nullptr) return words;
  constexpr std::size_t kMostAlone = 2;
  const std::vector<BusyLane> devices = devices_of(*log.run);
  if (devices.size() > kMostAlone) {
    words.push_back(devices_words(devices));
  } else {
    for (const BusyLane& lane : devices) add_words_of(*log.run, lane, words);
  }
  if (!log.run->knows_starts) {
    words.emplace_back(
        "The log does not say when programs began, so that nothing is known of the time between "
        "them.");
  }
  constexpr std::size_t kMostGains = 3;
  for (std::size_t i = 0; i < std::min(kMostGains, log.advice.findings.size()); ++i) {
    const profiler::LogFinding& finding = log.advice.findings[i];
    words.push_back(fmt::format("{} of {} could go ({}): {}, of {}.", format_time(finding.gain),
                                format_time(finding.now), name_of(finding.source), finding.what,
                                finding.brief.empty() ? finding.where : finding.brief));
  }
  if (!log.advice.uses.empty() && log.advice.findings.empty()) {
    words.emplace_back("No change that is known would make it faster.");
  }
  std::erase(words, "");
  return words;
}

std::string html_log_page(const LogPage& page) {
  PagePart summary{.name = "summary", .heading = "Summary", .html = {}};
  summary.html = html_list("problems", page.problems);
  if (page.logs.empty()) summary.html += "<p>There is nothing to show.</p>\n";
  for (const PageLog& log : page.logs) {
    const std::vector<std::string> words = log_words(log);
    if (words.empty()) continue;
    summary.html += "<h3>" + html_text(log.title) + "</h3>\n" + html_list("findings", words);
  }
  summary.html += html_context(page.context);
  std::vector<PagePart> parts{std::move(summary)};
  for (const PageLog& log : page.logs) parts.push_back(log_part(log));
  if (!page.timelines.empty()) {
    parts.push_back(
        timeline_part("The programs of each device, and the host's calls where the log has them.",
                      page.timelines));
  }
  return html_document(title_of(page), parts);
}

}  // namespace howard::reports
