// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/launch.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

namespace howard::workload {
namespace {

/// Makes whole numbers real ones where their role is to be computed with.
void take_for_real(std::span<const OperandRole> roles, std::vector<Operand>& operands) {
  for (std::size_t i = 0; i < operands.size() && !roles.empty(); ++i) {
    const Takes takes = roles[std::min(i, roles.size() - 1)].takes;
    if (takes == Takes::indices || takes == Takes::one) continue;
    if (!operands[i].spec.is_real()) operands[i].spec.dtype = DataType::float32;
  }
}

}  // namespace

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const Attributes& op : all_ops()) names.emplace_back(name_of(op));
  std::ranges::sort(names);
  return names;
}

std::string_view kept_name(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::lock_guard lock(mutex);
  const auto found = names.find(name);
  return found != names.end() ? *found : *names.emplace(name).first;
}

Program make_launch(std::string_view name, const Attributes& attributes,
                    std::vector<Operand> inputs, std::vector<Operand> outputs) {
  take_for_real(input_roles(attributes), inputs);
  take_for_real(result_roles(attributes), outputs);
  Program program = make_program(attributes, std::move(inputs), std::move(outputs));
  program.name = kept_name(name);
  return program;
}

}  // namespace howard::workload
