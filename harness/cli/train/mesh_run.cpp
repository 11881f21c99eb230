// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/mesh_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "engines/host/host_device.h"
#include "engines/mesh/mesh_member.h"
#include "engines/mesh/thread_ranks.h"
#include "engines/training/parallel/rank_trainer.h"
#include "engines/training/parallel/values_of_ranks.h"
#include "engines/wormhole/wormhole_device.h"
#include "experiments/workloads/chip_context.h"
#include "harness/cli/command_line.h"
#include "harness/cli/launcher.h"
#include "harness/cli/session.h"
#include "harness/cli/sharing/process_ranks.h"
#include "harness/cli/train/train_corpus.h"
#include "harness/cli/train/train_log.h"
#include "harness/environment.h"
#include "reports/formats/result_json.h"

namespace howard::cli {
namespace {

using training::MeshPlan;
using training::MeshStep;

std::string text_of(const MeshPlan& plan) {
  if (plan.workers > 0) {
    return fmt::format("{} worker{} in {} tiers", plan.workers, plan.workers == 1 ? "" : "s",
                       plan.three_tiers ? 3 : 2);
  }
  std::string text = fmt::format("DDP {} x TP {}", plan.ddp, plan.tp);
  if (plan.stages() > 1) {
    text += fmt::format(" x {} stages ({} blocks, schedule {})", plan.stages(),
                        fmt::join(plan.blocks, " + "), mesh::name_of(plan.schedule));
  }
  return text;
}

/// Runs one rank.
class MeshRun {
 public:
  MeshRun(const TrainOptions& options, const training::Corpus& corpus, int threads,
          mesh::Communicator& ranks)
      : options_(options),
        plan_(*options.plan),
        ranks_(ranks),
        host_({.threads = threads}),
        member_(host_, ranks, training::groups_of(plan_, ranks.rank())) {
    if (options.backend == harness::Backend::emulated) {
      profiles_ = read_settings(options.profiles, wormhole::load_profiles);
      chip_ = std::make_unique<wormhole::WormholeDevice>(
          *profiles_, wormhole::DeviceOptions{.values = &member_});
    }
    Device& device = chip_ ? static_cast<Device&>(*chip_) : member_;
    device.begin_phase("model");
    trainer_ =
        training::make_rank_trainer(device, ranks, plan_, options.recipe, corpus, chip_ != nullptr);
    if (options.resumed) trainer_->restore(*options.resumed);
    description_ = device.description();
  }

  /// Returns false if the run was interrupted.
  bool run() {
    begin();
    bool stops = stops_now();
    while (trainer_->steps_done() < options_.recipe.steps && !stops) {
      const float rate = trainer_->learning_rate();
      log(trainer_->step(), rate);
      if (trainer_->steps_done() % options_.every == 0) save();
      stops = stops_now();
    }
    save();
    if (is_first()) end(stops);
    return !stops;
  }

 private:
  bool is_first() const { return ranks_.rank() == 0; }

  /// Says whether the run stops now. Rank 0 decides, so that all ranks make the same steps.
  bool stops_now() {
    const int wish = Session::interrupted() ? 1 : 0;
    return training::join_numbers<int, int>(ranks_, wish,
                                            [](std::span<const int> all) { return all[0]; }) != 0;
  }

  void begin() {
    saved_ = trainer_->steps_done();  // a run that makes no step replaces no file
    if (!is_first()) return;
    fmt::print("Number of parameters: {}\n", trainer_->parameters());
    log_.emplace(options_.results, options_.settings.config, options_.name,
                 static_cast<double>(trainer_->parameters()));
  }

  void log(const MeshStep& step, float rate) {
    if (!is_first()) return;
    losses_.push_back(step.loss);
    times_.push_back(step.time.seconds());
    const std::int64_t done = trainer_->steps_done();
    log_->add(done, static_cast<double>(done * samples()), step.loss, rate);
    fmt::print("Step: {}, Loss: {}\nFull step time {:.3f} ms\n", done,
               static_cast<float>(step.loss), step.time.seconds() * 1e3);
    std::fflush(stdout);
  }

