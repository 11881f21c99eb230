// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/served_model.h"

#include <algorithm>
#include <utility>

namespace howard::experiments {
namespace {

/// Returns what the host reads of a step: the rows of all users' tile, or one token each.
TensorSpec answer_spec(const Serving& serving, std::int64_t rows) {
  if (serving.sampling != Sampling::host) {
    return {.shape = {1, kTileSide}, .dtype = DataType::uint32, .layout = Layout::row_major};
  }
  return {.shape = {rows, serving.column_share(serving.model.vocabulary) * serving.tensor_parallel},
          .layout = Layout::row_major};
}

/// The tokens, their places and the pages of the cache are small tensors of their own.
constexpr int kInputs = 4;
TensorSpec input_spec() {
  return {.shape = {1, kTileSide}, .dtype = DataType::uint32, .layout = Layout::row_major};
}

/// PyTorch takes so long for each logit of which it takes the largest: the difference between steps
/// for 32 users and for one of Llama-3.2-1B on N300 and T3000 (tt-metal,
/// models/tt_transformers/PERF.md, December 2025), 1.54 and 1.50 ns.
constexpr SimTime kLogit = SimTime::picoseconds(1520);

/// A launch of a model's program takes the host so long for each further chip of a mesh: it wakes a
/// task, 1.41 us, which copies the commands, 0.66 us (tt-metal, PR 53590, August 2026).
constexpr SimTime kFurtherChip = SimTime::picoseconds(2'070'000);

/// Returns what the host takes to find the largest of the logits of `users`.
SimTime sampling_time(const Serving& serving, std::int64_t users) {
  if (serving.sampling != Sampling::host) return {};
  return users * serving.model.vocabulary * kLogit;
}

/// A host serves one group after the other.
SimTime other_groups_time(const Serving& serving, const chip::Profiles& profiles) {
  const Bytes read = answer_spec(serving, kTileSide).padded_bytes();
  SimTime time;
  const int groups = std::max(1, serving.data_parallel / serving.machine.hosts);
  for (int group = 1; group < groups; ++group) {
    const int first_chip = group * serving.tensor_parallel;
    const bool remote = serving.machine.has_remote_chips && first_chip % 2 == 1;
    time += transfer_time(read, remote ? profiles.chip.remote_read : profiles.chip.pcie_read) +
            sampling_time(serving, serving.batch);
  }
  return time;
}

/// The host reads what each chip of a group has of a prompt's last logits, one after the other.
SimTime logits_time(const Serving& serving, const chip::ChipProfile& chip) {
  const TensorSpec part{.shape = {kTileSide, serving.column_share(serving.model.vocabulary)}};
  SimTime time;
  for (int i = 0; i < serving.tensor_parallel; ++i) {
    const bool remote = serving.machine.has_remote_chips && i % 2 == 1;
    time += transfer_time(part.padded_bytes(), remote ? chip.remote_read : chip.pcie_read);
  }
  return time;
}

ChipSizes sizes_of(const chip::EmulatedChip& chip, const chip::Profiles& profiles) {
  return {chip.compute_grid(), profiles.chip.dram_banks, chip.l1_free()};
}

std::span<const std::byte> no_values(const std::unique_ptr<std::byte[]>& room,
                                     const TensorSpec& spec) {
  return {room.get(), static_cast<std::size_t>(spec.host_bytes().value())};
}

}  // namespace

chip::DispatchCoreType widest_dispatch(const chip::ChipProfile& chip) {
  using enum chip::DispatchCoreType;
  const bool worker_is_wider = chip.compute_grid(worker).cores() >= chip.compute_grid(eth).cores();
  return worker_is_wider || chip.objection(eth) ? worker : eth;
}

Bytes tensor_memory(const chip::Profiles& profiles) {
  return profiles.chip.dram_capacity - profiles.software.trace_region;
}

Work step_of(const DevBox& box, const Serving& serving) {
  const auto chip = box.open_chip({.dispatch = widest_dispatch(box.profiles().chip)});
  return decode_calls(serving, sizes_of(*chip, box.profiles()));
}

SimTime first_token_time(const DevBox& box, const Serving& serving, const ProgramChanges& changes) {
  const chip::Profiles& profiles = box.profiles();
  const auto chip = box.open_chip({.dispatch = widest_dispatch(profiles.chip)});
  const std::int64_t tokens = padded_prompt(serving.prompt);
  const ModelStep step(
      *chip, changes.applied_to(prefill_calls(serving, sizes_of(*chip, profiles), tokens)));
  CommandQueue& queue = chip->command_queue(0);
  TraceId trace{};
  if (serving.is_on_all_chips()) {  // whose demo captures prompts
    queue.begin_trace_capture();
    step.each([&](const Program& program) { queue.enqueue(program); });
    trace = queue.end_trace_capture();
  }
  const SimTime start = chip->now();
  const SimTime further = (serving.tensor_parallel - 1) * kFurtherChip;
  if (serving.is_on_all_chips()) {
    chip->pass_host_time(further, "replay");
    queue.execute_trace(trace);
  } else {
    const SimTime call =
        profiles.software.script.ttnn_call + profiles.software.host_allocation + further;
    step.each([&](const Program& program) {
      chip->pass_host_time(call, "python");
      queue.enqueue(program);
    });
  }
  queue.finish();
  const SimTime time = chip->now() - start;
  if (serving.is_on_all_chips()) chip->release_trace(trace);
  return time + logits_time(serving, profiles.chip) + sampling_time(serving, 1);
}

ServedModel::ServedModel(std::shared_ptr<const DevBox> box, Serving serving,
                         std::optional<harness::EmulatedOn> chosen, const ProgramChanges& changes)
    : EmulatedCase(box->open_chip({.dispatch = widest_dispatch(box->profiles().chip)})),
      box_(std::move(box)),
      serving_(std::move(serving)),
      chosen_(std::move(chosen)),
      first_token_(first_token_time(*box_, serving_, changes)),
      step_(device(),
            changes.applied_to(decode_calls(serving_, sizes_of(device(), box_->profiles())))),
      inputs_(device(), input_spec()),
      logits_(device(), answer_spec(serving_, kTileSide)),
      host_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(
          std::max(inputs_.spec().host_bytes(), logits_.spec().host_bytes()).value()))) {
  queue().begin_trace_capture();
  step_.each([&](const Program& program) { queue().enqueue(program); });
  trace_ = queue().end_trace_capture();
}

