// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/elementwise/fused_kernel.h"

#include <optional>
#include <variant>

#include "base/check.h"
#include "engines/host/kernels/elementwise/element_pass.h"
#include "engines/host/trace_fusion.h"

namespace howard::host {
namespace {

using Kind = ElementOperand::Kind;

ElementFunction function_of(const Program& program) {
  const auto* eltwise = std::get_if<EltwiseAttributes>(&program.attributes);
  if (eltwise == nullptr) return ElementFunction::gelu_backward;
  switch (eltwise->function) {
    case Eltwise::add:
      return ElementFunction::add;
    case Eltwise::subtract:
      return ElementFunction::subtract;
    case Eltwise::multiply:
      return ElementFunction::multiply;
    case Eltwise::relu:
      return ElementFunction::relu;
    case Eltwise::gtz:
      return ElementFunction::gtz;
    case Eltwise::square:
      return ElementFunction::square;
    case Eltwise::gelu:
      return ElementFunction::gelu;
    default:
      break;
  }
  HOWARD_CHECK(eltwise->function == Eltwise::cast, "a function that is_elementwise() accepts");
  return ElementFunction::copy;
}

/// Says how the steps receive the product that they begin with.
struct GivenProduct {
  DataType type = DataType::float32;
  bool rounds = false;  ///< True if the product is float32 and the steps round it.
};

/// Says how the product is given. If only one step reads it, that step can round it, which saves a
/// pass over it.
GivenProduct given_product(std::span<const FusedMember> members) {
  const Program& product = members[0].program;
  const DataType result = product.outputs[0].spec.dtype;
  const DataType given = MatmulKernels::type_for_pass(product);
  std::size_t first_operands = 0;
  std::size_t others = 0;
  for (const FusedMember& member : members.subspan(1)) {
    for (std::size_t i = 0; i < member.makers.size(); ++i) {
      if (member.makers[i] == std::size_t{0}) ++(i == 0 ? first_operands : others);
    }
  }
  const bool once = first_operands == 1 && others == 0;
  return {given, given != result && !members[0].kept && once};
}

/// Collects the steps of the elementwise members in order.
class Steps {
 public:
  void add(const FusedMember& member) {
    const Program& program = member.program;
    ElementStep step{.function = function_of(program), .x = {}, .y = {}, .result = {}};
    step.x = operand(member, 0);
    const auto* eltwise = std::get_if<EltwiseAttributes>(&program.attributes);
    if (program.inputs.size() == 2) {
      step.y = operand(member, 1);
    } else if (eltwise != nullptr && eltwise->scalar) {
      step.y.kind = Kind::scalar;
      step.y.scalar = *eltwise->scalar;
    }
    step.result = program.outputs[0].spec.dtype;
    if (member.kept) step.stored = member.buffers.back().get();
    step.wide = member.wide;
    steps_.push_back(step);
    step_of_.emplace_back(steps_.size() - 1);
  }

  void add_sum(const FusedMember& member) {
    const Program& program = member.program;
    const Operand& summed = program.inputs[0];
    const bool mean = std::get<ReduceAttributes>(program.attributes).reduction == Reduction::mean;
    const auto elements = static_cast<float>(summed.spec.shape.elements());
    sum_ = {.step = *step_of_[*member.makers[0]],
            .divisor = mean ? elements : 1.0F,
            .result = program.outputs[0].spec.dtype,
            .stored = member.buffers.back().get()};
    step_of_.emplace_back();
  }

  void add_product(const GivenProduct& product) {
    step_of_.emplace_back();
    product_ = product;
  }

  /// Returns null if there are no steps.
  std::shared_ptr<ElementPass> pass(const Shape& shape) {
    if (steps_.empty()) return nullptr;
    return std::make_shared<ElementPass>(steps_, shape.elements(), shape.columns(), sum_);
  }

 private:
  ElementOperand operand(const FusedMember& member, std::size_t index) const {
    const Operand& given = member.program.inputs[index];
    ElementOperand result;
    const std::optional<std::size_t> maker = member.makers[index];
    if (maker && step_of_[*maker]) {
      result.kind = Kind::step;
      result.step = *step_of_[*maker];
      return result;
    }
    if (maker) {
      result.kind = Kind::product;
      result.dtype = product_.type;
      result.rounds = product_.rounds;
      return result;
    }
    const bool whole = given.spec.shape == member.program.outputs[0].spec.shape;
    result.kind = whole ? Kind::tensor : Kind::row;
    result.dtype = given.spec.dtype;
    result.values = member.buffers[index].get();
    return result;
  }

  std::vector<ElementStep> steps_;
  std::vector<std::optional<std::size_t>> step_of_;  ///< For each member; a product has no step.
  std::optional<ElementSum> sum_;
  GivenProduct product_;
};

}  // namespace

Kernel make_fused_kernel(std::span<const FusedMember> members, MatmulKernels& matmuls,
                         const KernelContext& context) {
  const FusedMember& first = members[0];
  const auto* product = std::get_if<MatmulAttributes>(&first.program.attributes);
  Steps steps;
  GivenProduct given;
  if (product != nullptr) given = given_product(members);
  if (product != nullptr) {
    steps.add_product(given);
  }
  for (const FusedMember& member : members.subspan(product == nullptr ? 0 : 1)) {
    is_whole_sum(member.program) ? steps.add_sum(member) : steps.add(member);
  }
  const auto pass = steps.pass(first.program.outputs[0].spec.shape);
  if (product == nullptr) return [pass, &pool = context.pool] { pass->run(pool); };
  std::vector<std::byte*> addresses;
  for (const auto& buffer : first.buffers) addresses.push_back(buffer.get());
  const auto all = std::span<std::byte* const>(addresses);
  const std::size_t inputs = first.program.inputs.size();
  const Call call(first.program, all.first(inputs), all.subspan(inputs));
  return matmuls.make_kernel(*product, call, {pass, !given.rounds},
                             {.stored = first.kept, .wide = first.wide});
}

std::string_view name_of_fused(const Program& first) {
  return std::holds_alternative<MatmulAttributes>(first.attributes) ? "fused_matmul"
                                                                    : "fused_eltwise";
}

}  // namespace howard::host
