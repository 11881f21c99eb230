// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "engines/chip/calibration/bands.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/chip/kernels/planner.h"
#include "engines/query/op.h"
#include "engines/query/op_steps.h"

namespace howard::query {
namespace {

using chip::PlannedProgram;

chip::Profiles profiles_of(const Target& target) {
  chip::ProfileChoice choice{.profiles = {target.chip}, .settings = target.settings};
  if (!target.software.empty()) choice.profiles.push_back(target.software);
  chip::Profiles profiles = chip::load_profiles(choice);
  profiles.chip.l1_circular_buffers = profiles.chip.l1_circular_buffers - target.l1_small;
  return profiles;
}

std::string reason_of(const ErrorText& text) {
  return text.accepted.empty() ? text.value : text.value + "; accepted: " + text.accepted;
}

/// DRAM is read in units of so many bytes.
Bytes dram_alignment(const chip::ChipProfile& chip) {
  return Bytes(chip.architecture == "blackhole" ? 64 : 32);
}
constexpr Bytes kL1Alignment{16};

/// Returns what a tensor takes of each core that holds a part of it.
Bytes l1_bytes(const TensorSpec& spec, CoreGrid grid) {
  if (spec.storage != Storage::l1) return {};
  if (!spec.sharding) return bank_bytes(spec, grid.cores(), kL1Alignment);
  const std::int64_t elements = spec.sharding->rows * spec.sharding->columns;
  if (spec.layout == Layout::tile) {
    return elements / (kTileSide * kTileSide) * tile_bytes(spec.dtype);
  }
  return elements * Bytes(spec.host_bytes().value() / spec.shape.elements());
}

Bytes dram_bank_bytes(const TensorSpec& spec, const chip::ChipProfile& chip) {
  if (spec.storage != Storage::dram) return {};
  if (!spec.sharding) return bank_bytes(spec, chip.dram_banks, dram_alignment(chip));
  TensorSpec shard = spec;
  shard.storage = Storage::l1;  // a whole shard lies in each of its banks
  return l1_bytes(shard, {1, 1});
}

/// Appends what tells one call from another.
void append(std::string& key, const void* data, std::size_t size) {
  key.append(static_cast<const char*>(data), size);
}
void append(std::string& key, const TensorSpec& spec) {
  const auto& sides = spec.shape.dimensions();
  append(key, sides.data(), sizeof sides);
  key += static_cast<char>(spec.dtype);
  key += static_cast<char>(spec.layout);
  key += static_cast<char>(spec.storage);
  key += static_cast<char>(spec.sharding.has_value());
  if (!spec.sharding) return;
  const Sharding& shards = *spec.sharding;
  const std::array<std::int64_t, 6> numbers{static_cast<std::int64_t>(shards.layout),
                                            shards.grid.columns,
                                            shards.grid.rows,
                                            shards.rows,
                                            shards.columns,
                                            shards.column_major ? 1 : 0};
  append(key, numbers.data(), sizeof numbers);
}

std::string text_of(const OpCall& call) {
  std::string key;
  key.reserve(256);
  key += call.op;
  key += '\0';
  key += call.attributes;
  key += '\0';
  for (const auto& input : call.inputs) {
    key += static_cast<char>(input.has_value());
    if (input) append(key, *input);
  }
  key += '\2';
  for (const TensorSpec& output : call.outputs) append(key, output);
  if (!call.live) return key;
  key += '\3';
  for (const LiveBuffer& buffer : *call.live) {
    const std::array<std::int64_t, 2> numbers{buffer.size.value(),
                                              buffer.address.value_or(Bytes(-1)).value()};
    append(key, numbers.data(), sizeof numbers);
  }
  return key;
}

}  // namespace

/// Tells a call from others; its hash is computed once.
struct OpModelKey {
  explicit OpModelKey(std::string of) : text(std::move(of)), hash(std::hash<std::string>{}(text)) {}
  bool operator==(const OpModelKey& other) const {
    return hash == other.hash && text == other.text;
  }

