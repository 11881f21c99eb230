// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/mesh_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "engines/chip/chip_links.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/language/generator.h"
#include "engines/language/weights/model_weights.h"
#include "engines/mesh/mesh_member.h"
#include "engines/mesh/thread_ranks.h"
#include "engines/training/parallel/divided_model.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/training/settings.h"
#include "engines/training/trainer.h"
#include "engines/training/validation.h"
#include "experiments/laboratory/chip_context.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/sharing/launched_processes.h"
#include "harness/cli/sharing/process_ranks.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/train/chip_fit.h"
#include "harness/cli/train/mesh_memory.h"
#include "harness/cli/train/step_split.h"
#include "harness/cli/train/train_corpus.h"
#include "harness/cli/train/train_log.h"
#include "harness/cli/train/train_results.h"
#include "harness/environment.h"
#include "profiler/memory_recorder.h"
#include "reports/formats/result_json.h"

namespace howard::cli {
namespace {

using training::MeshPlan;
using training::StepOutcome;

std::string text_of(const MeshPlan& plan) {
  std::string text = fmt::format("DDP {} x{} TP {}{}", plan.ddp,
                                 plan.fsdp > 1 ? fmt::format(" FSDP {} x", plan.fsdp) : "", plan.tp,
                                 plan.sequence_parallel ? " with SP" : "");
  if (plan.workers > 0) {
    return fmt::format("{} worker{} in {} tiers{}", plan.workers, plan.workers == 1 ? "" : "s",
                       plan.three_tiers ? 3 : 2,
                       plan.devices() > 1 ? ", each a mesh of " + text : "");
  }
  if (plan.stages() > 1) {
    text += fmt::format(" x {} stages ({} blocks, schedule {}{})", plan.stages(),
                        fmt::join(plan.blocks, " + "), mesh::name_of(plan.schedule),
                        plan.chunks > 1 ? fmt::format(", {} chunks", plan.chunks) : "");
  }
  return text;
}

/// Holds what all ranks start from.
struct MeshStart {
  language::Corpus corpus;
  std::vector<std::uint32_t> held_out;         ///< The tokens for validation; none without it.
  std::vector<language::Safetensors> weights;  ///< Files of Hugging Face; none without model_path.
  int threads = 1;                             ///< The threads of each rank.
};

/// Runs one rank.
class MeshRun {
 public:
  MeshRun(const TrainOptions& options, const MeshStart& start, mesh::Communicator& ranks)
      : options_(options),
        start_(start),
        plan_(*options.plan),
        ranks_(ranks),
        host_({.threads = start.threads,
               .memory = options.backend == harness::Backend::host ? memory_sink() : nullptr}),
        member_(host_, ranks, training::groups_of(plan_, ranks.rank())) {
    if (options.backend == harness::Backend::emulated) {
      profiles_ = read_settings(options.profiles, chip::load_profiles);
      const bool calls = options.engine == training::Engine::dynamic;
      chip_ = std::make_unique<chip::EmulatedChip>(
          chip::of_mesh(*profiles_, calls ? plan_.devices() : 1),
          chip::DeviceOptions{.values = &member_, .memory = memory_sink()});
    }
    Device& device = chip_ ? static_cast<Device&>(*chip_) : member_;
    if (chip_) chip_->set_trace_sink(&kernels_);
    device.begin_phase("model");
    trainer_.emplace(
        device, ranks, plan_, options.recipe, start.corpus,
        training::TrainerOptions{
            .engine = options.engine, .held_out = start.held_out, .validated = options.eval_batch},
        chip_ ? waiting() : mesh::WaitUntil());
    vocabulary_ = start.corpus.tokenizer->vocabulary();
    if (options.resumed) {
      trainer_->restore(*options.resumed);
    } else if (!start.weights.empty()) {
      take(start.weights);
    }
    description_ = device.description();
  }

  /// Returns false if the run was interrupted.
  bool run() {
    begin();
    bool stops = false;
    try {
      stops = make_steps();
      save();
    } catch (const Error&) {
      if (is_first()) write_what_was_run();
      throw;
    }
    const std::vector<training::NamedValues> weights =
        options_.exported.empty() ? std::vector<training::NamedValues>{} : trainer_->weights();
    peak_ = training::join_numbers<Bytes, Bytes>(
        ranks_, most_memory(chip_ ? static_cast<const Device&>(*chip_) : member_),
        [](std::span<const Bytes> all) { return std::ranges::max(all); });
    if (is_first()) end(stops, weights);
    return options_.generate > 0 && !stops ? write_text() : !stops;
  }

