// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <variant>

#include "engines/autograd/steps/buffer_plan.h"

namespace howard::autograd {

/// Follows the recorded programs through the planned places. It fails the test if one of them reads
/// a place that holds another tensor's values, if a result that is not elementwise lands on an
/// operand, or if a tensor that is still held was overwritten at the end.
inline void expect_no_sharing(const StepRecorder& recorder) {
  const BufferPlan plan = plan_buffers(recorder);
  std::map<std::size_t, BufferId> holds;
  for (const auto& [id, buffer] : recorder.buffers()) {
    if (!buffer.values.empty() && plan.place.contains(id)) holds[plan.place.at(id)] = id;
  }
  for (const Program& program : recorder.programs()) {
    for (const Operand& input : program.inputs) {
      if (!plan.place.contains(input.buffer)) continue;
      const std::size_t place = plan.place.at(input.buffer);
      ASSERT_EQ(holds.at(place), input.buffer) << program.name;
      for (const Operand& output : program.outputs) {
        if (output.buffer == input.buffer || !plan.place.contains(output.buffer)) continue;
        if (plan.place.at(output.buffer) != place) continue;
        ASSERT_TRUE(std::holds_alternative<EltwiseAttributes>(program.attributes)) << program.name;
        ASSERT_EQ(output.spec, input.spec) << program.name;
      }
    }
    for (const Operand& output : program.outputs) {
      if (plan.place.contains(output.buffer)) holds[plan.place.at(output.buffer)] = output.buffer;
    }
  }
  for (const auto& [id, buffer] : recorder.buffers()) {
    if (buffer.released || !plan.place.contains(id)) continue;
    ASSERT_EQ(holds.at(plan.place.at(id)), id);
  }
}

}  // namespace howard::autograd
