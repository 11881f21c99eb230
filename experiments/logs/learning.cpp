// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/learning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/input_file.h"
#include "engines/chip/calibration/error_summary.h"
#include "engines/chip/profiles/constants.h"
#include "experiments/logs/chip_of_log.h"
#include "experiments/logs/log_content.h"
#include "profiler/median.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

using calibration::summarise;
using calibration::UnseenKind;
using chip::Card;
using chip::CardKernel;
using profiler::ComparedCall;
using profiler::SiliconComparison;

/// The runs of one call in a log.
struct Runs {
  std::string kind;
  SimTime built_in;
  double built_in_error = 0;
  std::vector<SimTime> times;
};

/// Returns how far runs are from their median in the mean.
double spread_of(const std::vector<SimTime>& times, SimTime median) {
  std::vector<double> errors;
  for (const SimTime time : times) errors.push_back(time.seconds() / median.seconds() - 1);
  return summarise(std::move(errors)).mean;
}

/// Returns the calls of a log as a card has them. One that ran once differs from run to run as the
/// others of its log do, or, if none ran twice, as the emulator's times of its kind do.
std::vector<CardKernel> kernels_of(const SiliconComparison& comparison) {
  std::map<chip::LaunchWords, Runs> calls;
  for (const ComparedCall& call : comparison.calls) {
    if (!call.words) continue;
    Runs& runs = calls[*call.words];
    runs.kind = call.kind;
    runs.built_in = call.emulated;
    runs.built_in_error = call.expected_error;
    for (const profiler::MeasuredRun& run : call.runs) runs.times.push_back(run.kernel);
  }
  std::vector<CardKernel> kernels;
  std::vector<double> spreads;
  for (auto& [words, runs] : calls) {
    const SimTime time = profiler::median(runs.times);
    CardKernel& kernel =
        kernels.emplace_back(CardKernel{.words = words,
                                        .kind = runs.kind,
                                        .time = time,
                                        .built_in = runs.built_in,
                                        .runs = static_cast<std::int64_t>(runs.times.size()),
                                        .error = runs.built_in_error,
                                        .built_in_error = runs.built_in_error});
    if (kernel.runs == 1) continue;
    kernel.error = spread_of(runs.times, time);
    spreads.push_back(kernel.error);
  }
  if (spreads.empty()) return kernels;
  const double usual = summarise(std::move(spreads)).median;
  for (CardKernel& kernel : kernels) {
    if (kernel.runs == 1) kernel.error = usual;
  }
  return kernels;
}