 private:
  bool is_first() const { return ranks_.rank() == 0; }

  /// Returns whether the run was interrupted.
  bool make_steps() {
    bool stops = stops_now();
    while (trainer_->steps_done() < options_.recipe.schedule.steps && !stops) {
      const float rate = trainer_->learning_rate();
      const SimTime before = now();
      kernels_.reset();
      waited_ = {};
      const StepOutcome step = trainer_->step();
      if (chip_) split(step.time, now() - before - waited_);
      log(step, rate);
      report_memory();
      validate();
      if (options_.is_saved_after(trainer_->steps_done())) save();
      stops = stops_now();
    }
    return stops;
  }

  /// Writes the results of the steps before one that has failed; the other ranks have failed too.
  void write_what_was_run() {
    if (losses_.empty()) return;
    log_->write(options_.canvas);
    write_results(true);
  }

  SimTime now() const { return chip_ ? chip_->now() : SimTime(); }

  /// Makes the clock of the chip's host wait, and counts for how long.
  mesh::WaitUntil waiting() {
    return [this](SimTime then, Bytes size) {
      if (then > chip_->now()) {
        waited_ += then - chip_->now();
        chip_->pass_host_time(then - chip_->now(), "wait for a message");
      }
      chip_->pass_host_time(transfer_time(size, profiles_->software.host_message), "message");
    };
  }

  /// Returns what listens to this rank's allocations; null if nobody asks for them.
  MemorySink* memory_sink() {
    if (options_.memory.empty()) return nullptr;
    memory_.open("model");
    watches_memory_ = true;
    return &memory_;
  }

  /// Reports the memory after the first step; the others allocate the same.
  void report_memory() {
    if (!std::exchange(watches_memory_, false)) return;
    memory_.close();
    report_mesh_memory(ranks_, memory_.use(), options_);
  }

  /// Writes text with the model that all ranks have in parts. Returns false if it was interrupted.
  bool write_text() {
    const std::string prompt = prompt_of(options_, start_.corpus);
    bool stops = false;
    const auto asked = [&] { return stops = stops_now(); };
    const std::string text =
        language::generate(*trainer_->reader(), *start_.corpus.tokenizer, prompt, options_.generate,
                           options_.sampling, asked);
    if (is_first()) fmt::print(lines_of(options_), "{}{}\n", prompt, text);
    return !stops;
  }

  /// Rank 0 learns where the time of a step goes.
  void split(SimTime step, SimTime busy) {
    const ChipSums own{busy, kernels_.compute(), kernels_.exchange()};
    splits_.push_back(training::join_numbers<ChipSums, profiler::StepTimes>(
        ranks_, own, [&](std::span<const ChipSums> all) {
          return split_of(step, {all.begin(), all.end()});
        }));
  }

  /// Starts from files of Hugging Face.
  void take(std::span<const language::Safetensors> files) {
    const language::ImportedWeights report = trainer_->take_weights(files);
    if (!is_first()) return;
    fmt::print(stderr, "{}", left_aside_text(report, std::string(kTrainName), options_.weights));
  }

  void validate() {
    if (options_.eval_every == 0 || trainer_->steps_done() % options_.eval_every != 0) return;
    const double loss = trainer_->validation_loss();
    if (!is_first()) return;
    validation_losses_.push_back(loss);
    fmt::print(lines_of(options_), "Validation loss: {:.6f}\n", loss);
  }

  /// Says whether the run stops now. Rank 0 decides, so that all ranks make the same steps.
  bool stops_now() {
    const int wish = interrupted() ? 1 : 0;
    return training::join_numbers<int, int>(ranks_, wish,
                                            [](std::span<const int> all) { return all[0]; }) != 0;
  }

  void begin() {
    saved_ = trainer_->steps_done();  // a run that makes no step replaces no file
    if (!is_first()) return;
    fmt::print(lines_of(options_), "Number of parameters: {}\n", trainer_->parameters());
    log_.emplace(options_.results, options_.settings.config, options_.name,
                 static_cast<double>(trainer_->parameters()), trainer_->steps_done());
  }

