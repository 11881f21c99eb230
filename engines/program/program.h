// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "engines/program/attributes.h"
#include "engines/program/tensor_spec.h"

namespace howard {

enum class BufferId : std::uint64_t {};

/// An operand or a result of a call. One that is a spec alone has no memory: its program can be
/// checked, planned and timed, but not run.
struct Operand {
  Operand() = default;
  Operand(TensorSpec of) : spec(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  Operand(BufferId in, TensorSpec of) : buffer(in), spec(std::move(of)) {}

  BufferId buffer{};
  TensorSpec spec;
};

/// One call of an op: which operands it reads and writes, and what it computes. It is pure data. An
/// EmulatedChip plans and times it, as the one or several launches that ttnn makes of it; a
/// HostDevice computes it.
struct Program {
  std::string_view name;  ///< What timelines and tables call it. What it is, its attributes say.
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
/// Makes it with the results that follow from the operands, which have no memory.
Program make_program(const Attributes& attributes, std::vector<Operand> inputs);

/// Programs that are enqueued together again and again.
struct ProgramList {
  std::vector<Program> programs;
  /// What the last queue has prepared for these programs, if it prepares anything. Reset this when
  /// a program changes.
  std::shared_ptr<const void> ready;
};

}  // namespace howard
