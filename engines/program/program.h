// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/program/attributes.h"
#include "engines/program/tensor_spec.h"

namespace howard {

enum class BufferId : std::uint64_t {};

struct Operand {
  BufferId buffer{};
  TensorSpec spec;
};

/// One call of an op: which operands it reads and writes, and what it computes. It is pure data. A
/// WormholeDevice plans and times it, as the one or several launches that ttnn makes of it; a
/// HostDevice computes it.
struct Program {
  std::string_view name;  ///< The name of the op ("matmul"), in static storage.
  Attributes attributes;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;  ///< At least one.
  Flops flops;
  int sub_device = 0;  ///< The sub-device on whose cores it runs.
};

/// Returns the specs of operands, in their order.
SpecList specs_of(std::span<const Operand> operands);

/// Makes the program of a call, with its name and FLOPs. Throws Error, naming the op, the operand
/// and what it takes, when the operands do not fit.
Program make_program(const Attributes& attributes, std::vector<Operand> inputs,
                     std::vector<Operand> outputs);

/// Programs that are enqueued together again and again.
struct ProgramList {
  std::vector<Program> programs;
  /// What the last queue has prepared for these programs, if it prepares anything. Reset this when
  /// a program changes.
  std::shared_ptr<const void> ready;
};

}  // namespace howard
