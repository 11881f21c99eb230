// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "engines/host/host_device.h"
#include "engines/host/host_memory.h"
#include "engines/wormhole/wormhole_device.h"
#include "experiments/workloads/chip_context.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/memory_watch.h"
#include "harness/cli/options.h"
#include "harness/cli/session.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/verbs/train_options.h"
#include "harness/cli/verbs/train_progress.h"
#include "harness/environment.h"
#include "harness/statistics.h"
#include "profiler/live_bound.h"
#include "profiler/recorder.h"
#include "reports/formats/result_json.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

extern const std::string_view kTrainHelp;  // the build compiles train_help.md in

namespace {

/// Returns the most memory that was in use at once in any phase.
Bytes peak_memory(const Device& device) {
  Bytes peak;
  for (const MemoryPhase& phase : device.memory_phases()) peak = std::max(peak, phase.peak);
  return peak;
}

/// Holds the devices that a run needs. The host computes, and the chip, if it is wanted, keeps the
/// time.
struct TrainDevices {
  /// `memory` receives the allocations of the device on which the model is trained; null if nobody
  /// listens.
  TrainDevices(const TrainOptions& options, MemorySink* memory)
      : host({.threads = options.threads,
              .memory = options.backend == harness::Backend::host ? memory : nullptr}) {
    if (options.backend == harness::Backend::emulated) {
      profiles = read_settings(options.profiles, wormhole::load_profiles);
      chip = std::make_unique<wormhole::WormholeDevice>(
          *profiles, wormhole::DeviceOptions{.values = &host, .memory = memory});
    }
    device().begin_phase("model");  // counts from the first buffer on
  }

  Device& device() { return chip ? static_cast<Device&>(*chip) : host; }

  host::HostDevice host;
  std::optional<wormhole::Profiles> profiles;
  std::unique_ptr<wormhole::WormholeDevice> chip;
};

class TrainRun {
 public:
  explicit TrainRun(TrainOptions options)
      : options_(std::move(options)),
        text_(read_file(options_.data)),
        devices_(options_, options_.memory.empty() ? nullptr : listening(memory_)),
        trainer_(devices_.device(), options_.recipe, text_, options_.engine,
                 host::available_memory()) {
    if (options_.resumed) trainer_.restore(*options_.resumed);
    options_.resumed.reset();  // it is as large as the model and its moments
    // A bad prompt must be reported before the training.
    if (options_.generate > 0) static_cast<void>(trainer_.tokenizer().encode(prompt()));
    if (!options_.checkpoint.empty()) {
      const auto folder = std::filesystem::absolute(options_.checkpoint).parent_path();
      require_writable_folder(folder);
    }
    if (!options_.results.empty()) require_writable_folder(options_.results);
    if (!options_.memory.empty()) require_writable_folder(options_.memory);
  }

  /// Returns false if the run was interrupted.
  bool run() {
    train();
    const bool stays = has_nothing_for(options_.checkpoint);
    if (!stays) save();
    summarise();
    if (!options_.checkpoint.empty()) say_fate(options_.checkpoint, stays);
    if (!options_.results.empty()) write_result();
    if (options_.generate > 0 && !Session::interrupted()) write_text();
    return !Session::interrupted();
  }

 private:
  void train() {
    TrainProgress progress(options_.progress);
    interval_start_ = devices_.device().now();
    while (trainer_.steps_done() < options_.recipe.steps && !Session::interrupted()) {
      const float rate = trainer_.learning_rate();
      const SimTime start = devices_.device().now();
      step(progress.wants_bound() || (trainer_.steps_done() + 1) % options_.every == 0);
      times_.push_back((devices_.device().now() - start).seconds());
      ++interval_steps_;
      if (losses_.size() == 1 && !options_.memory.empty()) report_memory(progress);
      const TrainState state = this->state(rate);
      if (trainer_.steps_done() % options_.every == 0) {
        progress.keep(state);
        save();
        interval_start_ = devices_.device().now();
        interval_steps_ = 0;
      } else {
        progress.renew(state);
      }
    }
  }