std::string name_of_file(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

/// Says whether a file names the schema of profiles and cards, also if the rest of it is damaged.
bool is_card(const std::string& file) {
  constexpr std::size_t kBeginning = 256;
  return beginning_of(file, kBeginning).find(chip::kProfileSchema) != std::string::npos;
}

class Learner {
 public:
  explicit Learner(chip::ProfileChoice choice) : choice_(std::move(choice)) {}

  void add_card(const std::string& file) {
    const Card& card = *chip::load_profiles({.profiles = {file}, .settings = {}}).card;
    for (const std::string& log : card.logs) require_new(log, file);
    add(card);
  }

  void add_log(const std::string& file) {
    const std::string name = name_of_file(file);
    require_new(name, file);
    chip::ProfileChoice choice = choice_;
    const LogContent content = compare_on_its_chip(file, choice, {});
    const auto& comparison = std::get<SiliconComparison>(content);
    for (const std::string& note : comparison.notes) {
      learnt_.notes.push_back(fmt::format("{}: {}", name, note));
    }
    count_left(comparison);
    const chip::ProfileConstants constants = chip::load_constants(choice);
    Card card{.name = "a card",
              .chip = constants.chip.name(),
              .software = constants.software.name(),
              .logs = {name},
              .kernels = kernels_of(comparison),
              .kinds = {}};
    add(card);
  }

  Learnt learnt() {
    if (!card_ || card_->kernels.empty()) {
      throw Error({.attempted = "learn",
                   .value = "no call of the logs is one that the emulator has",
                   .accepted = "ops_perf_results CSVs with the kernel times of its ops",
                   .hint = "run_experiment analyze LOG.csv --compare-emulated, which says why"});
    }
    learnt_.card = std::move(*card_);
    learnt_.card.kinds = calibration::kinds_of(learnt_.card.kernels);
    learnt_.unseen = calibration::unseen(learnt_.card.kernels);
    return std::move(learnt_);
  }

 private:
  /// Throws Error if the card that is made has learnt from `log` already.
  void require_new(const std::string& log, const std::string& file) const {
    if (!card_ || std::ranges::find(card_->logs, log) == card_->logs.end()) return;
    throw Error({.attempted = "learn from " + file,
                 .value = fmt::format("{} is learnt already", log),
                 .accepted = "each log once: its runs would count twice"});
  }

  void add(const Card& card) {
    card_ = card_ ? calibration::merged(std::move(*card_), card) : card;
  }

  void count_left(const SiliconComparison& comparison) {
    for (const profiler::NotEmulated& call : comparison.not_emulated) {
      learnt_.left["the emulator cannot run them, as analyze --compare-emulated says"] += call.runs;
    }
    for (const ComparedCall& call : comparison.calls) {
      if (call.words) continue;
      const std::string reason = call.by_its_time ? "their time alone tells how much they read"
                                                  : "another op stands for them in the emulator";
      learnt_.left[reason] += call.runs.size();
    }
    if (comparison.dropped.count() > 0) {
      learnt_.left["their rows have no time, or cannot be read"] += comparison.dropped.count();
    }
  }

  chip::ProfileChoice choice_;
  std::optional<Card> card_;
  Learnt learnt_;
};

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace

Learnt learn(const std::vector<std::string>& files, chip::ProfileChoice choice) {
  Learner learner(std::move(choice));
  // Cards first: what they have learnt is not learnt again.
  for (const std::string& file : files) {
    if (is_card(file)) learner.add_card(file);
  }
  for (const std::string& file : files) {
    if (!is_card(file)) learner.add_log(file);
  }
  return learner.learnt();
}

reports::Table learnt_table(const Learnt& learnt) {
  const Card& card = learnt.card;
  reports::Table table{
      .caption = fmt::format("What the card is learnt to take: {}, {}", card.chip, card.software),
      .columns = {
          {.title = "kind", .room = harness::Room::key},
          {.title = "calls", .number = true},
          {.title = "runs", .number = true},
          {.title = "measured",
           .unit = "us",
           .number = true,
           .meaning = "the medians of the calls in sum"},
          {.title = "emulator off", .unit = "%", .number = true, .room = harness::Room::key},
          {.title = "unseen off",
           .unit = "%",
           .number = true,
           .room = harness::Room::key,
           .meaning = "calls that were kept back, a third in turn, as the others say them"},
          {.title = "unseen calls take", .room = harness::Room::key}}};
  for (const UnseenKind& kind : learnt.unseen) {
    std::int64_t runs = 0;
    SimTime time;
    for (const CardKernel& kernel : card.kernels) {
      if (kernel.kind != kind.kind) continue;
      runs += kernel.runs;
      time += kernel.time;
    }
    const chip::CardKind* const said = card.find(kind.kind);
    reports::TableRow row;
    for (std::string text :
         {kind.kind, fmt::to_string(kind.built_in.size()), fmt::to_string(runs),
          fmt::format("{:.1f}", time.seconds() * 1e6), percent(summarise(kind.built_in).mean),
          percent(summarise(kind.error).mean),
          said != nullptr ? fmt::format("{:.2f} times the emulator's",
                                        static_cast<double>(said->factor) / chip::CardKind::kOne)
                          : std::string("the emulator's")}) {
      row.cells.push_back({.text = std::move(text)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> learnt_lines(const Learnt& learnt) {
  const Card& card = learnt.card;
  std::int64_t runs = 0;
  std::vector<double> own, built_in, error;
  for (const CardKernel& kernel : card.kernels) {
    runs += kernel.runs;
    if (kernel.runs > 1) own.push_back(kernel.error);
  }
  for (const UnseenKind& kind : learnt.unseen) {
    std::ranges::copy(kind.built_in, std::back_inserter(built_in));
    std::ranges::copy(kind.error, std::back_inserter(error));
  }
  const calibration::ErrorSummary without = summarise(built_in), with = summarise(error);
  const std::string differ =
      own.empty() ? "each ran once"
                  : fmt::format(
                        "the runs of a call differ from their median by {} % (in the median "
                        "of {} that ran more than once)",
                        percent(summarise(own).median), own.size());
  std::vector<std::string> lines{
      fmt::format("{} in {}: {}", reports::counted(card.kernels.size(), "call"),
                  reports::counted(static_cast<std::size_t>(runs), "run"), differ),
      fmt::format("calls that the card has not seen: the emulator is off by {} % in the median and "
                  "{} % in the mean, with the card by {} and {} %",
                  percent(without.median), percent(without.mean), percent(with.median),
                  percent(with.mean))};
  for (const auto& [reason, count] : learnt.left) {
    lines.push_back(fmt::format("{} not learnt: {}", reports::counted(count, "program"), reason));
  }
  return lines;
}

}  // namespace howard::experiments