ServedModel::~ServedModel() { device().release_trace(trace_); }

void ServedModel::run() {
  const chip::Profiles& profiles = box_->profiles();
  // The host writes to one chip of a group after the other. A chip that chooses the tokens has its
  // inputs already.
  const SimTime others = (serving_.tensor_parallel - 1) * profiles.software.host_mesh_chip;
  for (int i = 0; i < kInputs && serving_.sampling == Sampling::host; ++i) {
    device().pass_host_time(profiles.software.script.ttnn_call + others, "python");
    queue().write_buffer(inputs_.buffer(), no_values(host_, inputs_.spec()));
  }
  device().pass_host_time(others, "replay");
  queue().execute_trace(trace_);
  queue().read_buffer(logits_.buffer(),
                      {host_.get(), static_cast<std::size_t>(logits_.spec().host_bytes().value())});
  device().pass_host_time(
      sampling_time(serving_, serving_.batch) + other_groups_time(serving_, profiles), "sampling");
}

void ServedModel::describe(double seconds, harness::PointResult& point) const {
  const auto add = [&](std::string name, double value, std::string unit, harness::Better better) {
    point.metrics.push_back(
        {.name = std::move(name), .value = value, .unit = std::move(unit), .better = better});
  };
  using enum harness::Better;
  add("tokens_per_second_per_user", 1 / seconds, "1/s", higher);
  add("tokens_per_second", static_cast<double>(serving_.users()) / seconds, "1/s", higher);
  point.metrics.push_back({.name = "time_to_first_token",
                           .value = first_token_.seconds(),
                           .unit = "s",
                           .virtual_time = first_token_});
  const MemoryAccount account = memory_account(serving_, tensor_memory(box_->profiles()));
  const auto bytes = [](Bytes size) { return static_cast<double>(size.value()); };
  add("weights", bytes(account.weights + account.embedding), "B", lower);
  add("cache", bytes(account.cache), "B", lower);
  add("memory", bytes(account.needed()), "B", lower);
  add("cache_block", bytes(account.block), "B", lower);
  add("trace_bytes", bytes(step_.trace_bytes()), "B", lower);
  add("trace_region", bytes(box_->profiles().software.trace_region), "B", lower);
  point.details.emplace_back("cache_blocks", std::to_string(account.blocks()));
  point.details.emplace_back("room_for", std::to_string(account.most_blocks()));
  add("memory_share", bytes(account.needed()) / bytes(account.capacity), "1", lower);
  point.own_chip = chosen_;
  point.details.emplace_back("launches", std::to_string(step_.kernels().launches()));
  step_.kernels().describe(seconds, std::nullopt, point);
  if (serving_.model.has_experts()) {
    point.warnings.emplace_back(
        "the expected error leaves out how experts run: of sparse_matmul one measured time is "
        "known, with 512 experts on Blackhole, and of tokens that are sent to experts bands of a "
        "test; demos were tuned by a factor of five within 2026");
  }
}

}  // namespace howard::experiments
