// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/optimizers/averaged_gradients.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/models/adapters.h"
#include "engines/models/batch.h"
#include "engines/models/deepseek.h"
#include "engines/models/llama.h"
#include "engines/program/program.h"
#include "engines/training/clipped.h"
#include "engines/training/optimizers.h"
#include "engines/training/step_runner.h"
#include "experiments/cases/host_time.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/training_plan/pipeline_plan.h"
#include "experiments/training_plan/planned_chip.h"
#include "experiments/training_plan/tier_plan.h"
#include "profiler/memory_recorder.h"

namespace howard::experiments {
namespace {

/// Notes when the first kernel of each launch begins, and how long the host waits.
class UpdateEvents final : public EventSink {
 public:
  void record(const TimelineEvent& event) override {
    waits_.record(event);
    if (event.category != "kernel" || event.program <= last_) return;
    last_ = event.program;
    starts_.push_back(event.start);
  }
  const std::vector<SimTime>& starts() const { return starts_; }
  SimTime host_waits() const { return waits_.time(); }

 private:
  HostWaits waits_;
  std::uint64_t last_ = 0;
  std::vector<SimTime> starts_;
};

/// Emulates a run on one chip of the mesh; all others do the same.
class EmulatedRun {
 public:
  EmulatedRun(const RunSetting& setting, const chip::Profiles& profiles, MemorySink* memory)
      : recipe_(setting.recipe),
        engine_(setting.engine),
        chips_(setting.plan.devices()),
        overlapped_(setting.overlapped),
        replayed_(setting.replayed),
        chip_(planned_profiles(setting, profiles),
              {.dispatch = setting.dispatch, .memory = memory}),
        tensor_(chip_, 0, setting.plan.tp, 0),
        copies_(chip_, 1, setting.plan.ddp, 0),
        sharers_(chip_, 2, setting.plan.fsdp, 0) {
    recipe_.model.batch /= setting.plan.batch_shares();
    vocabulary_ = vocabulary_rows(setting);
    chip_.begin_phase("model");
    models::ModelOptions own =
        recipe_.model.with(vocabulary_, &tensor_, setting.plan.sequence_parallel);
    own.sharers = &sharers_;
    own.lazy_parameters = setting.plan.lazy;
    model_ = models::make_model(chip_, own);
    batch_ = models::own_batch(chip_, *model_,
                               recipe_.examples ? models::Weights::given : models::Weights::none);
    chip_.begin_phase("optimizer");
    const autograd::Calls calls(chip_);
    optimizer_ = training::make_optimizer(recipe_, calls, model_->parameters(),
                                          engine_ == training::Engine::traced);
    if (recipe_.optimizer.clip > 0) {
      clipped_ = std::make_unique<training::Clipped>(*optimizer_, model_->parameters(),
                                                     recipe_.optimizer.clip,
                                                     engine_ == training::Engine::dynamic);
    }
    averaged_ = std::make_unique<autograd::AveragedGradients>(
        clipped_ ? *clipped_ : *optimizer_, model_->parameters(), copies_, &sharers_);
    if (engine_ == training::Engine::traced && recipe_.model.dropout > 0) {
      seed_offset_.emplace(chip_, TensorSpec{{1, 1}, DataType::uint32});
    }
    step_ = autograd::training_step(
        [this](autograd::Tape& tape, int) { return models::batch_loss(tape, *model_, *batch_); },
        *averaged_,
        {.tape = {.calls = {.products = models::kTtmlProducts},
                  .compute = recipe_.model.compute,
                  .seed_offset = seed_offset_},
         .batches = recipe_.accumulate,
         .after_forward = [this](Device& device, const ops::Tensor& loss) { read(device, loss); }});
    if (engine_ != training::Engine::dynamic) {
      runner_.emplace(chip_, step_, engine_, training::scalars_of(recipe_, engine_));
    }
  }

