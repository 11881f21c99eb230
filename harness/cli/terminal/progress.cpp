// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/live_bound.h"
#include "reports/tables/format.h"

namespace howard::cli {
namespace {

constexpr std::chrono::milliseconds kQuiet{300};
constexpr std::size_t kMostEvents = 100'000;

/// Returns "12.3 TFLOPS, bound by unpack", as far as the point says so.
std::string describe(const harness::PointResult& point) {
  std::string text;
  if (const harness::Metric* const throughput = point.find_metric("throughput")) {
    text = reports::format_quantity(throughput->value, throughput->unit);
  }
  if (const auto bound = point.find(harness::kBoundBy)) {
    text += (text.empty() ? "bound by " : ", bound by ") + *bound;
  }
  return text;
}

}  // namespace

Progress::Progress(std::string title, std::size_t total, bool enabled)
    : title_(std::move(title)), total_(total), line_(enabled) {}

bool Progress::is_due() const {
  return line_.is_due() && std::chrono::steady_clock::now() - start_ >= kQuiet;
}

void Progress::show(const std::string& rate, const std::string& point) {
  constexpr std::size_t kBar = 16;
  const std::size_t filled = std::min(kBar, kBar * done_ / std::max<std::size_t>(1, total_));
  line_.show(fmt::format("{} [{:#<{}}{:.<{}}] {}/{}  {}  {}", title_, "", filled, "", kBar - filled,
                         done_, total_, rate, point));
}

void Progress::advance(const harness::PointResult& finished) {
  ++done_;
  points_.add();
  if (!is_due()) return;
  const std::string work = describe(finished);
  show(fmt::format("{:.3g} points/s{}{}", points_.per_second(), work.empty() ? "" : "  ", work),
       finished.id());
}

void Progress::iterated(const harness::PointResult& running) {
  iterations_.add();
  if (std::exchange(has_events_, false)) {
    const auto bound = profiler::live_bound(recorder_->events());
    bound_ = bound ? fmt::format(", bound by {} {:.0f} %", bound->name, 100 * bound->share) : "";
  }
  if (!is_due()) return;
  show(fmt::format("{:.3g} iterations/s{}", iterations_.per_second(), bound_), running.id());
}

EventSink* Progress::live_sink() {
  bound_.clear();
  if (!line_.is_enabled()) return nullptr;
  if (!recorder_) recorder_.emplace(kMostEvents);
  recorder_->clear();
  has_events_ = true;
  return &*recorder_;
}

}  // namespace howard::cli
