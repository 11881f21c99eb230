// SPDX-License-Identifier: Apache-2.0
#include "engines/device/collective.h"

#include "base/check.h"

namespace howard {

std::optional<Collective> collective_of(const Program& program) {
  const bool gathers = program.name == kAllGather;
  if (!gathers && program.name != kReduceScatter) return std::nullopt;
  HOWARD_CHECK(program.inputs.size() == 2 && program.outputs.size() == 1,
               "a collective has a tensor, a group and a result");
  const auto* const concat = std::get_if<ConcatAttributes>(&program.attributes);
  const auto* const reduce = std::get_if<ReduceAttributes>(&program.attributes);
  HOWARD_CHECK(gathers ? concat != nullptr : reduce != nullptr,
               "an all_gather concatenates, a reduce_scatter reduces");
  const int rows_or_columns = reduce != nullptr && reduce->dimension == Dimension::rows ? 2 : 3;
  const std::int64_t in = program.inputs[0].spec.shape.elements();
  const std::int64_t out = program.outputs[0].spec.shape.elements();
  return Collective{.gathers = gathers,
                    .dimension = gathers ? concat->dimension : rows_or_columns,
                    .devices = static_cast<int>(gathers ? out / in : in / out)};
}

}  // namespace howard
