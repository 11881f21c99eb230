// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/design_space.h"

#include "experiments/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/contradictions.h"

namespace howard::experiments {
namespace {

using chip::ProfileConstants;
using harness::Backend;
using harness::Parameters;

constexpr double kMostValues = 1e6;
constexpr std::string_view kChipAxis = "chip";

[[noreturn]] void reject(const std::string& setting, std::string accepted) {
  throw Error({.attempted = "set a constant to several values",
               .value = "'" + setting + "'",
               .accepted = std::move(accepted),
               .hint = "noc.link=20..32:2B/cycle"});
}

/// Returns "20..32:2B/cycle" as quantities.
std::vector<std::string> range_values(const std::string& setting, const std::string& range) {
  const std::size_t dots = range.find("..");
  const std::size_t colon = range.find(':', dots);
  if (colon == std::string::npos) reject(setting, "NAME=FIRST..LAST:STEPUNIT");
  const std::size_t unit = colon + 1 + chip::number_end(std::string_view(range).substr(colon + 1));
  if (unit == range.size()) reject(setting, "NAME=FIRST..LAST:STEPUNIT");
  const auto first = parse_number(range.substr(0, dots));
  const auto last = parse_number(range.substr(dots + 2, colon - dots - 2));
  const auto step = parse_number(range.substr(colon + 1, unit - colon - 1));
  if (!first || !last || !step || !(*step > 0) || *last < *first ||
      (*last - *first) / *step >= kMostValues) {
    reject(setting, "NAME=FIRST..LAST:STEPUNIT, rising in at most a million steps");
  }
  // It adds a hair for steps such as 0.1, which binary numbers miss.
  const auto steps = static_cast<std::int64_t>(std::floor((*last - *first) / *step + 1e-9));
  std::vector<std::string> values;
  for (std::int64_t i = 0; i <= steps; ++i) {
    values.push_back(
        fmt::format("{:.12g}{}", *first + static_cast<double>(i) * *step, range.substr(unit)));
  }
  return values;
}

std::string_view unit_of(std::string_view quantity) {
  return quantity.substr(chip::number_end(quantity));
}

/// Returns the values of "NAME=VALUES", each once. They are an axis, and so have one unit.
std::vector<std::string> values_of(const std::string& setting,
                                   const std::function<std::string(std::string_view)>& canonical) {
  std::vector<std::string> values;
  std::set<std::string> known;
  const std::size_t equals = std::min(setting.find('='), setting.size() - 1);
  for (const std::string& part : split(setting.substr(equals + 1), ',')) {
    const auto parts =
        part.find("..") == std::string::npos ? std::vector{part} : range_values(setting, part);
    for (const std::string& value : parts) {
      std::string quantity = canonical(value);
      if (!known.insert(quantity).second) continue;
      values.push_back(std::move(quantity));
      if (unit_of(values.back()) != unit_of(values.front())) reject(setting, "one unit for all");
    }
  }
  return values;
}

/// Returns the axis of several chips, whose values are the names of their profiles, and keeps what
/// each of them chooses.
harness::Axis chip_axis(DesignSpace& space, const std::vector<chip::ProfileChoice>& chips) {
  harness::Axis axis{.name = std::string(kChipAxis),
                     .meaning = "the chip that is emulated",
                     .values = {},
                     .quick_values = {}};
  for (chip::ProfileChoice each : chips) {
    each.settings = space.fixed.settings;
    const std::string name = chip::load_constants({each.profiles, {}}).chip.name();
    static_cast<void>(chip::load_profiles(each));
    if (std::ranges::find(axis.values, name) != axis.values.end()) {
      throw Error({.attempted = "emulate several chips",
                   .value = name + " twice",
                   .accepted = "each chip once"});
    }
    axis.values.push_back(name);
    space.chips.emplace_back(name, std::move(each));
  }
  axis.quick_values = axis.values;
  axis.canonical = [known = axis.values](std::string_view value) {
    if (std::ranges::find(known, value) != known.end()) return std::string(value);
    throw Error({.attempted = "set axis chip",
                 .value = fmt::format("'{}'", value),
                 .accepted = join(known, ", ")});
  };
  return axis;
}

std::string without_spaces(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

/// Adds the values that an experiment has on another chip, such as its cards, to those of `axes`.
void add_values(const std::vector<harness::Axis>& others, std::vector<harness::Axis>& axes) {
  const auto add = [](const std::vector<std::string>& from, std::vector<std::string>& to) {
    for (const std::string& value : from) {
      if (std::ranges::find(to, value) == to.end()) to.push_back(value);
    }
  };
  for (std::size_t i = 0; i < std::min(axes.size(), others.size()); ++i) {
    add(others[i].values, axes[i].values);
    add(others[i].quick_values, axes[i].quick_values);
  }
}

/// Runs the points of an experiment, each on a box with its own constants.
class Varied final : public harness::Experiment {
 public:
  Varied(std::unique_ptr<harness::Experiment> as_is, std::shared_ptr<const DevBox> box,
         std::shared_ptr<const DesignSpace> space)
      : as_is_(std::move(as_is)),
        maker_(maker_of(as_is_->name())),
        box_(std::move(box)),
        space_(std::move(space)) {}

  std::string_view name() const override { return as_is_->name(); }
  std::string_view question() const override { return as_is_->question(); }
  harness::VirtualTiming timing() const override { return as_is_->timing(); }
  bool shares_work() const override { return as_is_->shares_work(); }
  std::vector<harness::Document> documents() const override { return as_is_->documents(); }

  std::vector<harness::Axis> axes(Backend backend) const override {
    std::vector<harness::Axis> axes = as_is_->axes(backend);
    // An experiment that is not for the emulator has no points to vary.
    if (backend == Backend::host || axes.empty()) return axes;
    for (const auto& [name, choice] : space_->chips) {
      const auto box = box_->with(chip::load_constants(choice));
      add_values(runnable(maker_(box), box)->axes(backend), axes);
    }
    axes.insert(axes.begin(), space_->axes.begin(), space_->axes.end());
    return axes;
  }

  harness::Presentation presentation() const override {
    harness::Presentation presentation = as_is_->presentation();
    auto column = presentation.columns.begin();
    for (const harness::Axis& axis : space_->axes) {
      column = presentation.columns.insert(column,
                                           {axis.name, harness::CellSource::parameter, axis.name}) +
               1;
      if (axis.name != kChipAxis) {
        presentation.swept.push_back(axis.name);
        continue;
      }
      // Chips are no numbers along which a picture could run: each has a line of its own.
      for (harness::Plot& plot : presentation.plots) plot.series.push_back(axis.name);
      for (harness::BarChart& chart : presentation.bar_charts) chart.bars.push_back(axis.name);
    }
    return presentation;
  }

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    if (backend == Backend::host) return as_is_->prepare(backend, parameters);
    const auto own = parameters.begin() + static_cast<std::ptrdiff_t>(space_->axes.size());
    std::shared_ptr<const Variant> variant;
    try {
      variant = variant_of({parameters.begin(), own});
    } catch (const chip::Contradiction& contradiction) {
      return harness::NotApplicable{contradiction.text().value};
    }
    auto prepared = variant->experiment->prepare(backend, {own, parameters.end()});
    if (std::holds_alternative<harness::NotApplicable>(prepared)) return prepared;
    return std::make_unique<VariedCase>(
        variant, std::move(std::get<std::unique_ptr<harness::Case>>(prepared)));
  }

 private:
  /// Holds the experiment on a box of its own.
  struct Variant {
    Parameters settings;
    std::unique_ptr<harness::Experiment> experiment;
  };

  /// Holds a case and the box that must live as long.
  class VariedCase final : public harness::Case {
   public:
    VariedCase(std::shared_ptr<const Variant> variant, std::unique_ptr<harness::Case> timed)
        : variant_(std::move(variant)), timed_(std::move(timed)) {}

    void run() override { timed_->run(); }
    void finish() override { timed_->finish(); }
    SimTime now() const override { return timed_->now(); }
    void set_trace_sink(EventSink* sink) override { timed_->set_trace_sink(sink); }
    void describe(double seconds, harness::PointResult& point) const override {
      timed_->describe(seconds, point);
    }

   private:
    std::shared_ptr<const Variant> variant_;
    std::unique_ptr<harness::Case> timed_;
  };

  /// Returns the experiment with these settings. Consecutive points mostly share theirs.
  std::shared_ptr<const Variant> variant_of(Parameters settings) const {
    {
      const std::scoped_lock lock(mutex_);
      if (latest_ != nullptr && latest_->settings == settings) return latest_;
    }
    chip::ProfileChoice choice = space_->fixed;
    const auto chip = harness::find_parameter(settings, kChipAxis);
    if (chip) choice = space_->choice_of(*chip);
    ProfileConstants constants = chip::load_constants(choice);
    for (const auto& [constant, quantity] : settings) {
      if (constant != kChipAxis) set_constant(constants, constant + "=" + quantity);
    }
    const std::shared_ptr<const DevBox> box = box_->with(constants);
    auto variant = std::make_shared<const Variant>(std::move(settings), runnable(maker_(box), box));
    const std::scoped_lock lock(mutex_);
    latest_ = variant;
    return variant;
  }

  std::unique_ptr<harness::Experiment> as_is_;
  ExperimentMaker maker_;
  std::shared_ptr<const DevBox> box_;
  std::shared_ptr<const DesignSpace> space_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Variant> latest_;
};

}  // namespace

const chip::ProfileChoice& DesignSpace::choice_of(std::string_view chip) const {
  const auto found =
      std::ranges::find(chips, chip, &std::pair<std::string, chip::ProfileChoice>::first);
  HOWARD_CHECK(found != chips.end(), "a point has one of the chips");
  return found->second;
}

std::string DesignSpace::several() const {
  const std::string& name = axes.front().name;
  return name == kChipAxis ? "--chip gives several chips"
                           : fmt::format("--set gives {} several values", name);
}

DesignSpace parse_design_space(const chip::ProfileChoice& choice) {
  const std::vector<chip::ProfileChoice> chips = chip::each_chip({choice.profiles, {}});
  DesignSpace space{.fixed = chips.front(), .axes = {}, .chips = {}};
  std::vector<std::string> varied;
  for (const std::string& setting : choice.settings) {
    const bool several =
        setting.find(',') != std::string::npos || setting.find("..") != std::string::npos;
    (several ? varied : space.fixed.settings).push_back(setting);
  }
  const auto constants = std::make_shared<const ProfileConstants>(load_constants(space.fixed));
  if (chips.size() > 1) space.axes.push_back(chip_axis(space, chips));
  for (const std::string& setting : varied) {
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string name = setting.substr(0, equals);
    if (std::ranges::find(space.axes, name, &harness::Axis::name) != space.axes.end()) {
      reject(setting, "each constant once");
    }
    harness::Axis axis{.name = name,
                       .meaning = "a constant of the profiles",
                       .values = {},
                       .quick_values = {},
                       .canonical = [constants, name](std::string_view value) {
                         ProfileConstants tried = *constants;
                         std::string quantity = without_spaces(value);
                         set_constant(tried, name + "=" + quantity);
                         try {
                           static_cast<void>(read_profiles(tried));
                         } catch (const chip::Contradiction&) {
                           // Another constant may vary too; the points with this contradiction are
                           // skipped.
                         }
                         return quantity;
                       }};
    axis.values = values_of(setting, axis.canonical);
    axis.quick_values = {axis.values.front(), axis.values.back()};
    space.axes.push_back(std::move(axis));
  }
  return space;
}

ExperimentList vary(ExperimentList experiments, const std::shared_ptr<const DevBox>& box,
                    const DesignSpace& space) {
  if (space.axes.empty()) return experiments;
  const auto shared = std::make_shared<const DesignSpace>(space);
  for (auto& experiment : experiments) {
    if (experiment->is_tool() || experiment->axes(Backend::emulated).empty()) continue;
    experiment = std::make_unique<Varied>(std::move(experiment), box, shared);
  }
  return experiments;
}

}  // namespace howard::experiments