  void log(const StepOutcome& step, float rate) {
    if (!is_first()) return;
    losses_.push_back(step.loss);
    rates_.push_back(double{rate});
    times_.push_back(step.time.seconds());
    const std::int64_t done = trainer_->steps_done();
    log_->add(done, static_cast<double>(done * samples()), step.loss, rate);
    fmt::print(lines_of(options_), "Step: {}, Loss: {}\nFull step time {:.3f} ms\n", done,
               static_cast<float>(step.loss), step.time.seconds() * 1e3);
    std::fflush(lines_of(options_));
  }

  void save() {
    if (saved_ == trainer_->steps_done()) return;
    saved_ = trainer_->steps_done();
    if (!options_.checkpoint.empty()) {
      const training::Checkpoint& now = trainer_->checkpoint();
      if (is_first()) write_file(options_.checkpoint, training::checkpoint_bytes(now));
    }
    if (is_first()) log_->write(options_.canvas);
  }

  void end(bool interrupted, std::span<const training::NamedValues> weights) {
    if (losses_.empty()) {
      fmt::print(stderr, "train: {} steps were done already, of {} that are asked for{}\n",
                 trainer_->steps_done(), options_.recipe.schedule.steps,
                 interrupted ? "; interrupted before the next one" : "");
      return;
    }
    const auto first = trainer_->steps_done() - std::ssize(losses_) + 1;
    fmt::print(stderr,
               "train: steps {} to {} on {} devices, {}, each {}: loss {:.4f} to {:.4f}, {:.0f} "
               "tokens/s{}\n",
               first, trainer_->steps_done(), plan_.ranks(), text_of(plan_), description_,
               losses_.front(), losses_.back(), tokens_per_second(),
               interrupted ? "; interrupted" : "");
    if (!splits_.empty()) say_split();
    if (!options_.checkpoint.empty()) {
      fmt::print(stderr, "wrote {}\n", options_.checkpoint.string());
    }
    if (!options_.exported.empty()) export_weights(weights);
    write_results(interrupted);
  }

  void say_split() const {
    const std::vector<harness::Metric> parts = split_metrics(splits_);
    std::vector<std::string> words;
    for (const harness::Metric& part : parts) {
      words.push_back(
          fmt::format("{} {:.3f} ms", part.name.substr(part.name.find('.') + 1), part.value * 1e3));
    }
    fmt::print(stderr, "train: a step, as the mean of its chips: {}\n", fmt::join(words, ", "));
  }

  /// A mesh may round the vocabulary up to more rows than one device has; those are left out.
  void export_weights(std::span<const training::NamedValues> weights) {
    write_file(options_.exported,
               language::safetensors_bytes(
                   language::exported_weights(weights, options_.recipe.model, vocabulary_),
                   language::WeightType::float32));
    fmt::print(stderr, "wrote {}\n", options_.exported.string());
  }

  std::int64_t samples() const {
    return options_.recipe.model.batch * options_.recipe.accumulate * std::max(plan_.workers, 1);
  }

  double tokens_per_second() const {
    double seconds = 0;
    for (const double time : times_) seconds += time;
    const auto tokens = static_cast<double>(std::ssize(losses_) * samples()) *
                        static_cast<double>(options_.recipe.model.sequence);
    return seconds > 0 ? tokens / seconds : 0;
  }

  /// Writes what --results, --page and -o ask for.
  void write_results(bool interrupted) {
    if (options_.results.empty() && !options_.page && options_.outputs.empty()) return;
    harness::PointResult point{.backend = options_.backend};
    point.parameters.emplace_back("mesh", text_of(plan_));
    point.parameters.emplace_back("engine", training::name_of(options_.engine));
    training::for_each_setting(options_.recipe, [&](const training::Setting& setting, const auto&) {
      const std::string_view name = setting.name;
      point.parameters.emplace_back(name, training::field_text(options_.recipe, name));
    });
    point.details = {{"data", options_.data.string()}};
    point.add(harness::kStepsDone, trainer_->steps_done());
    point.metrics = training_metrics({.losses = losses_,
                                      .seconds = times_,
                                      .rates = rates_,
                                      .validation_losses = validation_losses_,
                                      .tokens_per_second = tokens_per_second(),
                                      .memory = peak_});
    if (!splits_.empty())
      std::ranges::move(split_metrics(splits_), std::back_inserter(point.metrics));
    harness::ExperimentResult result{.experiment = name_of(harness::CommandResult::train),
                                     .context = harness::describe_environment(options_.backend),
                                     .points = {std::move(point)},
                                     .interrupted = interrupted};
    result.context.seed = options_.recipe.seed;
    if (profiles_) experiments::describe_chip(options_.profiles, result.context);
    write_training_results(options_, result, std::nullopt,
                           ttml_metrics_json({.name = options_.name,
                                              .file = options_.files.training.string(),
                                              .device = description_,
                                              .losses = losses_,
                                              .seconds = times_,
                                              .memory = {}}));
  }

