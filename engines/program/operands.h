// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engines/program/tensor_spec.h"

namespace howard {

using Specs = std::span<const TensorSpec>;
using SpecList = std::vector<TensorSpec>;

/// Says what a tensor must be to stand at a place among the operands or the results of an op.
enum class Takes : std::uint8_t {
  reals,  ///< Any data type that is not whole, in either layout.
  tiles,  ///< The same in tile layout.
  rows,   ///< The same row-major.
  any,    ///< Any data type, in either layout.
  any_in_tiles,
  any_in_rows,
  tokens,   ///< uint32.
  indices,  ///< uint32, int32 or uint16.
  one,      ///< One uint32 or int32: a place, an offset, or the handle of a device or of a group.
};

/// Returns "real numbers", "numbers in tiles", "uint32" and so on.
std::string_view text_of(Takes takes);

/// Says whether the whole numbers that it takes are places of values (indices, tokens, a handle).
constexpr bool are_places(Takes takes) { return takes >= Takes::tokens; }

/// A place among the operands or the results of an op.
struct OperandRole {
  std::string_view name;
  Takes takes = Takes::reals;
  bool is_optional = false;  ///< It may be left out, with all that follow.
  bool repeats = false;      ///< Any number of tensors may follow in the same role.
};

namespace role {
constexpr OperandRole reals(std::string_view name) { return {name}; }
constexpr OperandRole tiles(std::string_view name) { return {name, Takes::tiles}; }
constexpr OperandRole rows(std::string_view name) { return {name, Takes::rows}; }
constexpr OperandRole any(std::string_view name) { return {name, Takes::any}; }
constexpr OperandRole any_in_tiles(std::string_view name) { return {name, Takes::any_in_tiles}; }
constexpr OperandRole any_in_rows(std::string_view name) { return {name, Takes::any_in_rows}; }
constexpr OperandRole tokens(std::string_view name) { return {name, Takes::tokens}; }
constexpr OperandRole indices(std::string_view name) { return {name, Takes::indices}; }
constexpr OperandRole one(std::string_view name) { return {name, Takes::one}; }
constexpr OperandRole maybe(OperandRole role) {
  role.is_optional = true;
  return role;
}
constexpr OperandRole many(OperandRole role) {
  role.repeats = true;
  return role;
}
}  // namespace role

/// The limits of a whole number among the fields of an op.
struct Whole {
  std::int64_t least = 0, most = 0;
};

/// A struct that ttnn's logs print as one of an op's attributes, and that has fields of the op.
struct TtnnStruct {
  std::string_view attribute, type;
};

/// Says what a field of an op is called.
struct FieldName {
  constexpr FieldName(const char* name)  // NOLINT(google-explicit-constructor)
      : FieldName(name, name) {}
  constexpr FieldName(std::string_view name, std::string_view in_logs, TtnnStruct of = {})
      : own(name), ttnn(in_logs.substr(0, in_logs.find('='))), in(of) {
    if (ttnn.size() < in_logs.size()) words = in_logs.substr(ttnn.size() + 1);
  }

  /// Returns the word that ttnn has for one of the field's values.
  constexpr std::string_view word(std::size_t value) const {
    std::string_view rest = words;
    for (; value > 0; --value) rest.remove_prefix(rest.find('/') + 1);
    return rest.substr(0, rest.find('/'));
  }

  std::string_view own;
  /// Its name in the logs of ttnn's profiler; "" where they do not tell it. Behind "|" are its
  /// names in other versions, behind "," those of further numbers of it.
  std::string_view ttnn;
  std::string_view words;  ///< Behind "=": those of its values, in their order: "nearest/bilinear".
  TtnnStruct in;           ///< The struct of which it is a member in the logs, if it is.
  bool needed = false;     ///< Without it a log's call is not known.
};
constexpr FieldName needed(FieldName name) {
  name.needed = true;
  return name;
}

/// Fields that many ops have.
namespace field {
inline constexpr TtnnStruct kCompute{"compute_kernel_config", "WormholeComputeKernelConfig"};
inline constexpr FieldName kFidelity{"fidelity", "math_fidelity", kCompute},
    kFp32{"fp32_accumulation", "fp32_dest_acc_en", kCompute},
    kPacker{"packer_accumulates", "packer_l1_acc", kCompute}, kEpsilon{"epsilon", "eps"};
}  // namespace field

/// An argument that tells an op from others of one operation of ttnn.
struct TtnnWord {
  std::string_view name, value;
  bool is_default = true;  ///< The op is meant where a log has no such argument.
};
inline constexpr TtnnWord kLastDimension{"dim", "3"};

/// Every side of a tensor or of a block is at most this large.
inline constexpr Whole kSides{0, std::int64_t{1} << 40};
inline constexpr Whole kBlockSides{1, std::int64_t{1} << 20};

/// Throws Error saying that `op` cannot be computed from tensors of these specs. `accepted` says
/// what it takes.
[[noreturn]] void refuse_operands(std::string_view op, Specs specs, std::string_view accepted);
[[noreturn]] void refuse_operands(std::string_view op, std::initializer_list<TensorSpec> specs,
                                  std::string_view accepted);

/// Throws Error unless the tensors are as many as the roles, and each is what its role takes.
/// `are` is "operand" or "result".
void require_roles(std::string_view op, std::string_view are, std::span<const OperandRole> roles,
                   Specs specs);

/// Says how a result may differ from the one that follows from the operands.
struct Leeway {
  bool dtype = false;   ///< The kernel writes any data type that the role takes.
  bool layout = false;  ///< The kernel writes tiles or rows.
  bool batch = false;   ///< The first two dimensions may be folded into each other.
};

/// Throws Error unless the tensors `out` can hold the results of `op`.
void require_results(std::string_view op, std::span<const OperandRole> roles, Specs expected,
                     Specs out, Leeway leeway);

}  // namespace howard