  /// If `looks` is true, it finds out what bounds the step.
  void step(bool looks) {
    recorder_.clear();
    if (looks) devices_.device().set_trace_sink(&recorder_);
    losses_.push_back(double{trainer_.step()});
    if (!looks) return;
    devices_.device().set_trace_sink(nullptr);
    const auto bound = profiler::live_bound(recorder_.events());
    bound_ = bound ? fmt::format("{} {:.0f} %", bound->name, 100 * bound->share) : "";
  }

  static MemorySink* listening(profiler::MemoryRecorder& recorder) {
    recorder.open("model");
    return &recorder;
  }

  /// This is reported after the first step, as TTML's tracker does, because the other steps
  /// allocate the same.
  void report_memory(TrainProgress& progress) {
    memory_.close();
    const profiler::MemoryUse use = memory_.use();
    const auto tables = memory_tables(use, std::string(kTrainVerb));
    progress.clear();
    for (const reports::Table& table : tables) {
      fmt::print(stderr, "{}\n",
                 reports::terminal_table(table, terminal_style(STDERR_FILENO, ColorMode::never)));
    }
    reports::Canvas canvas = options_.canvas;
    canvas.folder = options_.memory;
    write_memory(use, tables, std::string(kTrainVerb), canvas);
  }

  TrainState state(float rate) {
    const double seconds = (devices_.device().now() - interval_start_).seconds();
    const auto tokens = static_cast<double>(interval_steps_ * trainer_.tokens_per_step());
    const double flops = static_cast<double>(trainer_.flops_per_step().value()) *
                         static_cast<double>(interval_steps_);
    // This is a mean, because the loss of one batch in bfloat16 has no more than three digits.
    const double sum = std::accumulate(losses_.end() - interval_steps_, losses_.end(), 0.0);
    return {.step = trainer_.steps_done(),
            .steps = options_.recipe.steps,
            .loss = sum / static_cast<double>(interval_steps_),
            .tokens_per_second = seconds > 0 ? tokens / seconds : 0,
            .flops_per_second = seconds > 0 ? flops / seconds : 0,
            .bound = bound_,
            .learning_rate = rate,
            .memory = peak_memory(devices_.device())};
  }

  /// This is also done without a file, because it finds parameters that are not finite and tells
  /// where a search begins.
  void save() {
    const training::Checkpoint& now = trainer_.checkpoint();
    if (!options_.checkpoint.empty()) {
      write_file(options_.checkpoint, training::checkpoint_bytes(now));
    }
  }

  /// Returns why this run has made no step.
  std::string no_step() const {
    const std::int64_t done = trainer_.steps_done();
    if (done < options_.recipe.steps) return "interrupted before the first step";
    return fmt::format("{} steps were done already, of {} that are asked for; try a larger --steps",
                       done, options_.recipe.steps);
  }

  /// A run that has made no step replaces no file, because the existing file is from a run that has
  /// made some, or was to make more.
  bool has_nothing_for(const std::filesystem::path& file) const {
    return losses_.empty() && std::filesystem::exists(file);
  }

  static void say_fate(const std::filesystem::path& file, bool stays) {
    if (stays) {
      fmt::print(stderr, "{} stays as it is\n", file.string());
    } else {
      fmt::print(stderr, "wrote {}\n", file.string());
    }
  }

  double tokens_per_second() const {
    double seconds = 0;
    for (const double time : times_) seconds += time;
    const auto steps = static_cast<double>(times_.size());
    return seconds > 0 ? steps * static_cast<double>(trainer_.tokens_per_step()) / seconds : 0;
  }