  std::string text;
  std::size_t hash;
};
struct OpModelHash {
  std::size_t operator()(const OpModelKey& key) const { return key.hash / 64; }
};

class OpModel::Impl {
 public:
  explicit Impl(const Target& target)
      : profiles_(profiles_of(target)),
        dispatch_(target.eth_dispatch ? chip::DispatchCoreType::eth
                                      : chip::DispatchCoreType::worker),
        grid_(profiles_.chip.compute_grid(dispatch_)),
        base_(profiles_.software.l1_firmware + profiles_.software.dispatch.configuration_ring),
        l1_small_(target.l1_small) {
    if (auto reason = profiles_.chip.objection(dispatch_)) {
      throw Error({.attempted = "ask with ETH dispatch",
                   .value = std::move(*reason),
                   .accepted = "WORKER dispatch"});
    }
    // What bands are made of is read once, here.
    static_cast<void>(
        calibration::band_of(PlannedProgram{.op = "softmax"}, profiles_.chip.architecture));
  }

  std::shared_ptr<const OpAnswer> answer(const OpCall& call) {
    OpModelKey key(text_of(call));
    if (auto known = answers_.find(key)) return known;
    auto made = std::make_shared<OpAnswer>();
    try {
      *made = computed(call);
    } catch (const Error& error) {
      *made = {};
      made->reason = reason_of(error.text());
    }
    answers_.keep(std::move(key), made);
    return made;
  }

 private:
  /// Answers that were given, in parts so that threads rarely meet.
  class Answers {
   public:
    using Answer = std::shared_ptr<const OpAnswer>;

    Answer find(const OpModelKey& key) {
      Part& part = part_of(key);
      const std::lock_guard lock(part.mutex);
      const auto found = part.answers.find(key);
      return found == part.answers.end() ? nullptr : found->second;
    }
    void keep(OpModelKey key, Answer answer) {
      Part& part = part_of(key);
      const std::lock_guard lock(part.mutex);
      if (part.answers.size() >= kMostOfPart) part.answers.clear();
      part.answers.emplace(std::move(key), std::move(answer));
    }

   private:
    static constexpr std::size_t kParts = 64, kMostOfPart = 1024;
    struct alignas(64) Part {
      std::mutex mutex;
      std::unordered_map<OpModelKey, Answer, OpModelHash> answers;
    };
    Part& part_of(const OpModelKey& key) { return parts_.at(key.hash % kParts); }

    std::array<Part, kParts> parts_;
  };

  /// Adds up what launches take, one after the other.
  struct Sums {
    double share = 0;            ///< Of expected errors, by time.
    calibration::Known known{};  ///< The worst of them.
    SimTime longest;
  };

  /// Returns the L1 that live buffers leave from its base on.
  Bytes free_l1(const OpCall& call) const {
    Bytes top = base_ + profiles_.chip.l1_circular_buffers;
    for (const LiveBuffer& buffer : call.live.value_or(std::vector<LiveBuffer>())) {
      top = buffer.address ? std::min(top, *buffer.address) : top - buffer.size;
    }
    return std::max(Bytes(), top - base_);
  }

  OpAnswer computed(const OpCall& call) const {
    Bytes room = free_l1(call);
    // ttnn's query gives a linear layer's bias memory, and no other operand.
    if (call.op == "linear" && !call.live && call.inputs.size() > 2 && call.inputs[2]) {
      room = room - l1_bytes(*call.inputs[2], grid_);
    }
    if (room == profiles_.chip.l1_circular_buffers) return computed(call, profiles_);
    chip::Profiles changed = profiles_;
    changed.chip.l1_circular_buffers = room;
    return computed(call, changed);
  }

  OpAnswer computed(const OpCall& call, const chip::Profiles& profiles) const {
    const std::vector<OpStep> steps = steps_of(call, grid_, profiles);
    OpAnswer answer{.legal = true, .exact_buffers = true};
    Sums sums;
    Bytes before;  // Buffers of the launch before stay until the next one has its own.
    Bytes given;   // What the step before has handed over.
    for (const OpStep& step : steps) {
      Bytes made;
      for (const Operand& output : step.program.outputs) made += l1_bytes(output.spec, grid_);
      answer.tensors = std::max(answer.tensors, given + made);
      answer.peak = std::max(answer.peak, before + given + made);
      for (auto& [program, matmul] : lower(step.program, grid_, profiles)) {
        const PlannedProgram planned = plan_program(std::move(program), grid_, profiles, matmul);
        const chip::KernelBuffers buffers = step.buffers.value_or(planned.buffers);
        before = buffers.size;
        answer.circular_buffers = std::max(answer.circular_buffers, before);
        answer.peak = std::max(answer.peak, before + given + made);
        answer.exact_buffers = answer.exact_buffers && buffers.exact;
        require_fits(planned, buffers.least, given + made, profiles);
        add(planned, profiles, sums, answer);
      }
      given = made;
    }
    for (const Operand& output : steps.back().program.outputs) {
      answer.output_l1 += l1_bytes(output.spec, grid_);
      answer.dram_of_bank += dram_bank_bytes(output.spec, profiles.chip);
      answer.outputs.push_back(output.spec);
    }
    answer.expected_error =
        answer.kernel == SimTime() ? 0 : sums.share / static_cast<double>(answer.kernel.ps());
    answer.rests_on = name_of(sums.known);
    return answer;
  }

