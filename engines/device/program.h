// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/device/attributes.h"
#include "engines/device/tensor_spec.h"

namespace howard {

enum class BufferId : std::uint64_t {};

struct Operand {
  BufferId buffer{};
  TensorSpec spec;
};

/// One call of an op: what is to be computed from what into what. Pure data: a WormholeDevice plans
/// and times it, as the one or several launches that ttnn makes of it; a HostDevice computes it.
/// Made by the functions of engines/ops, which check shapes.
struct Program {
  std::string_view name;  ///< The op, static storage: "matmul".
  Attributes attributes;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;  ///< At least one.
  Flops flops;
  int sub_device = 0;  ///< Whose cores it runs on, where the device is divided.
};

/// Programs that are enqueued together, again and again.
struct ProgramList {
  std::vector<Program> programs;
  /// What the queue that they were last enqueued to has made ready of them, if it does so. To be
  /// reset when a program changes.
  std::shared_ptr<const void> ready;
};

}  // namespace howard
