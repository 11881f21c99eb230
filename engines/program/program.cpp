// SPDX-License-Identifier: Apache-2.0
#include "engines/program/program.h"

#include <utility>

namespace howard {

SpecList specs_of(std::span<const Operand> operands) {
  SpecList specs;
  specs.reserve(operands.size());
  for (const Operand& operand : operands) specs.push_back(operand.spec);
  return specs;
}

Program make_program(const Attributes& attributes, std::vector<Operand> inputs,
                     std::vector<Operand> outputs) {
  const SpecList in = specs_of(inputs), out = specs_of(outputs);
  check(attributes, in, out);
  return {.name = shown_name_of(attributes, in),
          .attributes = attributes,
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .flops = flops_of(attributes, in, out)};
}

Program make_program(const Attributes& attributes, std::vector<Operand> inputs) {
  const SpecList results = results_of(attributes, specs_of(inputs));
  return make_program(attributes, std::move(inputs), {results.begin(), results.end()});
}

}  // namespace howard
