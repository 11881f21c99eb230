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

/// A number that an op takes besides its tensors.
struct OpNumber {
  std::string_view name;
  std::optional<double> otherwise;  ///< Its default; if absent, it has to be given.
};

/// Says what an op is: how it is written, what it takes and gives, and its program. Lists of ops,
/// programs as text and the Python module go through the catalogue, so an op that is added to it is
/// known to all of them.
struct OpEntry {
  std::string name;
  std::string meaning;  ///< The first result's: "x / (1 + exp(-x))".
  std::size_t tensors = 1;
  std::vector<OpNumber> numbers;
  std::optional<Eltwise> function;  ///< For an elementwise op; others may follow in its kernel.

  /// Returns the specs of the results. Throws Error when the tensors do not fit.
  std::function<std::vector<TensorSpec>(const OpCall&, std::span<const TensorSpec>)> results;
  /// Makes the program. Throws Error when the tensors or the results do not fit.
  std::function<Program(const OpCall&, std::span<const Tensor>, std::span<const Tensor>)> program;
  /// Returns the tensors besides the first that a list of ops gives it.
  std::function<std::vector<TensorSpec>(const TensorSpec& first)> beside;
};

/// A call of an op, with its numbers and what follows it in the same kernel.
struct OpCall {
  const OpEntry* op = nullptr;
  std::vector<double> numbers;  ///< As many as the op has.
  std::vector<EltwiseStep> then;

  std::vector<TensorSpec> results(std::span<const TensorSpec> inputs) const {
    return op->results(*this, inputs);
  }
  /// Makes the program of these inputs and results, whose specs are those of results().
  Program program(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
    return op->program(*this, inputs, outputs);
  }
};

/// Returns all ops that take tensors of one data type, in the order of their names. Products, whose
/// text says more, and ops that change a layout are not among them.
std::span<const OpEntry> op_catalogue();

/// Returns the op of that name, or null if there is none.
const OpEntry* find_op(std::string_view name);

/// Parses "silu", "clamp:0:6" (with its numbers in order) or "add+relu" (functions of one value
/// follow in the same kernel). Returns nothing when the op is not in the catalogue. Throws Error
/// when a number is missing, malformed or too much, or when what follows is no elementwise function
/// of one value.
std::optional<OpCall> parse_op_call(std::string_view text);

}  // namespace howard::ops
