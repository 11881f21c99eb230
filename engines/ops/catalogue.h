// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

struct OpCall;

/// A number that an op is told besides its tensors.
struct OpNumber {
  std::string_view name;
  std::optional<double> otherwise;  ///< What it is unless given; absent: it has to be given.
};

/// What an op is: how it is written, what it takes and gives, and its program. Lists of ops,
/// programs as text and the Python module go through the catalogue, so that an op that is added to
/// it is known to all of them.
struct OpEntry {
  std::string name;
  std::string meaning;  ///< Of the first result: "x / (1 + exp(-x))".
  std::size_t tensors = 1;
  std::vector<OpNumber> numbers;
  std::optional<Eltwise>
      function;  ///< Of an elementwise op, which others may follow in its kernel.

  /// The specs of the results. Error when the tensors do not fit.
  std::function<std::vector<TensorSpec>(const OpCall&, std::span<const TensorSpec>)> results;
  /// The program. Error when the tensors or the results do not fit.
  std::function<Program(const OpCall&, std::span<const Tensor>, std::span<const Tensor>)> program;
  /// The tensors beside the first that a list of ops gives it.
  std::function<std::vector<TensorSpec>(const TensorSpec& first)> beside;
};

/// An op with its numbers and what follows it in the same kernel.
struct OpCall {
  const OpEntry* op = nullptr;
  std::vector<double> numbers;  ///< As many as the op has.
  std::vector<EltwiseStep> then;

  std::vector<TensorSpec> results(std::span<const TensorSpec> inputs) const {
    return op->results(*this, inputs);
  }
  /// The program of these inputs and results, whose specs are those of results().
  Program program(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
    return op->program(*this, inputs, outputs);
  }
};

/// All ops that take tensors of one data type, in the order of their names. Products, whose text
/// says more, and what changes a layout are not among them.
std::span<const OpEntry> op_catalogue();

/// The op of that name; null when there is none.
const OpEntry* find_op(std::string_view name);

/// Reads "silu", "clamp:0:6" (its numbers in order), "add+relu" (functions of one value that follow
/// in the same kernel). Absent when the op is none of the catalogue. Error when a number is
/// missing, malformed or too much, or what follows is no elementwise function of one value.
std::optional<OpCall> parse_op_call(std::string_view text);

/// The op's call with numbers by default. Error when one has to be given.
OpCall call_of(const OpEntry& op);

}  // namespace howard::ops
