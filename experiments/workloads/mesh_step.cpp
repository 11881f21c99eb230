// SPDX-License-Identifier: Apache-2.0
#include "experiments/workloads/mesh_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/autograd/adamw.h"
#include "engines/autograd/averaged_gradients.h"
#include "engines/autograd/step_recorder.h"
#include "engines/autograd/training_step.h"
#include "engines/device/collective.h"
#include "engines/wormhole/chip_links.h"

namespace howard::experiments {
namespace {

using autograd::Tape;
using autograd::Value;

/// This is more than any step takes, so that its need is known even where it does not fit.
constexpr Bytes kEndlessDram{std::int64_t{1} << 56};

/// Holds what programs take by themselves.
struct KernelTimes {
  SimTime compute, exchange;
};

KernelTimes operator+(const KernelTimes& a, const KernelTimes& b) {
  return {a.compute + b.compute, a.exchange + b.exchange};
}

KernelTimes operator*(const KernelTimes& a, int count) {
  return {a.compute * count, a.exchange * count};
}

/// Holds a part of a step on one chip: its time from an idle chip to an idle chip, and its kernels.
struct StepPart {
  SimTime time;
  KernelTimes kernels;
};

/// Holds the passes of one micro-batch through one stage.
struct StagePasses {
  StepPart forward, backward;
  Bytes kept;  ///< What the forward pass leaves in DRAM for the backward pass.
};

models::LlamaOptions share_of_mesh(const MeshJob& job, int first_block, int end_block,
                                   const autograd::DeviceGroup& tensor) {
  models::LlamaOptions options = job.model;
  options.batch /= job.mesh.ddp;
  options.vocabulary = vocabulary_of(job);
  options.first_block = first_block;
  options.end_block = end_block;
  options.group = &tensor;
  return options;
}

/// Runs a chip with its share of the model and DRAM without end.
class MeshChip {
 public:
  MeshChip(const DevBox& box, const MeshJob& job, int first_block, int end_block)
      : repeats_(job.micro_batches > 1),
        chip_(open(box, job)),
        tensor_(*chip_, 0, job.mesh.tp, 0),
        data_(*chip_, 1, job.mesh.ddp, 0),
        model_(*chip_, share_of_mesh(job, first_block, end_block, tensor_)),
        optimizer_(autograd::Calls(*chip_), model_.parameters(), AdamWAttributes{},
                   autograd::AdamWForm::fused),
        averaged_(optimizer_, model_.parameters(), data_),
        activations_(
            *chip_, {{model_.options().batch, 1, model_.options().sequence, model_.options().width},
                     model_.options().compute}) {}

  /// Runs a step of so many micro-batches without stages, in which the host runs ahead of the chip.
  StepPart whole_step(int micro_batches) {
    const autograd::StepFunction step =
        autograd::training_step([this](Tape& tape, int) { return model_.loss(tape); }, averaged_,
                                {.tape = tape_options(), .batches = micro_batches});
    static_cast<void>(step(*chip_));  // programs are planned here, once
    finish();
    const SimTime start = chip_->now();
    static_cast<void>(step(*chip_));
    finish();
    const SimTime time = chip_->now() - start;
    autograd::StepRecorder recorder(*chip_);
    static_cast<void>(step(recorder));
    return {time, kernels_of(recorder, 0, recorder.programs().size())};
  }

  StagePasses passes() {
    pass(*chip_);
    if (!repeats_) forget_gradients();
    finish();
    StagePasses passes;
    {
      const Bytes before = used();
      const SimTime start = chip_->now();
      Tape tape(*chip_, tape_options());
      const Value output = forward_on(tape);
      finish();
      const SimTime middle = chip_->now();
      passes.kept = used() - before;
      backward_on(tape, output);
      finish();
      passes.forward.time = middle - start;
      passes.backward.time = chip_->now() - middle;
    }
    autograd::StepRecorder recorder(*chip_);
    const std::size_t middle = pass(recorder);
    forget_gradients();
    passes.forward.kernels = kernels_of(recorder, 0, middle);
    passes.backward.kernels = kernels_of(recorder, middle, recorder.programs().size());
    return passes;
  }

  StepPart update() {
    pass(*chip_);
    finish();
    const SimTime start = chip_->now();
    averaged_.step(autograd::Calls(*chip_));
    finish();
    const SimTime time = chip_->now() - start;
    autograd::StepRecorder recorder(*chip_);
    pass(recorder);
    const std::size_t first = recorder.programs().size();
    averaged_.step(autograd::Calls(recorder));
    return {time, kernels_of(recorder, first, recorder.programs().size())};
  }

  Bytes activations() const { return activations_.spec().padded_bytes(); }

  Bytes peak() const {
    Bytes most;
    for (const MemoryPhase& phase : chip_->memory_phases()) most = std::max(most, phase.peak);
    return most;
  }