  /// Notes what happens from now on, which describe() needs of the last update.
  void note_events() { chip_.set_trace_sink(&events_); }

  /// Runs an update with its data. The dynamic engine reads the loss of each batch before it goes
  /// back, as TTML does, and the others at the end.
  SimTime update() {
    start_ = chip_.now();
    for (int i = 0; i < recipe_.accumulate; ++i) write_batch();
    update_alone();
    return chip_.now() - start_;
  }

  /// Returns the time of the next update, by itself.
  SimTime step_time() { return replayed_ ? replay_time(chip_, step_) : update(); }

  /// Runs an update whose data nobody writes, for its memory.
  void update_alone() {
    CommandQueue& queue = chip_.command_queue(0);
    optimizer_->set_numbers(training::numbers_of(recipe_, ++steps_));
    optimizer_->write_numbers(queue);
    if (seed_offset_) autograd::write_indices(queue, *seed_offset_, std::vector<std::uint32_t>(1));
    if (runner_) {
      static_cast<void>(runner_->run());
    } else {
      static_cast<void>(step_(chip_));
      queue.finish();
    }
    model_->after_update(queue);
  }

  bool has_gradients() const {
    return std::ranges::any_of(model_->parameters(), [](const autograd::Parameter* parameter) {
      return parameter->gradient.has_value();
    });
  }

  /// Describes the programs of an update; `with_error`, with the mean error of measured times like
  /// theirs.
  void describe(const chip::Profiles& profiles, bool with_error, RunPlan& plan) {
    autograd::StepRecorder recorder(chip_, autograd::StepRecorder::Reads::zeros);
    static_cast<void>(step_(recorder));
    if (with_error) plan.expected_error = expected_error(plan.step.time, recorder.programs());
    const std::size_t update = recorder.phases().back().first;
    std::vector<std::size_t> launches_before;
    std::vector<SimTime> exchanged_by;  // by each program
    for (std::size_t i = 0; i < recorder.programs().size(); ++i) {
      const Program& program = recorder.programs()[i];
      launches_before.push_back(plan.launches);
      const SimTime before = plan.step.exchange + plan.step.sums;
      SimTime& exchanged = i < update ? plan.step.exchange : plan.step.sums;
      for (const chip::PlannedProgram& launch : chip_.launches(program)) {
        plan.trace += chip::trace_bytes(launch.footprint, profiles.software);
        ++plan.launches;
        if (is_collective(program.attributes)) {
          exchanged += launch.kernel.total;
          continue;
        }
        plan.step.compute += launch.kernel.total;
        plan.kernels_by_op[std::string(launch.name)] += launch.kernel.total;
      }
      exchanged_by.push_back(plan.step.exchange + plan.step.sums - before);
    }
    if (overlapped_) {
      hide_sums(recorder, plan);
    } else if (!replayed_ && events_.starts().size() == plan.launches) {
      describe_phases(recorder.phases(), launches_before, exchanged_by, plan);
    }
    const auto whole = models::make_model(recorder, recipe_.model.with(vocabulary_));
    for (const autograd::Parameter* parameter : whole->parameters()) {
      plan.parameters += parameter->value.spec().shape.elements();
      if (!parameter->trained) plan.frozen += parameter->value.spec().shape.elements();
    }
  }

  Bytes peak() const { return peak_of(chip_); }

 private:
  void write_batch() {
    CommandQueue& queue = chip_.command_queue(0);
    const std::vector<std::uint32_t> tokens(elements_of(batch_->tokens));
    model_->write_tokens(queue, batch_->tokens, tokens);
    write_data(queue, batch_->targets);
    if (batch_->weights) {
      autograd::write_values(queue, *batch_->weights,
                             std::vector<float>(elements_of(batch_->targets)));
    }
  }

  static std::size_t elements_of(const ops::Tensor& tensor) {
    return static_cast<std::size_t>(tensor.spec().shape.elements());
  }

