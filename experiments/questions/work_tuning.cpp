// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/work_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engines/chip/calibration/bands.h"
#include "harness/measurement.h"

namespace howard::experiments {
namespace {

/// What ran of calls that are alike.
struct Tally {
  CoreGrid grid;
  Bytes l1_free;  ///< Where the least is free.
  std::vector<chip::PlannedProgram> launches;
  std::int64_t runs = 0;
  SimTime time;
  double uncertain = 0;  ///< Seconds.

  SimTime mean() const { return SimTime::picoseconds(time.ps() / runs); }
  ArgumentsInPlace in_place(const Attributes& attributes, SimTime whole) const {
    const auto product = std::ranges::find_if(
        launches, [](const chip::PlannedProgram& launch) { return launch.matmul.has_value(); });
    const chip::PlannedProgram& last = product != launches.end() ? *product : launches.back();
    return {.attributes = attributes,
            .time = mean(),
            .error = uncertain / time.seconds(),
            .whole = whole,
            .planned = last.program,
            .matmul = last.matmul};
  }
};

using Tallies = std::map<Program, Tally, chip::CallOrder>;

/// Counts the calls that chips run.
class CallCounter final : public chip::CallSink {
 public:
  void ran(const chip::AskedCall& call, const chip::Profiles& profiles) override {
    if (!has_other_arguments(call.program.attributes)) return;
    if (!profiles_) profiles_ = profiles;
    const auto [found, is_new] = tallies_.try_emplace(call.program);
    Tally& tally = found->second;
    if (is_new || call.l1_free < tally.l1_free) {
      tally.grid = call.grid;
      tally.l1_free = call.l1_free;
      tally.launches.assign(call.launches.begin(), call.launches.end());
    }
    ++tally.runs;
    tally.time += call.kernel_time();
    tally.uncertain += uncertainty_of(call, profiles);
  }

  /// Forgets what has run, as chips before the one that is timed, and its warm-up.
  void restart() {
    tallies_.clear();
    uncertain_.clear();
    profiles_.reset();
  }

  Tallies& tallies() { return tallies_; }
  const std::optional<chip::Profiles>& profiles() const { return profiles_; }

 private:
  /// Returns by how many seconds the time of a call is expected to be off.
  double uncertainty_of(const chip::AskedCall& call, const chip::Profiles& profiles) {
    const auto [known, is_new] = uncertain_.try_emplace(call.launches.data());
    if (!is_new) return known->second;
    for (const chip::PlannedProgram& launch : call.launches) {
      const chip::Band& band = calibration::band_of(launch, profiles.chip.architecture);
      known->second += launch.kernel.total.seconds() * band.share;
    }
    return known->second;
  }

  Tallies tallies_;
  std::map<const chip::PlannedProgram*, double> uncertain_;
  std::optional<chip::Profiles> profiles_;
};

/// Counts from where the timed iterations begin, which is where the measurement first reads the
/// clock.
class CountedCase final : public harness::Case {
 public:
  CountedCase(harness::Case& counted, CallCounter& counter)
      : counted_(counted), counter_(counter) {}

  void run() override { counted_.run(); }
  void finish() override { counted_.finish(); }
  SimTime now() const override {
    if (!std::exchange(has_begun_, true)) counter_.restart();
    return counted_.now();
  }
  void set_trace_sink(EventSink* sink) override { counted_.set_trace_sink(sink); }
  void describe(double seconds, harness::PointResult& point) const override {
    counted_.describe(seconds, point);
  }

 private:
  harness::Case& counted_;
  CallCounter& counter_;
  mutable bool has_begun_ = false;
};

/// An iteration of a work.
struct Run {
  SimTime time;
  double error = 0;
  int iterations = 1;
  Tallies calls;
  std::optional<chip::Profiles> profiles;
};

/// Throws Error if the point cannot run.
Run run_of(const Box& box, const TunedWork& work,
           const std::shared_ptr<const chip::TunedCalls>& tuned) {
  if (box->stop() && box->stop()()) {
    throw Error({.attempted = "tune a work", .value = "interrupted"});
  }
  CallCounter counter;
  const auto experiment = work.experiment(box->tuned(tuned, &counter));
  const harness::VirtualTiming timing = experiment->timing();
  if (timing.iterations == 0) {
    throw Error({.attempted = fmt::format("tune {}", experiment->name()),
                 .value = "it works its times out and runs no iterations on a chip",
                 .accepted = "what times iterations on the emulator",
                 .hint = "a script, a log, a workload or a model"});
  }
  auto prepared = experiment->prepare(harness::Backend::emulated, work.point);
  if (auto* const reason = std::get_if<harness::NotApplicable>(&prepared)) {
    throw Error({.attempted = "run it", .value = reason->reason});
  }
  CountedCase counted(*std::get<std::unique_ptr<harness::Case>>(prepared), counter);
  Run run{.time = measure_virtual(counted, timing),
          .iterations = timing.iterations,
          .calls = std::move(counter.tallies()),
          .profiles = counter.profiles()};
  harness::PointResult described{.backend = harness::Backend::emulated, .parameters = work.point};
  counted.describe(run.time.seconds(), described);
  if (const auto error = described.expected_error()) run.error = error->share;
  return run;
}

/// Returns what the calls like `program` take if they have these arguments, and nothing else is
/// changed; nothing if the work does not run so.
std::optional<ArgumentsInPlace> in_place(const Box& box, const TunedWork& work,
                                         const Program& program, const Attributes& attributes) {
  const auto tuned = std::make_shared<chip::TunedCalls>();
  tuned->set(program, attributes);
  try {
    const Run run = run_of(box, work, tuned);
    return run.calls.at(program).in_place(attributes, run.time);
  } catch (const Error&) {
    if (box->stop() && box->stop()()) throw;
    return std::nullopt;  // Tensors in L1 leave no room for it at some other place.
  }
}

/// How many arguments of a call are run in its place: the fastest may have no room in all places.
constexpr std::size_t kMostTried = 4;

class WorkTuner {
 public:
  WorkTuner(const Box& box, const TunedWork& work, int threads)
      : box_(box), work_(work), threads_(threads) {}