 private:
  static std::unique_ptr<wormhole::WormholeDevice> open(const DevBox& box, const MeshJob& job) {
    wormhole::Profiles profiles = box.profiles();
    profiles.chip.dram_capacity = kEndlessDram;
    auto chip = box.with(profiles)->open_wormhole({.dispatch = job.dispatch});
    chip->begin_phase("step");
    return chip;
  }

  autograd::TapeOptions tape_options() const {
    return {.calls = {.products = models::kTtmlProducts}, .compute = model_.options().compute};
  }

  Value forward_on(Tape& tape) {
    const Value input = model_.options().has_input() ? model_.embedded(tape, model_.tokens())
                                                     : tape.leaf(activations_);
    const Value x = model_.blocks(tape, input);
    return model_.options().has_output() ? model_.loss_of(tape, x, model_.targets()) : x;
  }

  /// The gradient of what was sent on has the shape of the activations.
  void backward_on(Tape& tape, Value output) {
    if (model_.options().has_output()) {
      tape.backward(output);
    } else {
      tape.backward(output, activations_);
    }
  }

  /// Runs one micro-batch and returns how many programs a recorder has after its forward pass.
  std::size_t pass(Device& device) {
    Tape tape(device, tape_options());
    const Value output = forward_on(tape);
    const auto* const recorder = dynamic_cast<const autograd::StepRecorder*>(&device);
    const std::size_t programs = recorder == nullptr ? 0 : recorder->programs().size();
    backward_on(tape, output);
    return programs;
  }

  KernelTimes kernels_of(const autograd::StepRecorder& recorder, std::size_t first,
                         std::size_t end) {
    KernelTimes sum;
    for (std::size_t i = first; i < end; ++i) {
      const Program& program = recorder.programs()[i];
      SimTime& part = collective_of(program) ? sum.exchange : sum.compute;
      for (const wormhole::PlannedProgram& launch : chip_->launches(program)) {
        part += launch.kernel.total;
      }
    }
    return sum;
  }

  void finish() { chip_->command_queue(0).finish(); }
  Bytes used() const { return chip_->memory_phases().back().current; }
  void forget_gradients() {
    for (autograd::Parameter* parameter : model_.parameters()) parameter->gradient.reset();
  }

  bool repeats_;
  std::unique_ptr<wormhole::WormholeDevice> chip_;
  autograd::DeviceGroup tensor_, data_;
  models::Llama model_;
  autograd::AdamW optimizer_;
  autograd::AveragedGradients averaged_;
  ops::Tensor activations_;
};

/// Returns the time of a step of `count` micro-batches, each after the second like it.
StepPart extended(const StepPart& one, const StepPart& two, int count) {
  const auto more = [&](SimTime a, SimTime b) { return b + (b - a) * (count - 2); };
  return {more(one.time, two.time),
          {more(one.kernels.compute, two.kernels.compute),
           more(one.kernels.exchange, two.kernels.exchange)}};
}

MeshStepTimes step_without_stages(const DevBox& box, const MeshJob& job) {
  MeshChip chip(box, job, 0, job.model.layers);
  StepPart step = chip.whole_step(1);
  if (job.micro_batches > 1) step = extended(step, chip.whole_step(2), job.micro_batches);
  MeshStepTimes times{.step = step.time,
                      .compute = step.kernels.compute,
                      .exchange = step.kernels.exchange,
                      .peak = chip.peak()};
  times.host = times.step - times.compute - times.exchange;
  return times;
}

/// Holds what the chips of one stage do.
struct Stage {
  StagePasses passes;
  StepPart update;
  SimTime send;
  Bytes peak;
};

SimTime socket_time(const wormhole::Profiles& profiles, Socket socket, Bytes size) {
  if (socket == Socket::mpi) {
    return transfer_time(size, profiles.chip.pcie_read) + profiles.software.host_finish +
           transfer_time(size, profiles.chip.pcie_write);
  }
  return wormhole::send_time(profiles, size);
}

Stage stage_of(const DevBox& box, const MeshJob& job, int first, int end) {
  MeshChip chip(box, job, first, end);
  Stage stage{.passes = chip.passes(), .update = chip.update()};
  stage.send = socket_time(box.profiles(), job.socket, chip.activations());
  stage.peak = chip.peak();
  return stage;
}

/// Returns all stages. Those in the middle with equally many blocks are equal.
std::vector<Stage> stages_of(const DevBox& box, const MeshJob& job) {
  const int count = job.mesh.pp;
  std::map<std::tuple<bool, bool, int>, Stage> known;
  std::vector<Stage> stages;
  int first = 0;
  for (int i = 0; i < count; ++i) {
    const int end = first + job.model.layers / count + (i < job.model.layers % count ? 1 : 0);
    const std::tuple key(i == 0, i + 1 == count, end - first);
    auto found = known.find(key);
    if (found == known.end()) found = known.emplace(key, stage_of(box, job, first, end)).first;
    stages.push_back(found->second);
    first = end;
  }
  return stages;
}

MeshStepTimes step_of_stages(const DevBox& box, const MeshJob& job) {
  const std::vector<Stage> stages = stages_of(box, job);
  std::vector<mesh::StageTimes> times;
  for (const Stage& stage : stages) {
    times.push_back({stage.passes.forward.time, stage.passes.backward.time, stage.send});
  }
  const int count = job.mesh.pp;
  const auto accounts = mesh::run_pipeline(job.schedule, times, job.micro_batches);
  MeshStepTimes result;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    result.step = std::max(result.step, accounts[i].end + stages[i].update.time);
    const int alive = mesh::most_alive(job.schedule, count, static_cast<int>(i), job.micro_batches);
    result.peak = std::max(result.peak, stages[i].peak + (alive - 1) * stages[i].passes.kept);
  }
  SimTime compute, exchange, bubble;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    const KernelTimes kernels =
        (stage.passes.forward.kernels + stage.passes.backward.kernels) * job.micro_batches +
        stage.update.kernels;
    compute += kernels.compute;
    exchange += kernels.exchange + accounts[i].sending;
    bubble += result.step - accounts[i].computing - accounts[i].sending - stage.update.time;
  }
  const auto mean = [&](SimTime sum) { return SimTime::picoseconds(sum.ps() / count); };
  result.compute = mean(compute);
  result.exchange = mean(exchange);
  result.bubble = mean(bubble);
  result.host = result.step - result.compute - result.exchange - result.bubble;
  return result;
}

}  // namespace