  void add(const PlannedProgram& planned, const chip::Profiles& profiles, Sums& sums,
           OpAnswer& answer) const {
    const chip::Launch launch = launch_of(planned, dispatch_, profiles);
    const calibration::Band& band = calibration::band_of(planned, profiles.chip.architecture);
    ++answer.launches;
    answer.kernel += launch.kernel;
    answer.dispatch += launch.dispatch + launch.go;
    answer.host += profiles.software.host_op_call;
    sums.share += band.share * static_cast<double>(launch.kernel.ps());
    sums.known = std::max(sums.known, band.known);
    if (planned.matmul) answer.matmul_config = ttnn_text(config_of(*planned.matmul));
    if (launch.kernel < sums.longest) return;
    sums.longest = launch.kernel;
    answer.bound_by = name_of(planned.kernel.bottleneck);
  }

  /// Throws Error, in tt-metal's words, unless buffers and tensors fit into L1.
  void require_fits(const PlannedProgram& planned, Bytes buffers, Bytes tensors,
                    const chip::Profiles& profiles) const {
    const Bytes end = base_ + buffers;
    const Bytes top = base_ + profiles.chip.l1_circular_buffers;
    if (tensors > profiles.chip.l1_circular_buffers) {
      throw Error({.attempted = fmt::format("run {}", planned.name),
                   .value = fmt::format(
                       "Out of Memory: Not enough space to allocate L1 buffers across {} "
                       "banks, where each bank needs to store {} B, but bank size is {} B",
                       grid_.cores(), tensors.value(), profiles.chip.l1_circular_buffers.value())});
    }
    if (end <= top - tensors) return;
    const std::string cores =
        fmt::format("[(x=0,y=0) - (x={},y={})]", grid_.columns - 1, grid_.rows - 1);
    const Bytes whole = base_ + profiles_.chip.l1_circular_buffers + l1_small_;
    throw Error(
        {.attempted = fmt::format("run {}", planned.name),
         .value =
             end > whole
                 ? fmt::format("Statically allocated circular buffers on core range {} grow to {} "
                               "B which is beyond max L1 size of {} B",
                               cores, end.value(), whole.value())
                 : fmt::format("Statically allocated circular buffers in program clash with L1 "
                               "buffers on core range {}. L1 buffer allocated at {} and static "
                               "circular buffer region ends at {}",
                               cores, (top - tensors).value(), end.value())});
  }

  chip::Profiles profiles_;
  chip::DispatchCoreType dispatch_;
  CoreGrid grid_;
  Bytes base_;  ///< Where the memory of circular buffers begins.
  Bytes l1_small_;
  Answers answers_;
};

OpModel::OpModel(const Target& target) : impl_(std::make_unique<Impl>(target)) {}
OpModel::~OpModel() = default;

std::shared_ptr<const OpAnswer> OpModel::answer(const OpCall& call) const {
  return impl_->answer(call);
}

std::vector<std::shared_ptr<const OpAnswer>> OpModel::answers(std::span<const OpCall> calls) const {
  std::vector<std::shared_ptr<const OpAnswer>> answers;
  answers.reserve(calls.size());
  for (const OpCall& call : calls) answers.push_back(impl_->answer(call));
  return answers;
}

Bytes bank_bytes(const TensorSpec& spec, std::int64_t banks, Bytes alignment) {
  const std::int64_t rows = spec.shape.batch() * spec.shape.rows();
  const bool tiles = spec.layout == Layout::tile;
  const std::int64_t pages = tiles ? spec.shape.tiles() : rows;
  const Bytes page =
      tiles ? tile_bytes(spec.dtype) : Bytes(ceil_div(spec.host_bytes().value(), rows));
  return ceil_div(pages, banks) * (ceil_div(page.value(), alignment.value()) * alignment);
}

}  // namespace howard::query
