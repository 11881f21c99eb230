// SPDX-License-Identifier: Apache-2.0

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
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/host/host_memory.h"
#include "engines/language/tokens/corpus.h"
#include "engines/language/weights/model_weights.h"
#include "engines/training/accuracy.h"
#include "engines/training/settings.h"
#include "engines/training/validation.h"
#include "experiments/laboratory/chip_context.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/memory_watch.h"
#include "harness/cli/sharing/launched_processes.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/train/chip_fit.h"
#include "harness/cli/train/mesh_run.h"
#include "harness/cli/train/step_programs.h"
#include "harness/cli/train/train_corpus.h"
#include "harness/cli/train/train_devices.h"
#include "harness/cli/train/train_log.h"
#include "harness/cli/train/train_options.h"
#include "harness/cli/train/train_progress.h"
#include "harness/cli/train/train_results.h"
#include "harness/environment.h"
#include "profiler/event_recorder.h"
#include "profiler/live_bound.h"
#include "reports/findings/ttml_memory.h"
#include "reports/formats/result_json.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

namespace {

class TrainRun {
 public:
  explicit TrainRun(TrainOptions options)
      : options_(std::move(options)),
        data_(data_of(options_)),
        devices_(options_, listening(memory_)),
        trainer_(devices_.device(), limit_to_epochs(), data_.corpus,
                 {.engine = options_.engine,
                  .held_out = of_pictures() ? std::vector<std::uint32_t>{} : data_.held_out,
                  .validated = options_.eval_batch},
                 host::available_memory()) {
    restore();
    require_places();
    // A bad prompt is to be known before the training.
    if (options_.generate > 0) static_cast<void>(trainer_.tokenizer().encode(prompt()));
    begin_log();
  }

  /// Returns false if the run was interrupted.
  bool run() {
    try {
      train();
    } catch (const Error&) {
      write_what_was_run();
      throw;
    }
    const bool stays = has_nothing_for(options_.checkpoint);
    if (!stays) save();
    summarise();
    if (!options_.checkpoint.empty()) say_fate(options_.checkpoint, stays);
    if (!options_.exported.empty()) export_weights();
    write_results();
    if (options_.generate > 0 && !interrupted()) write_text();
    return !interrupted();
  }

 private:
  /// The trainer is not made of a recipe that the chip cannot hold.
  const training::Recipe& limit_to_epochs() {
    options_.recipe = limited_to_epochs(options_, data_.corpus);
    require_fitting_chip(options_, data_.corpus.tokenizer->vocabulary());
    return options_.recipe;
  }

  /// Writes the results of the steps before one that failed; the checkpoint stays as it is.
  void write_what_was_run() {
    if (losses_.empty()) return;
    losses_.resize(rates_.size());  // a step that has failed has no rate
    log_->write(options_.canvas);
    write_results();
  }

  /// Goes on from a checkpoint, or starts from weights of others.
  void restore() {
    if (options_.resumed) {
      trainer_.restore(*options_.resumed);
    } else if (!options_.weights.empty()) {
      take_weights();
    }
    options_.resumed.reset();  // it is as large as the model and its moments
  }

  /// Throws Error for a place that cannot be written, before any time is spent.
  void require_places() const {
    for (const std::filesystem::path& file :
         {options_.checkpoint, options_.exported, options_.page_file()}) {
      if (!file.empty()) require_writable_folder(std::filesystem::absolute(file).parent_path());
    }
    options_.outputs.require_writable();
    for (const std::filesystem::path& folder : {options_.results, options_.memory}) {
      if (!folder.empty()) require_writable_folder(folder);
    }
  }

  /// Starts from files of Hugging Face.
  void take_weights() {
    const std::vector<language::Safetensors> files = language::read_weights(options_.weights);
    const language::ImportedWeights report = trainer_.take_weights(files);
    fmt::print(stderr, "{}", left_aside_text(report, std::string(kTrainName), options_.weights));
  }