MeshShape parse_mesh(std::string_view value) {
  const std::vector<std::string> words = split(value, 'x');
  std::array<int, 3> sides{1, 1, 1};
  constexpr std::int64_t kMostChips = 1024;
  bool fits = words.size() <= sides.size();
  for (std::size_t i = 0; fits && i < words.size(); ++i) {
    const auto side = parse_integer(words[i]);
    fits = side && *side >= 1 && *side <= kMostChips;
    if (fits) sides.at(i) = static_cast<int>(*side);
  }
  const MeshShape mesh{sides[0], sides[1], sides[2]};
  if (fits && std::int64_t{mesh.ddp} * mesh.tp * mesh.pp <= kMostChips) return mesh;
  throw Error({.attempted = "set axis mesh",
               .value = "'" + std::string(value) + "'",
               .accepted = "DDPxTPxPP, of 1024 chips at most",
               .hint = "-a mesh=2x4x1"});
}

std::string mesh_text(const MeshShape& mesh) {
  return fmt::format("{}x{}x{}", mesh.ddp, mesh.tp, mesh.pp);
}

std::optional<std::string> mesh_obstacle(const MeshJob& job) {
  const models::LlamaOptions& model = job.model;
  const auto refuse = [](std::int64_t size, std::string_view what, int by, std::string_view who) {
    return fmt::format("{} {} cannot be divided by {} {}", size, what, by, who);
  };
  const auto [ddp, tp, pp] = job.mesh;
  const std::int64_t wide =
      model.feed_forward > 0 ? model.feed_forward : models::feed_forward_of(model.width);
  if (model.batch % ddp != 0) return refuse(model.batch, "sequences", ddp, "groups of chips");
  if (model.heads % tp != 0) return refuse(model.heads, "heads", tp, "chips");
  if (model.groups % tp != 0) return refuse(model.groups, "groups of heads", tp, "chips");
  if (wide % tp != 0) {
    return refuse(wide, "columns of the feed-forward part", tp, "chips");
  }
  if (model.layers < pp) return refuse(model.layers, "blocks", pp, "stages");
  if (model.tied && (tp > 1 || pp > 1)) {
    return "the head is the token table, which is on each chip";
  }
  return std::nullopt;
}

std::int64_t vocabulary_of(const MeshJob& job) {
  const std::int64_t rows = kTileSide * job.mesh.tp;
  return ceil_div(job.model.vocabulary, rows) * rows;
}

MeshStepTimes mesh_step(const DevBox& box, const MeshJob& job) {
  MeshStepTimes times = job.mesh.pp == 1 ? step_without_stages(box, job) : step_of_stages(box, job);
  times.capacity = box.profiles().chip.dram_capacity - box.profiles().software.trace_region;
  return times;
}

double mesh_step_flops(const MeshJob& job) {
  models::LlamaOptions whole = job.model;
  whole.vocabulary = vocabulary_of(job);
  const double attention =
      12.0 * whole.layers * static_cast<double>(whole.width) * static_cast<double>(whole.sequence);
  return (6 * static_cast<double>(models::parameter_count(whole)) + attention) *
         static_cast<double>(whole.batch * whole.sequence * job.micro_batches);
}

}  // namespace howard::experiments
