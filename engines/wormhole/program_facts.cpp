// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/program_facts.h"

#include <array>

namespace howard::wormhole {
namespace {

/// ttnn's device operations as its profiler logs name them, in the order of Attributes.
constexpr std::array<std::string_view, 20> kOperations{"Matmul",
                                                       "BinaryNgDeviceOperation",
                                                       "Reduce",
                                                       "TransposeDeviceOperation",
                                                       "ReshapeDeviceOperation",
                                                       "TilizeDeviceOperation",
                                                       "ConcatDeviceOperation",
                                                       "NlpCreateHeadsDeviceOperation",
                                                       "NLPConcatHeadsDeviceOperation",
                                                       "SoftmaxDeviceOperation",
                                                       "MorehSoftmaxBackwardOperation",
                                                       "LayerNormDeviceOperation",
                                                       "LayerNormBackwardDeviceOperation",
                                                       "GeluBackwardDeviceOperation",
                                                       "EmbeddingsDeviceOperation",
                                                       "EmbeddingBackwardDeviceOperation",
                                                       "CrossEntropyForwardDeviceOperation",
                                                       "CrossEntropyBackwardDeviceOperation",
                                                       "DropoutDeviceOperation",
                                                       "MorehAdamWDeviceOperation"};
static_assert(kOperations.size() == std::variant_size_v<Attributes>);

std::string_view operation_of(const Program& program) {
  const auto* const eltwise = std::get_if<EltwiseAttributes>(&program.attributes);
  if (eltwise != nullptr && arity_of(eltwise->function) < 2) return "UnaryDeviceOperation";
  const bool untilizes = std::holds_alternative<LayoutAttributes>(program.attributes) &&
                         program.outputs[0].spec.layout == Layout::row_major;
  return untilizes ? "UntilizeDeviceOperation" : kOperations.at(program.attributes.index());
}

TensorFacts facts_of(const TensorSpec& spec) {
  return {.dimensions = spec.shape.dimensions(), .dtype = name_of(spec.dtype)};
}

}  // namespace

ProgramFacts facts_of(const Program& program, const PlannedProgram& planned) {
  ProgramFacts facts{.operation = operation_of(program),
                     .flops = program.flops,
                     .dram = planned.kernel.dram,
                     .limited_by = name_of(planned.kernel.bottleneck)};
  for (const Operand& output : program.outputs) facts.outputs.push_back(facts_of(output.spec));
  for (const Operand& input : program.inputs) facts.inputs.push_back(facts_of(input.spec));
  if (planned.matmul) {
    facts.fidelity = name_of(planned.matmul->fidelity);
    facts.attributes = planned.matmul->text();
  }
  return facts;
}

}  // namespace howard::wormhole