  const TrainOptions& options_;
  const MeshStart& start_;
  const MeshPlan& plan_;
  mesh::Communicator& ranks_;
  profiler::MemoryRecorder memory_;
  bool watches_memory_ = false;
  host::HostDevice host_;
  mesh::MeshMember member_;
  std::optional<chip::Profiles> profiles_;
  KernelSums kernels_;  ///< Of the emulated chip.
  SimTime waited_;      ///< The time of a step in which the chip's host waited for messages.
  std::unique_ptr<chip::EmulatedChip> chip_;
  std::optional<training::Trainer> trainer_;
  std::string description_;
  std::int64_t saved_ = 0;  ///< The step that was saved last.
  // Only rank 0 has a log.
  std::optional<TtmlStepLog> log_;
  std::vector<double> losses_, times_, rates_;  ///< One for each step; times are in seconds.
  std::vector<double> validation_losses_;
  std::vector<profiler::StepTimes> splits_;  ///< One for each step, on emulated chips.
  Bytes peak_;                               ///< The most memory of any device.
  std::int64_t vocabulary_ = 0;              ///< The rows of one device's token table.
};

/// Says that the losses are not those of one device, where devices that divide the vocabulary round
/// it up to more rows.
void note_padding(const MeshPlan& plan, const language::Tokenizer& tokenizer) {
  const std::int64_t rows = training::rounded_vocabulary(tokenizer.tokens(), plan.tp);
  if (rows == tokenizer.vocabulary()) return;
  complain(
      "note: {} devices divide the {} tokens as {} rows, and one device has {}: as in TTML, rows "
      "without a token are in the loss, so that it is not that of one device",
      plan.tp, tokenizer.tokens(), rows, tokenizer.vocabulary());
}

}  // namespace

bool train_on_mesh(const TrainOptions& options) {
  MeshStart start{.corpus = corpus_of(options), .held_out = {}, .weights = {}};
  if (options.eval_every > 0) start.held_out = held_out_of(options, start.corpus);
  if (!options.weights.empty() && !options.resumed)
    start.weights = language::read_weights(options.weights);
  TrainOptions limited = options;
  limited.recipe = limited_to_epochs(options, start.corpus);
  note_padding(*options.plan, *start.corpus.tokenizer);
  require_fitting_chip(limited, start.corpus.tokenizer->tokens());
  for (const std::filesystem::path& file : {options.checkpoint, options.exported}) {
    if (!file.empty()) require_writable_folder(std::filesystem::absolute(file).parent_path());
  }
  for (const std::filesystem::path& folder : {options.results, options.memory}) {
    if (!folder.empty()) require_writable_folder(folder);
  }
  options.outputs.require_writable();
  if (options.generate > 0) {
    // A bad prompt is to be known before the training.
    static_cast<void>(start.corpus.tokenizer->encode(prompt_of(options, start.corpus)));
  }
  const int ranks = options.plan->ranks();
  // Each device has its part of the cores.
  start.threads = std::max(1, host::thread_count({.threads = options.threads}) / ranks);
  bool finished = true;
  const auto work = [&](mesh::Communicator& world) {
    // The threads of one process have taken them already.
    const bool takes = launched_processes() > 1 && world.rank() == 0;
    if (takes) limited.places = taken_places(limited);
    const bool all = MeshRun(limited, start, world).run();
    if (world.rank() == 0) finished = all;
  };
  launched_processes() > 1 ? run_as_processes(ranks, work) : mesh::run_as_threads(ranks, work);
  return finished;
}

}  // namespace howard::cli