  /// Returns the mean error of measured times like those of an update, which takes `step`.
  std::optional<double> expected_error(SimTime step, std::span<const Program> programs) {
    KernelAccount kernels;
    for (const Program& program : programs) kernels.add(program.name, chip_, program);
    const SimTime host = step - events_.host_waits();
    const auto error = kernels.expected_error({.whole = step.seconds(), .host = host.seconds()});
    return error ? std::optional(error->share) : std::nullopt;
  }

  /// Reads the loss of each chip, one after the other, when all have computed it.
  void read(Device& device, const ops::Tensor& loss) {
    if (&device != &chip_ || engine_ != training::Engine::dynamic) return;
    read_losses(chip_.command_queue(0), loss, chips_);
  }

  /// Shortens the step by the sums that its passes hide.
  void hide_sums(const autograd::StepRecorder& recorder, RunPlan& plan) {
    const std::size_t update = recorder.phases().back().first;
    SimTime passes = plan.step.time - plan.step.sums;
    for (std::size_t i = update; i < recorder.programs().size(); ++i) {
      const Program& program = recorder.programs()[i];
      if (!is_collective(program.attributes)) passes = passes - kernel_time_of(chip_, program);
    }
    const SimTime hidden = hidden_sums(chip_, recorder, update, passes);
    plan.step.time = plan.step.time - hidden;
    plan.step.sums = plan.step.sums - hidden;
  }

  /// Divides the last update at the first kernels of its phases.
  void describe_phases(const std::vector<autograd::StepRecorder::Phase>& phases,
                       const std::vector<std::size_t>& launches_before,
                       const std::vector<SimTime>& exchanged_by, RunPlan& plan) const {
    const auto start_of = [&](std::size_t phase) {
      if (phase == 0) return start_;
      if (phase == phases.size() || phases[phase].first == launches_before.size()) {
        return start_ + plan.step.time;
      }
      return events_.starts().at(launches_before[phases[phase].first]);
    };
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
      const std::size_t end =
          phase + 1 < phases.size() ? phases[phase + 1].first : exchanged_by.size();
      SimTime time = start_of(phase + 1) - start_of(phase);
      for (std::size_t i = phases[phase].first; i < end; ++i) time = time - exchanged_by[i];
      const std::string& name = phases[phase].name;
      plan.phases[name == "step" ? "optimizer" : name] += std::max(time, SimTime());
    }
  }

  training::Recipe recipe_;
  training::Engine engine_;
  std::int64_t vocabulary_ = 0;
  UpdateEvents events_;
  SimTime start_;  ///< When the last update began.
  std::int64_t steps_ = 0;
  int chips_;  ///< That a host drives as a mesh.
  bool overlapped_, replayed_;
  chip::EmulatedChip chip_;
  std::optional<ops::Tensor> seed_offset_;
  autograd::DeviceGroup tensor_, copies_, sharers_;
  std::unique_ptr<models::LanguageModel> model_;
  std::optional<models::BatchTensors> batch_;
  std::unique_ptr<autograd::Optimizer> optimizer_, clipped_, averaged_;
  autograd::StepFunction step_;
  std::optional<training::StepRunner> runner_;
};

/// Plans a run with `batches` batches; its step is the second update.
RunPlan measured(RunSetting setting, int batches, const chip::Profiles& profiles,
                 profiler::MemoryRecorder* memory, MemorySink* listener = nullptr) {
  setting.recipe.accumulate = batches;
  RunPlan plan{.setting = setting};
  if (memory != nullptr) memory->open("model");
  EmulatedRun run(setting, profiles, memory != nullptr ? memory : listener);
  static_cast<void>(run.update());
  if (memory != nullptr) {
    memory->close();
    plan.memory = memory->use();
  }
  run.note_events();
  plan.step.time = run.step_time();
  plan.peak = run.peak();
  run.describe(profiles, memory != nullptr, plan);
  return plan;
}

/// Returns the most DRAM of a run. A second batch runs beside the gradients of the first one, and
/// further ones need no more; so does a second update, if the first one leaves gradients.
Bytes peak_of_updates(RunSetting setting, const chip::Profiles& profiles) {
  setting.recipe.accumulate = std::min(setting.recipe.accumulate, 2);
  EmulatedRun run(setting, profiles, nullptr);
  run.update_alone();
  if (run.has_gradients()) run.update_alone();
  return run.peak();
}

RunPlan plan_mesh(const RunSetting& setting, const chip::Profiles& profiles,
                  profiler::MemoryRecorder* memory, MemorySink* listener) {
  const int batches = setting.recipe.accumulate;
  RunPlan plan = measured(setting, std::min(batches, 2), profiles, memory, listener);
  if (batches <= 2) return plan;
  const RunPlan one = measured(setting, 1, profiles, nullptr);
  const int more = batches - 2;
  plan.step = profiler::extended(one.step, plan.step, batches);
  plan.trace += (plan.trace - one.trace) * more;
  plan.launches += (plan.launches - one.launches) * static_cast<std::size_t>(more);
  for (auto& [phase, time] : plan.phases) time += (time - one.phases.at(phase)) * more;
  for (auto& [op, time] : plan.kernels_by_op) {
    const auto found = one.kernels_by_op.find(op);
    const SimTime first = found == one.kernels_by_op.end() ? SimTime() : found->second;
    time += (time - first) * more;
  }
  return plan;
}

}  // namespace