  WorkTuning tune(const Tried& tried) {
    const Run own = run_of(box_, work_, nullptr);
    if (own.calls.empty()) refuse();
    WorkTuning tuning{.experiment = std::string(work_.experiment(box_)->name()),
                      .point = work_.point,
                      .chip = own.profiles->chip.name,
                      .software = own.profiles->software.name,
                      .architecture = std::string(own.profiles->chip.architecture),
                      .time = own.time,
                      .best_time = own.time,
                      .error = own.error,
                      .distinct = own.calls.size()};
    std::size_t place = 0;
    for (const auto& [program, tally] : own.calls) {
      add(own, program, tally, tuning);
      if (tried) tried(++place, own.calls.size());
    }
    std::ranges::stable_sort(tuning.calls, std::greater(), &TunedCall::saved);
    add_whole(tuning);
    return tuning;
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error({.attempted = fmt::format("tune {}", work_.experiment(box_)->name()),
                 .value = "none of its calls has a configuration",
                 .accepted = "matrix products, attention, convolutions, group norms, collectives"});
  }

  void add(const Run& own, const Program& program, const Tally& tally, WorkTuning& tuning) {
    TunedCall call{.program = program,
                   .grid = tally.grid,
                   .calls = static_cast<double>(tally.runs) / own.iterations,
                   .now = tally.in_place(program.attributes, own.time)};
    PlacedCall placed{.program = program, .grid = call.grid, .l1_free = tally.l1_free};
    if (call.now.matmul) placed.own_choice = *call.now.matmul;
    const auto others = fastest_arguments(placed, *own.profiles, kMostTried, threads_);
    if (others.empty() || others.front().time >= call.now.time) {
      ++tuning.best_already;
      return;
    }
    // What gains less than times of its kind are off need not be run.
    if (lost_in_error(call.now.time, others.front().time, call.now.error)) {
      ++tuning.below_error;
      return;
    }
    auto best = best_in_place(call, others);
    if (!best) {
      ++tuning.best_already;
      return;
    }
    if (lost_in_error(call.now.time, best->time, best->error)) {
      ++tuning.below_error;
      return;
    }
    call.best = std::move(*best);
    tuning.calls.push_back(std::move(call));
  }

  /// Returns the arguments with which an iteration is shortest. Of those whose kernels take about
  /// as long some use fewer cores, which get their programs sooner.
  std::optional<ArgumentsInPlace> best_in_place(const TunedCall& call,
                                                const std::vector<OtherArguments>& others) const {
    constexpr double kAlike = 1.05;
    std::optional<ArgumentsInPlace> best;
    for (const OtherArguments& other : others) {
      const bool is_slower = best && other.time.seconds() > kAlike * best->time.seconds();
      if (other.time >= call.now.time || is_slower) break;
      auto tried = in_place(box_, work_, call.program, other.attributes);
      if (!tried || tried->time >= call.now.time) continue;
      if (!best || tried->whole < best->whole) best = std::move(tried);
    }
    return best;
  }

  /// Says whether what is saved of a time is less than its expected error.
  static bool lost_in_error(SimTime now, SimTime best, double error) {
    return 1 - best.seconds() / now.seconds() < error;
  }

  /// Adds what an iteration takes with all best arguments.
  void add_whole(WorkTuning& tuning) const {
    const auto tuned = std::make_shared<chip::TunedCalls>();
    for (const TunedCall& call : tuning.calls) tuned->set(call.program, call.best.attributes);
    if (!tuning.calls.empty()) tuning.best_time = run_of(box_, work_, tuned).time;
  }

  const Box& box_;
  const TunedWork& work_;
  int threads_;
};

}  // namespace

WorkTuning tune(const Box& box, const TunedWork& work, int threads, const Tried& tried) {
  return WorkTuner(box, work, threads).tune(tried);
}

}  // namespace howard::experiments