  void save() {
    if (saved_ == trainer_->steps_done()) return;
    saved_ = trainer_->steps_done();
    if (!options_.checkpoint.empty()) {
      const training::Checkpoint now = trainer_->checkpoint();
      if (is_first()) write_file(options_.checkpoint, training::checkpoint_bytes(now));
    }
    if (is_first()) log_->write(options_.canvas);
  }

  void end(bool interrupted) {
    if (losses_.empty()) {
      fmt::print(stderr, "train: {} steps were done already, of {} that are asked for{}\n",
                 trainer_->steps_done(), options_.recipe.steps,
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
    if (!options_.checkpoint.empty()) {
      fmt::print(stderr, "wrote {}\n", options_.checkpoint.string());
    }
    if (!options_.results.empty()) write_results(interrupted);
  }

  std::int64_t samples() const {
    return options_.recipe.batch * options_.recipe.accumulate * std::max(plan_.workers, 1);
  }

  double tokens_per_second() const {
    double seconds = 0;
    for (const double time : times_) seconds += time;
    const auto tokens = static_cast<double>(std::ssize(losses_) * samples()) *
                        static_cast<double>(options_.recipe.sequence);
    return seconds > 0 ? tokens / seconds : 0;
  }

  void write_results(bool interrupted) {
    harness::PointResult point{.backend = options_.backend};
    point.parameters.emplace_back("mesh", text_of(plan_));
    training::for_each_field(options_.recipe, [&](std::string_view name, const auto&) {
      point.parameters.emplace_back(name, training::field_text(options_.recipe, name));
    });
    point.details = {{"data", options_.data.string()},
                     {"steps_done", std::to_string(trainer_->steps_done())}};
    point.metrics = training_metrics(losses_, times_, tokens_per_second());
    harness::ExperimentResult result{.experiment = options_.verb,
                                     .context = harness::describe_environment(),
                                     .points = {std::move(point)},
                                     .interrupted = interrupted};
    result.context.seed = options_.recipe.seed;
    if (profiles_) experiments::describe_chip(options_.profiles, result.context);
    write_file(options_.results / (options_.verb + ".json"),
               reports::result_json(std::span(&result, 1)));
    write_file(options_.results / "metrics.json",
               ttml_metrics_json({.name = options_.name,
                                  .file = options_.files.training.string(),
                                  .device = description_,
                                  .losses = losses_,
                                  .seconds = times_,
                                  .memory = {}}));
    fmt::print(stderr, "wrote {}\n", (options_.results / (options_.verb + ".json")).string());
  }

  const TrainOptions& options_;
  const MeshPlan& plan_;
  mesh::Communicator& ranks_;
  host::HostDevice host_;
  mesh::MeshMember member_;
  std::optional<wormhole::Profiles> profiles_;
  std::unique_ptr<wormhole::WormholeDevice> chip_;
  std::unique_ptr<training::RankTrainer> trainer_;
  std::string description_;
  std::int64_t saved_ = 0;  ///< The step that was saved last.
  // Only rank 0 has a log.
  std::optional<TtmlStepLog> log_;
  std::vector<double> losses_, times_;  ///< One for each step; times are in seconds.
};

}  // namespace

bool train_on_mesh(const TrainOptions& options) {
  const training::Corpus corpus = corpus_of(options);
  TrainOptions limited = options;
  limited.recipe = limited_to_epochs(options, corpus);
  if (!options.checkpoint.empty()) {
    require_writable_folder(std::filesystem::absolute(options.checkpoint).parent_path());
  }
  if (!options.results.empty()) require_writable_folder(options.results);
  const int ranks = options.plan->ranks();
  // Each device has its part of the cores.
  const int threads = std::max(1, host::thread_count({.threads = options.threads}) / ranks);
  bool finished = true;
  const auto work = [&](mesh::Communicator& world) {
    const bool all = MeshRun(limited, corpus, threads, world).run();
    if (world.rank() == 0) finished = all;
  };
  launched_processes() > 1 ? run_as_processes(ranks, work) : mesh::run_as_threads(ranks, work);
  return finished;
}

}  // namespace howard::cli
