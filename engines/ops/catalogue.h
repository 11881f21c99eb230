// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/program/program.h"

namespace howard::ops {

struct OpCall;

/// A number that an op takes besides its tensors.
struct OpNumber {
  std::string_view name;
  double otherwise = 0;  ///< Its default.
};

/// Says how an op is written in lists of ops, programs as text and Python, and what it takes and
/// gives there.
struct OpEntry {
  std::string name;
  std::string meaning;  ///< The first result's: "x / (1 + exp(-x))".
  Attributes attributes;
  std::size_t tensors = 1;
  std::vector<OpNumber> numbers;

  /// Puts the numbers of a call into the attributes, if they belong there.
  void (*apply)(const OpCall&, Attributes&) = nullptr;
  /// Returns the specs of the results, where they do not follow from the operands.
  SpecList (*results)(const OpCall&, Specs) = nullptr;
  /// Returns the tensors besides the first that a list of ops gives it; if absent, they are like
  /// the first.
  SpecList (*beside)(const TensorSpec& first) = nullptr;
};

/// A call of an op, with its numbers and what follows it in the same kernel.
struct OpCall {
  const OpEntry* op = nullptr;
  /// The op's, with the numbers and fields that the text gives; a scale that it lacks is NaN.
  Attributes given;
  std::vector<double> numbers;  ///< As many as the op has.
  std::vector<EltwiseStep> then;

  /// Returns the op for operands of these specs: a scale that the text lacks follows from the width
  /// of the heads.
  Attributes attributes(Specs inputs) const;
  /// Returns the tensors besides the first that a list of ops gives it.
  SpecList beside(const TensorSpec& first) const;
  /// Returns the specs of the results. Throws Error when the operands do not fit.
  SpecList results(Specs inputs) const;
  /// Makes the program of these inputs and results, whose specs are those of results().
  Program program(std::vector<Operand> inputs, std::vector<Operand> outputs) const;
};

/// Returns the ops that lists of ops have, in the order of their names. Products, whose text says
/// more, and ops that change a layout are not among them.
std::span<const OpEntry> op_catalogue();

/// Returns the op of that name, or null if there is none.
const OpEntry* find_op(std::string_view name);

/// Parses "silu", "clamp:0:6" (with its numbers in order), "matmul:transpose_a:fidelity=HiFi4"
/// (with fields of the op, of which a flag needs no value) or "add+relu" (functions of one value
/// follow in the same kernel). Ops that lists do not have are known, too. Returns nothing when
/// there is no such op. Throws Error when a number is malformed or too much, when a field is
/// unknown or cannot have that value, and when what follows is no elementwise function of one
/// value.
std::optional<OpCall> parse_op_call(std::string_view text);

/// Makes the program that a text like "matmul:transpose_b 32x64 96x64" stands for: the op, and the
/// shapes of its operands, which have that data type and are in tiles in DRAM. Words after a shape
/// say otherwise: "row_major", a data type, "l1", or shards ("width:8x1:32x512", in L1 unless
/// "dram" is said). Results follow "->", or are further shapes, where they do not follow from the
/// operands. Words like "config=dram_sharded:per_core=1x4:in0_block_w=2" are further fields. Its
/// operands have no memory. Throws Error when the text is not understood or the operands do not
/// fit.
Program parse_program(std::string_view text, DataType dtype);

}  // namespace howard::ops
