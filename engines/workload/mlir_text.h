// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/program/tensor_spec.h"

namespace howard::workload {

/// The type of a tensor of the TTNN dialect.
struct MlirTensor {
  TensorSpec spec;
  int rank = 2;          ///< As the module says it; a spec has four dimensions.
  bool on_host = false;  ///< It lies in the system's memory.
};

/// An op in generic form: %r:2 = "ttnn.name"(%a, %b) <{key = value}> : (type, type) -> type.
struct MlirOp {
  std::string name;                   ///< "matmul", without the dialect's.
  std::vector<std::string> results;   ///< "%3", or "%3#0" and "%3#1" of two.
  std::vector<std::string> operands;  ///< Names in the same form.
  std::string properties;             ///< What is between "<{" and "}>".
  std::vector<std::string> operand_types, result_types;

  /// Returns the text of a property; absent if there is none of that name.
  std::optional<std::string_view> property(std::string_view key) const;
  /// Returns the whole numbers of a property, "[1 : i32, -1 : i32]"; none if it is missing.
  std::vector<std::int64_t> numbers(std::string_view key) const;
  bool flag(std::string_view key) const { return property(key) == "true"; }
};

/// Reads the text of a module, which must outlive it.
class MlirText {
 public:
  explicit MlirText(std::string_view text);

  /// Calls `begin` at each function that runs, and `visit` for each of its ops of the dialect.
  /// Throws Error, with the line, for a bracket of an op or a function that is not closed.
  void each_op(const std::function<void()>& begin,
               const std::function<void(const MlirOp&)>& visit) const;
  /// Returns the tensor of a type; absent for another type, and for a tensor without a layout of
  /// the dialect.
  std::optional<MlirTensor> tensor(std::string_view type) const;

 private:
  std::string_view resolved(std::string_view attribute) const;

  std::string_view text_;
  std::map<std::string, std::string_view, std::less<>> aliases_;  ///< "#dram" and so on.
};

}  // namespace howard::workload
