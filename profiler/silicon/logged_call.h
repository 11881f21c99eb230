// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/ops/tensor.h"
#include "engines/program/program.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/silicon/op_attributes.h"

namespace howard::profiler::logged {

/// Throws the Error that tells of a call that the emulator cannot run.
[[noreturn]] void refuse(std::string value, std::string accepted);

/// A dimension of a tensor as it lies in memory and as it was asked for.
struct Side {
  std::int64_t padded = 1, logical = 1;
};

/// Reads "32[19]", padded and logical, or "32", of version 1, which is both. The result is absent
/// for anything else.
std::optional<Side> parse_side(std::string_view cell);

/// Returns what stands behind the "::" of an enumerator: "BinaryOpType::ADD", or
/// "op_type=...::ERF;".
std::string_view enumerator(std::string_view text);

/// Holds a row, taken apart.
class Call {
 public:
  /// Throws Error when a cell is malformed, or there is no output.
  Call(const OpRow& row, Device& device);

  std::string_view code;
  OpAttributes attributes;
  std::string_view fidelity;

  std::size_t inputs() const { return inputs_.size(); }
  /// Throws Error when the row has fewer.
  const TensorSpec& in(std::size_t i) const;
  const TensorSpec& out() const { return outputs_.front(); }

  ops::Tensor make(const TensorSpec& spec) const { return {device_, spec}; }
  ops::Tensor input(std::size_t i) const { return make(in(i)); }
  ops::Tensor output() const { return make(out()); }

 private:
  Device& device_;
  std::vector<TensorSpec> inputs_, outputs_;
};

/// Returns the functions of one value that ttnn prints as a chain, one after the other:
/// "BasicUnaryWithParam<float>(op_type=UnaryOpType::CLAMP_TSS;param={0;6})". The result is empty
/// where there is none. Throws Error for a function that the emulator does not have, and for a
/// fast, less exact variant.
std::vector<EltwiseStep> chain_of(std::string_view text);
/// Returns the one function that attribute `name` has; absent if there is none. Throws Error as for
/// a chain, or for several functions.
std::optional<EltwiseStep> activation_of(const Call& call, const char* name);

// These are the elementwise ops, by ttnn's names of their functions. Each throws Error when the
// emulator cannot run it.
Program binary(const Call& call);
Program unary(const Call& call);
Program ternary(const Call& call);
Program silu_backward(const Call& call);
Program cast(const Call& call);

}  // namespace howard::profiler::logged