std::int64_t vocabulary_rows(const RunSetting& setting) {
  const std::int64_t rows = kTileSide * setting.plan.tp;
  return ceil_div(setting.vocabulary, rows) * rows;
}

std::optional<std::string> sharing_obstacle(const models::ModelOptions& model,
                                            const training::MeshPlan& plan) {
  const auto refuse = [](std::int64_t size, std::string_view what, int by, std::string_view who) {
    return fmt::format("{} {} cannot be divided by {} {}", size, what, by, who);
  };
  const int tp = plan.tp;
  const int stages = plan.stages();
  if (model.heads % tp != 0) return refuse(model.heads, "heads", tp, "chips");
  if (model.kind == training::ModelKind::llama) {
    const std::int64_t wide = models::feed_forward_of(model);
    if (model.groups % tp != 0) return refuse(model.groups, "groups of heads", tp, "chips");
    if (wide % tp != 0) return refuse(wide, "columns of the feed-forward part", tp, "chips");
  }
  if (plan.sequence_parallel && tp > 1 && model.sequence % (kTileSide * tp) != 0) {
    return refuse(model.sequence, "rows of a sequence", tp, "chips in whole tiles");
  }
  if (model.layers < stages) return refuse(model.layers, "blocks", stages, "stages");
  if (model.tied && (tp > 1 || stages > 1)) {
    return "the head is the token table, which is on each chip";
  }
  return std::nullopt;
}

std::int64_t RunSetting::sequences() const {
  return recipe.model.batch * recipe.accumulate * std::max(plan.workers, 1);
}

std::int64_t RunPlan::tokens() const { return setting.sequences() * setting.recipe.model.sequence; }

double RunPlan::tokens_per_second() const {
  return step.time > SimTime() ? static_cast<double>(tokens()) / step.time.seconds() : 0;
}

std::int64_t RunPlan::active() const {
  const std::int64_t idle = models::idle_parameters(setting.recipe.model);
  return std::max(parameters - idle, std::int64_t{0});  // none are counted of a run that clashes
}

double RunPlan::flops() const {
  const training::Recipe& recipe = setting.recipe;
  const bool attends = recipe.model.kind != training::ModelKind::mlp;
  const std::int64_t columns = recipe.model.head_columns() + recipe.model.value_columns();
  const std::int64_t heads = attends ? recipe.model.heads * columns : 0;
  const double attention = 6.0 * recipe.model.layers * static_cast<double>(heads) *
                           static_cast<double>(recipe.model.sequence);
  return (6 * static_cast<double>(active()) + attention) * static_cast<double>(tokens());
}