  void export_weights() {
    write_file(options_.exported,
               language::safetensors_bytes(
                   language::exported_weights(trainer_.weights(), options_.recipe.model),
                   language::WeightType::float32));
    say_fate(options_.exported, false);
  }

  void train() {
    TrainProgress progress(options_.progress);
    interval_start_ = devices_.device().now();
    while (trainer_.steps_done() < options_.recipe.schedule.steps && !interrupted()) {
      const float rate = trainer_.learning_rate();
      const SimTime start = devices_.device().now();
      step(progress.wants_bound() || options_.is_saved_after(trainer_.steps_done() + 1));
      times_.push_back((devices_.device().now() - start).seconds());
      ++interval_steps_;
      rates_.push_back(double{rate});
      log_step(rate);
      validate();
      if (losses_.size() == 1) report_memory(progress);
      const TrainState state = this->state(rate);
      if (options_.is_saved_after(trainer_.steps_done())) {
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
    losses_.push_back(trainer_.step().loss);
    if (!looks) return;
    devices_.device().set_trace_sink(nullptr);
    const auto bound = profiler::live_bound(recorder_.events());
    bound_ = bound ? fmt::format("{} {:.0f} %", bound->name, 100 * bound->share) : "";
  }

  static MemorySink* listening(profiler::MemoryRecorder& recorder) {
    recorder.open("model");
    return &recorder;
  }

  /// Writes what TTML says before the first step.
  void begin_log() {
    const std::int64_t parameters = trainer_.parameters();
    fmt::print(lines_of(options_), "Number of parameters: {}\n", parameters);
    log_.emplace(options_.results, options_.settings.config, options_.name,
                 static_cast<double>(parameters), trainer_.steps_done());
    programs_ =
        step_programs(devices_.device(), options_.recipe, trainer_.tokenizer().vocabulary());
  }

  void log_step(float rate) {
    const auto samples = static_cast<double>(trainer_.steps_done() * options_.recipe.model.batch *
                                             options_.recipe.accumulate);
    log_->add(trainer_.steps_done(), samples, losses_.back(), rate);
    const training::TtmlMlp& mlp = options_.settings.config.training.mlp;
    constexpr std::int64_t kMlpInterval = 50;
    const std::int64_t interval = of_pictures() ? mlp.logging_interval.value_or(kMlpInterval) : 1;
    const bool last = trainer_.steps_done() == options_.recipe.schedule.steps;
    if (trainer_.steps_done() % interval != 0 && !last) return;
    fmt::print(
        lines_of(options_), "{}",
        ttml_step_lines(trainer_.steps_done(), losses_.back(), times_.back(), programs_.different));
    std::fflush(lines_of(options_));  // a file has the lines as they come
  }

  bool of_pictures() const { return options_.settings.trains_mlp(); }

  /// Says after each epoch which share of the pictures that are held out is recognised.
  void recognise() {
    const training::Recipe& recipe = options_.recipe;
    const auto tokens = static_cast<std::int64_t>(data_.corpus.tokens.size());
    const std::int64_t epoch =
        tokens / (recipe.model.width + 1) / recipe.model.batch / recipe.accumulate;
    const std::int64_t done = trainer_.steps_done();
    if (epoch == 0 || done % epoch != 0) return;
    accuracies_.push_back(training::accuracy(devices_.device(), trainer_.model(), data_.held_out));
    fmt::print(lines_of(options_), "Epoch: {}, Accuracy: {:.4f}\n", done / epoch,
               accuracies_.back());
  }

  void validate() {
    if (of_pictures()) return recognise();
    if (options_.eval_every == 0 || trainer_.steps_done() % options_.eval_every != 0) return;
    validation_losses_.push_back(trainer_.validation_loss());
    fmt::print(lines_of(options_), "Validation loss: {:.6f}\n", validation_losses_.back());
  }

  /// Reports the memory after the first step, as TTML's tracker does: the others allocate the same.
  void report_memory(TrainProgress& progress) {
    memory_.close();
    use_ = memory_.use();
    fmt::print(lines_of(options_), "{}", reports::ttml_memory_summary(*use_));
    if (!options_.memory.empty()) write_memory_tables(*use_, progress);
  }

  void write_memory_tables(const profiler::MemoryUse& use, TrainProgress& progress) {
    const auto tables = memory_tables(use, std::string(kTrainName));
    progress.clear();
    for (const reports::Table& table : tables) {
      fmt::print(stderr, "{}\n",
                 reports::terminal_table(table, terminal_style(STDERR_FILENO, ColorMode::never)));
    }
    reports::Canvas canvas = options_.canvas;
    canvas.folder = options_.memory;
    write_memory(use, tables, std::string(kTrainName), canvas);
  }

  TrainState state(float rate) {
    const double seconds = (devices_.device().now() - interval_start_).seconds();
    const auto tokens = static_cast<double>(interval_steps_ * trainer_.tokens_per_step());
    const double flops = static_cast<double>(trainer_.flops_per_step().value()) *
                         static_cast<double>(interval_steps_);
    // This is a mean, because the loss of one batch in bfloat16 has no more than three digits.
    const double sum = std::accumulate(losses_.end() - interval_steps_, losses_.end(), 0.0);
    return {.step = trainer_.steps_done(),
            .steps = options_.recipe.schedule.steps,
            .loss = sum / static_cast<double>(interval_steps_),
            .tokens_per_second = seconds > 0 ? tokens / seconds : 0,
            .flops_per_second = seconds > 0 ? flops / seconds : 0,
            .bound = bound_,
            .learning_rate = rate,
            .memory = most_memory(devices_.device())};
  }

  /// This is also done without a file, because it finds parameters that are not finite and tells
  /// where a search begins.
  void save() {
    const training::Checkpoint& now = trainer_.checkpoint();
    if (!options_.checkpoint.empty()) {
      write_file(options_.checkpoint, training::checkpoint_bytes(now));
    }
    log_->write(options_.canvas);
  }

  std::string ttml_metrics() {
    TtmlRun run{.name = options_.name,
                .file = options_.files.training.string(),
                .device = devices_.device().description(),
                .losses = losses_,
                .seconds = times_,
                .memory = use_,
                .flops_per_step = static_cast<double>(programs_.flops.value())};
    if (devices_.profiles) {
      run.device_memory = static_cast<double>(devices_.profiles->chip.dram_capacity.value());
    }
    return ttml_metrics_json(run);
  }

  /// Returns why this run has made no step.
  std::string no_step() const {
    const std::int64_t done = trainer_.steps_done();
    if (done < options_.recipe.schedule.steps) return "interrupted before the first step";
    return fmt::format(
        "{} steps were done already, of {} that are asked for; try a larger max_steps", done,
        options_.recipe.schedule.steps);
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
      fmt::print(stderr, "{}: {}\n", std::string(kTrainName), no_step());
    } else {
      const auto first = trainer_.steps_done() - static_cast<std::int64_t>(losses_.size()) + 1;
      fmt::print(stderr,
                 "{}: steps {} to {} on {}: loss {:.4f} to {:.4f}, {:.0f} {}/s, at most {:.1f} "
                 "MiB{}\n",
                 std::string(kTrainName), first, trainer_.steps_done(),
                 devices_.device().description(), losses_.front(), losses_.back(),
                 tokens_per_second(), of_pictures() ? "pictures" : "tokens",
                 static_cast<double>(most_memory(devices_.device()).value()) / (1 << 20),
                 interrupted() ? "; interrupted" : "");
    }
  }

  harness::PointResult point() {
    harness::PointResult point{.backend = options_.backend};
    point.parameters.emplace_back("engine", training::name_of(options_.engine));
    training::for_each_setting(options_.recipe, [&](const training::Setting& setting, const auto&) {
      const std::string_view name = setting.name;
      point.parameters.emplace_back(name, training::field_text(options_.recipe, name));
    });
    point.details = {{"data", options_.data.string()}};
    point.add(harness::kStepsDone, trainer_.steps_done());
    if (losses_.empty()) {
      point.skipped = no_step();
      return point;
    }
    point.metrics = training_metrics({.losses = losses_,
                                      .seconds = times_,
                                      .rates = rates_,
                                      .validation_losses = validation_losses_,
                                      .tokens_per_second = tokens_per_second(),
                                      .memory = most_memory(devices_.device())});
    if (!accuracies_.empty()) {
      point.metrics.push_back({.name = "accuracy",
                               .value = accuracies_.back(),
                               .unit = "1",
                               .better = harness::Better::higher,
                               .samples = accuracies_});
    }
    return point;
  }

  void write_results() {
    const std::filesystem::path page = options_.page_file();
    const auto file = options_.results.empty() ? page : options_.results / kTrainResult;
    if (file.empty() && options_.outputs.empty()) return;
    if (has_nothing_for(file)) return say_fate(file, true);
    if (losses_.empty() && !options_.outputs.empty()) {
      fmt::print(stderr, "{}: no step was made, and -o writes nothing\n", std::string(kTrainName));
      return;
    }
    harness::ExperimentResult result{.experiment = name_of(harness::CommandResult::train),
                                     .context = harness::describe_environment(options_.backend),
                                     .points = {point()},
                                     .interrupted = interrupted()};
    result.context.threads = devices_.host.threads();
    result.context.seed = options_.recipe.seed;
    if (devices_.profiles) experiments::describe_chip(options_.profiles, result.context);
    write_training_results(options_, result, use_, ttml_metrics());
  }

  std::string prompt() const { return prompt_of(options_, data_.corpus); }

  void write_text() {
    const auto reader = language::window_reader(devices_.device(), trainer_.model());
    fmt::print(lines_of(options_), "{}{}\n", prompt(),
               language::generate(*reader, trainer_.tokenizer(), prompt(), options_.generate,
                                  options_.sampling, interrupted));
  }

  TrainOptions options_;
  TrainData data_;
  profiler::MemoryRecorder memory_;
  profiler::EventRecorder recorder_;  ///< Records a step now and then.
  std::string bound_;                 ///< The bound that it found last.
  TrainDevices devices_;
  training::Trainer trainer_;
  std::vector<double> validation_losses_, accuracies_;  ///< The latter by epoch, of pictures.
  /// They have a value for each step of this run; times are in seconds.
  std::vector<double> losses_, times_, rates_;
  SimTime interval_start_;
  std::int64_t interval_steps_ = 0;
  std::optional<TtmlStepLog> log_;
  std::optional<profiler::MemoryUse> use_;  ///< The set-up and the first step.
  StepPrograms programs_;
};

int train(TrainOptions& options, const Given& given) {
  complete(options, given);
  if (options.print_config) {
    fmt::print("{}", training::ttml_text(options.settings.config));
    return kOk;
  }
  for (const std::string& warning : harness::describe_environment(options.backend).warnings) {
    complain("warning: {}", warning);
  }
  catch_signals(
      "train: it ends when the step that is running is done; a second signal ends it at once");
  if (options.plan) return train_on_mesh(options) ? kOk : kInterrupted;
  if (launched_processes() > 1) {
    throw Error({.attempted = "train on one device",
                 .value = fmt::format("{} processes were started", launched_processes()),
                 .accepted = "one process, or a device_config of several devices"});
  }
  TrainRun run(std::move(options));
  return run.run() ? kOk : kInterrupted;
}

}  // namespace

const Command kTrain{
    .name = "train",
    .summary = "train as files of TTML say: training.yaml, model.yaml",
    .usage = {"-c FILE [--model FILE] [--device FILE] [--multihost FILE] [OPTIONS]",
              "--preset nano_gpt --data FILE [--with KEY=VALUE]... [OPTIONS]"},
    .text =
        {{"",
          "It reads the files of tt-train as they are: training_config, scheduler_config, "
          "eval_config, device_config, multihost_config and transformer_config, in one file or in "
          "several. Every key is applied, or refused with its name, file and line. A mistyped or "
          "misplaced key, which TTML would ignore, is an error; one that nothing reads is said. "
          "Variables as ${TT_METAL_RUNTIME_ROOT} are replaced. Standard output has TTML's lines: "
          "step, loss, step time, and on one device, after the first step, the memory summary."},
         {"",
          "With a tokenizer_type of char it trains on the characters of the text. With bpe the "
          "tokenizer_path is a tokenizer.json of Hugging Face's library (byte-level or as Llama "
          "2's), which reads the text. Data that are tokens already need none: .bin (uint16, as "
          "nanoGPT's), .u32 (uint32), .yaml (TTML's tokenizer_vocab_size and tokens), or a file of "
          "numbers, as TTML's dataset_to_tokens.py writes it."},
         {"",
          "Data named .jsonl are examples, a line each: {\"prompt\": TEXT, \"completion\": TEXT} "
          "or {\"input_ids\": [...], \"labels\": [...]}. Completions alone have a loss. With "
          "eval_every the last tenth is held out, for losses of validation_batch_size sequences."},
         {"",
          "scheduler_type may also be step, linear, cosine or sequential, the schedulers of TTML's "
          "library, which its files do not name. Their arguments are keys of scheduler_config: "
          "step_size and gamma; start_factor, end_factor and total_steps; min_lr and total_steps; "
          "schedulers: [linear, cosine] and milestones: [100, 900]. With max_lr the "
          "scheduler_config is that of TTML's Python trainer."},
         {"",
          "A device_config with enable_ddp, enable_fsdp, enable_tp or two of them trains on "
          "several "
          "devices; those of enable_fsdp divide the batch and each parameter. With enable_sp those "
          "of enable_tp divide a Llama's rows between its layers too. A multihost_config with a "
          "pipeline_parallel_config trains on the stages of a pipeline (each a mesh), and one "
          "without it in tiers (each a mesh too): num_workers workers, an aggregator and an "
          "optimizer. Each device is a thread of this process, or a process: mpirun -n N "
          "run_experiment train ..., N devices in all. Losses and weights equal those of one "
          "device, whichever engine runs. A checkpoint and exported weights hold the whole model: "
          "another mesh, or one device, can go on from them. With --backend emulated each "
          "device is a chip, and a step's time is that of the chips. A run that needs more DRAM "
          "than a chip has is refused with what is too much and what would fit."},
         {"", "With a model_path the weights start from its safetensors."},
         {"",
          "An optimizer of type AdamW or SGD is TTML's one program of 2026 for each parameter; "
          "AdamWComposite and SGDComposite are made of small calls. Three keys under "
          "transformer_config.experimental are Howard's own, because TTML chooses in its code: "
          "use_composite_rmsnorm and use_fused_swiglu for a Llama, and use_fused_attention."}},
    .examples = {"run_experiment train -c data/ttml/sonnets_nanogpt.yaml --with max_steps=20",
                 "run_experiment train --preset nano_gpt --data data/sonnets.txt --with "
                 "num_blocks=2 \\\n    --with embedding_dim=128 --with num_heads=4 --with "
                 "max_steps=400 --checkpoint sonnets.ckpt",
                 "run_experiment train -c training.yaml --print-config",
                 "run_experiment train -c training.yaml --model llama.yaml --backend emulated "
                 "--results run",
                 "run_experiment train -c training.yaml -o run.json -o loss.svg -o run.html",
                 "mpirun -n 2 run_experiment train -c data/ttml/sonnets_nanogpt.yaml \\\n  "
                 "--device data/ttml/n300_ddp.yaml"},
    .status =
        "0 done; 1 an error; 2 bad command line; 130 interrupted; what was finished is written",
    .begin = begin<train_options, train>,
    .sharing = Sharing::shared};

}  // namespace howard::cli
