// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/launch.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

namespace howard::workload {

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
  Program program = make_program(attributes, std::move(inputs), std::move(outputs));
  program.name = kept_name(name);
  return program;
}

}  // namespace howard::workload