double RunPlan::share_of_peak() const {
  const double most = peak_flops * static_cast<double>(setting.chips()) * step.time.seconds();
  return most > 0 ? flops() / most : 0;
}

double RunPlan::mfu() const {
  const double most = core_flops * cores * setting.chips() * step.time.seconds();
  return most > 0 ? flops() / most : 0;
}

std::optional<std::int64_t> largest_batch(const RunPlan& plan, const chip::Profiles& profiles) {
  const training::MeshPlan& shared = plan.setting.plan;
  if (shared.stages() > 1 || shared.workers > 0 || !plan.clash.empty()) return std::nullopt;
  RunSetting tried = plan.setting;
  const auto peak_of = [&](std::int64_t sequences) {
    tried.recipe.model.batch = sequences * shared.batch_shares();
    try {
      return peak_of_updates(tried, profiles);
    } catch (const Error&) {
      return Bytes();  // a kernel does not fit L1, or a shape is too large, whatever the DRAM
    }
  };
  // The peak is the largest of several sums, of which each grows by the same with each sequence:
  // the more there are, the faster it grows. So its growth at any batch leads to the largest one
  // that fits, or to one that is still too large.
  std::int64_t at = plan.setting.recipe.model.batch / shared.batch_shares();
  Bytes peak = plan.peak;
  Bytes growth = peak_of(at + 1) - peak;
  if (growth <= Bytes()) {  // the peak is that of the update
    at = 512;
    peak = peak_of(at);
    growth = peak_of(at + 1) - peak;
  }
  if (growth <= Bytes()) return std::nullopt;
  std::int64_t most = peak > plan.capacity
                          ? at - ceil_div((peak - plan.capacity).value(), growth.value())
                          : at + (plan.capacity - peak).value() / growth.value();
  while (most > 1 && most != at) {
    peak = peak_of(most);
    if (peak == Bytes()) {  // so many that no program of them can be made
      most = most > at ? at + (most - at) / 2 : most / 2;
      continue;
    }
    if (peak <= plan.capacity) break;
    growth = std::max(peak - peak_of(most - 1), Bytes{1});
    most -= ceil_div((peak - plan.capacity).value(), growth.value());
  }
  if (most < 1 || (most == 1 && peak_of(1) > plan.capacity)) return std::nullopt;
  return most * shared.batch_shares();
}

RunPlan complete_plan(RunPlan plan, const RunSetting& setting, const chip::Profiles& profiles) {
  plan.setting = setting;
  plan.capacity = profiles.chip.dram_capacity - profiles.software.trace_region;
  const CoreGrid grid = profiles.chip.compute_grid(setting.dispatch);
  plan.peak_flops = profiles.chip.peak_flops(grid.cores(), MathFidelity::hifi4);
  plan.core_flops = 1000 * static_cast<double>(profiles.chip.aiclk.value());
  plan.cores = static_cast<int>(grid.cores());
  return plan;
}

RunPlan plan_run(const RunSetting& setting, const chip::Profiles& profiles, bool with_memory,
                 MemorySink* listener) {
  if (setting.plan.stages() > 1) {
    return plan_pipeline(setting, profiles, std::span(&setting.plan.schedule, 1), listener).front();
  }
  profiler::MemoryRecorder memory;
  RunPlan plan;
  try {
    if (setting.plan.workers > 0) {
      return TierPlanner(setting, profiles).plans(setting, std::span(&setting.plan, 1)).front();
    }
    plan = plan_mesh(setting, profiles, with_memory ? &memory : nullptr, listener);
  } catch (const models::NoSuchLayer&) {
    throw;  // there is no such model, on any chips
  } catch (const Error& failure) {
    plan.clash = failure.what();
  }
  return complete_plan(std::move(plan), setting, profiles);
}

}  // namespace howard::experiments
