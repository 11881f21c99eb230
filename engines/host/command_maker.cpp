// SPDX-License-Identifier: Apache-2.0
#include "engines/host/command_maker.h"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

#include "base/error.h"
#include "engines/host/kernels/elementwise/fused_kernel.h"
#include "engines/host/kernels/kernels.h"
#include "engines/host/trace_fusion.h"
#include "engines/host/trace_memory.h"

namespace howard::host {
namespace {

/// The ops that a host alone cannot compute.
template <class Kind>
constexpr bool kOnSeveralDevices =
    kIsOneOf<Kind, MoveTilesAttributes, SplitHeadsDecodeAttributes, ConcatHeadsDecodeAttributes,
             PagedUpdateCacheAttributes, PagedFillCacheAttributes, AllGatherAttributes,
             ReduceScatterAttributes, AllGatherMatmulAttributes, MatmulReduceScatterAttributes,
             AllToAllDispatchAttributes, AllToAllCombineAttributes, SendAttributes,
             ReceiveAttributes, SamplingAttributes>;

/// Returns the memory of all operands, as the commands of the programs hold it.
std::map<BufferId, std::shared_ptr<std::byte[]>> values_of(std::span<const Program> programs,
                                                           std::span<const Command> commands) {
  std::map<BufferId, std::shared_ptr<std::byte[]>> result;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    auto values = commands[i].buffers.begin();
    for (const auto* operands : {&programs[i].inputs, &programs[i].outputs}) {
      for (const Operand& operand : *operands) result.emplace(operand.buffer, *values++);
    }
  }
  return result;
}

}  // namespace

Command CommandMaker::unheld(const Program& program) {
  for (const auto* operands : {&program.inputs, &program.outputs}) {
    for (const Operand& operand : *operands) require_spec(operand);
  }
  return command_of(program);
}

std::vector<std::shared_ptr<std::byte[]>> CommandMaker::buffers_of(const Program& program) const {
  std::vector<std::shared_ptr<std::byte[]>> buffers;
  buffers.reserve(program.inputs.size() + program.outputs.size());
  for (const auto* operands : {&program.inputs, &program.outputs}) {
    for (const Operand& operand : *operands) buffers.push_back(values(operand.buffer));
  }
  return buffers;
}

Command CommandMaker::recorded(const Program& program) {
  Command command = unheld(program);
  command.buffers = buffers_of(program);
  for (const auto* operands : {&program.inputs, &program.outputs}) {
    for (const Operand& operand : *operands) memory_.mark_recorded(operand.buffer);
  }
  return command;
}

Recording CommandMaker::fused(std::span<const Program> captured, const Recording& apart) {
  Recording result;
  captured_values_ = values_of(captured, apart.commands);
  try {
    fuse_into(result, captured);
  } catch (...) {
    captured_values_.clear();
    for (const BufferId buffer : result.own) memory_.release(buffer);
    throw;
  }
  captured_values_.clear();
  return result;
}

void CommandMaker::fuse_into(Recording& result, std::span<const Program> captured) {
  RenamedTrace trace = with_own_names(captured);
  // Buffers that were released during the capture are no longer counted; their memory goes with the
  // capture.
  std::erase_if(trace.spare, [&](BufferId buffer) { return !memory_.holds(buffer); });
  const std::vector<FusedPrograms> groups = fuse(trace.programs);
  if (!has_fast_bfloat16_products()) widen_factors(trace);
  const auto places = buffers_for(
      trace, groups, [&](BufferId buffer) { return memory_.spec(buffer).host_bytes(); },
      [&](Bytes size) {
        const TensorSpec spec{.shape = {1, ceil_div(size.value(), 4)}, .dtype = DataType::float32};
        return result.own.emplace_back(memory_.allocate(spec));
      });
  for (Program& program : trace.programs) {
    for (auto* operands : {&program.inputs, &program.outputs}) {
      for (Operand& operand : *operands) {
        const auto place = places.find(operand.buffer);
        if (place != places.end()) operand.buffer = place->second;
      }
    }
  }
  for (const FusedPrograms& group : groups) {
    result.commands.push_back(command_of(group, trace));
  }
}

void CommandMaker::require_spec(const Operand& operand) const {
  const TensorSpec& held = memory_.spec(operand.buffer);
  if (held.dtype == operand.spec.dtype && held.layout == operand.spec.layout &&
      held.shape.elements() == operand.spec.shape.elements()) {
    return;
  }
  throw Error(
      {.attempted = "enqueue a program on the host",
       .value = fmt::format("an operand {} in a buffer {}", operand.spec.text(), held.text()),
       .accepted = "the layout, data type and number of elements of the buffer"});
}