  void summarise() {
    if (losses_.empty()) {
      fmt::print(stderr, "{}: {}\n", kTrainVerb, no_step());
    } else {
      const auto first = trainer_.steps_done() - static_cast<std::int64_t>(losses_.size()) + 1;
      fmt::print(stderr,
                 "{}: steps {} to {} on {}: loss {:.4f} to {:.4f}, {:.0f} tokens/s, at most {:.1f} "
                 "MiB{}\n",
                 kTrainVerb, first, trainer_.steps_done(), devices_.device().description(),
                 losses_.front(), losses_.back(), tokens_per_second(),
                 static_cast<double>(peak_memory(devices_.device()).value()) / (1 << 20),
                 Session::interrupted() ? "; interrupted" : "");
    }
  }

  harness::PointResult point() {
    harness::PointResult point{.backend = options_.backend};
    point.parameters.emplace_back("engine", name_of(options_.engine));
    training::for_each_field(options_.recipe, [&](std::string_view name, const auto&) {
      point.parameters.emplace_back(name, training::field_text(options_.recipe, name));
    });
    point.details = {{"data", options_.data.string()},
                     {"steps_done", std::to_string(trainer_.steps_done())}};
    if (losses_.empty()) {
      point.skipped = no_step();
      return point;
    }
    point.metrics = {{.name = "loss", .value = losses_.back(), .unit = "", .samples = losses_},
                     {.name = "time",
                      .value = harness::median(times_).value_or(0),
                      .unit = "s",
                      .samples = times_,
                      .ci95 = harness::median_interval95(times_)},
                     {.name = "tokens",
                      .value = tokens_per_second(),
                      .unit = "1/s",
                      .better = harness::Better::higher},
                     {.name = "memory",
                      .value = static_cast<double>(peak_memory(devices_.device()).value()),
                      .unit = "B"}};
    return point;
  }

  static std::string name_of(training::Engine engine) {
    if (engine == training::Engine::dynamic) return "dynamic";
    return engine == training::Engine::recorded ? "static" : "traced";
  }

  void write_result() {
    harness::ExperimentResult result{.experiment = std::string(kTrainVerb),
                                     .context = harness::describe_environment(),
                                     .points = {point()},
                                     .interrupted = Session::interrupted()};
    result.context.threads = devices_.host.threads();
    result.context.seed = options_.recipe.seed;
    if (devices_.profiles) experiments::describe_chip(*devices_.profiles, result.context);
    const std::filesystem::path file = options_.results / (result.experiment + ".json");
    const bool stays = has_nothing_for(file);
    if (!stays) write_file(file, reports::result_json(std::span(&result, 1)));
    say_fate(file, stays);
  }

  std::string prompt() const {
    if (options_.prompt) return *options_.prompt;
    const std::uint32_t first = trainer_.tokenizer().encode(text_).front();
    return trainer_.tokenizer().decode(std::span(&first, 1));
  }

  void write_text() {
    fmt::print(
        "{}{}\n", prompt(),
        training::generate(devices_.device(), trainer_.model(), trainer_.tokenizer(), prompt(),
                           options_.generate, options_.sampling, Session::interrupted));
  }

  TrainOptions options_;
  std::string text_;
  profiler::MemoryRecorder memory_;
  profiler::Recorder recorder_;  ///< Records a step now and then.
  std::string bound_;            ///< The bound that it found last.
  TrainDevices devices_;
  training::Trainer trainer_;
  std::vector<double> losses_, times_;  ///< Of each step of this run; times are in seconds.
  SimTime interval_start_;
  std::int64_t interval_steps_ = 0;
};

}  // namespace

int train(int argc, const char* const* argv) {
  TrainOptions options = parse_train_options(argc, argv);
  if (options.help) {
    fmt::print("{}", kTrainHelp);
    return kOk;
  }
  for (const std::string& warning : harness::describe_environment().warnings) {
    fmt::print(stderr, "run_experiment: warning: {}\n", warning);
  }
  Session::catch_signals();
  TrainRun run(std::move(options));
  return run.run() ? kOk : kInterrupted;
}

}  // namespace howard::cli