const std::shared_ptr<std::byte[]>& CommandMaker::values(BufferId buffer) const {
  const auto captured = captured_values_.find(buffer);
  return captured == captured_values_.end() ? memory_.values(buffer) : captured->second;
}

/// Makes the command of a program whose operands are known to fit their buffers.
Command CommandMaker::command_of(const Program& program) {
  const Operand& first = program.inputs.empty() ? program.outputs[0] : program.inputs[0];
  Command command{.name = program.name,
                  .dtype = name_of(first.spec.dtype),
                  .flops = program.flops,
                  .operands = {},
                  .kernel = {},
                  .buffers = {}};
  inputs_.clear();
  outputs_.clear();
  for (const Operand& input : program.inputs) {
    inputs_.push_back(values(input.buffer).get());
  }
  for (const Operand& output : program.outputs) {
    outputs_.push_back(values(output.buffer).get());
  }
  for (const auto* operands : {&program.inputs, &program.outputs}) {
    for (const Operand& operand : *operands) command.operands += operand.spec.host_bytes();
  }
  const Call call(program, inputs_, outputs_);
  command.kernel = std::visit(
      [&](const auto& attributes) -> Kernel {
        using Kind = std::remove_cvref_t<decltype(attributes)>;
        call.require_places(kInPlace<Kind>);
        if constexpr (!kMixesTypes<Kind>) call.require_one_type();
        if constexpr (std::is_same_v<Kind, MatmulAttributes>) {
          return product_kernel(attributes, program, call);
        } else if constexpr (std::is_same_v<Kind, MinimalMatmulAttributes>) {
          // The two kinds of product differ only in the use of cores.
          return product_kernel({.activation = attributes.activation}, program, call);
        } else if constexpr (std::is_same_v<Kind, SwigluAttributes>) {
          return swiglus_.make_kernel(program, inputs_, outputs_);
        } else if constexpr (!kOnSeveralDevices<Kind>) {
          return make_kernel(attributes, call, context_);
        } else {
          throw Error({.attempted = fmt::format("enqueue {} on the host", program.name),
                       .value = "an op over several devices, or one without values",
                       .accepted = "ops that one device computes"});
        }
      },
      program.attributes.variant());
  return command;
}

Kernel CommandMaker::product_kernel(const MatmulAttributes& attributes, const Program& program,
                                    const Call& call) {
  Kernel product = matmuls_.make_kernel(attributes, call);
  if (!attributes.activation) return product;
  const EltwiseStep& step = *attributes.activation;
  const EltwiseAttributes function{
      .function = step.function, .scalar = {}, .core_grid = {}, .numbers = step.numbers};
  const Program in_place{.name = name_of(step.function),
                         .attributes = function,
                         .inputs = {program.outputs[0]},
                         .outputs = {program.outputs[0]}};
  const Call result(in_place, outputs_, outputs_);
  return [product = std::move(product), activate = make_kernel(function, result, context_)] {
    product();
    activate();
  };
}

Command CommandMaker::command_of(const FusedPrograms& group, const RenamedTrace& trace) {
  const Program& first = trace.programs[group.members[0]];
  const bool alone = group.members.size() == 1;
  if (alone && !can_lead(first)) {
    Command command = command_of(first);
    command.buffers = buffers_of(first);
    return command;
  }
  const Operand& leading = first.inputs.empty() ? first.outputs[0] : first.inputs[0];
  // The number of bytes is left out: the values that members hand to each other are not moved, so
  // the number is not known.
  Command command{.name = alone ? first.name : name_of_fused(first),
                  .dtype = name_of(leading.spec.dtype),
                  .flops = {},
                  .operands = {},
                  .kernel = {},
                  .buffers = {}};
  std::vector<FusedMember> members;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const Program& program = trace.programs[group.members[i]];
    command.flops += program.flops;
    FusedMember member{.program = program,
                       .buffers = {},
                       .kept = group.kept[i],
                       .wide = trace.wide.contains(group.members[i]),
                       .makers = group.makers[i]};
    for (const auto* operands : {&program.inputs, &program.outputs}) {
      for (const Operand& operand : *operands) {
        // A value that stays within the group has no place in memory.
        const bool stays = trace.intermediates.contains(operand.buffer);
        member.buffers.push_back(stays ? nullptr : values(operand.buffer));
      }
    }
    command.buffers.insert(command.buffers.end(), member.buffers.begin(), member.buffers.end());
    members.push_back(std::move(member));
  }
  command.kernel = make_fused_kernel(members, matmuls_, context_);
  return command;
}

}  // namespace howard::host
