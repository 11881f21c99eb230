// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engines/program/compute_config.h"
#include "engines/program/eltwise.h"
#include "engines/program/operands.h"

namespace howard {

/// Computes out = function(x, y, z) for each element, with as many values as the function takes.
/// Tensors broadcast as in ttnn: a dimension of one fits any other.
struct EltwiseAttributes {
  static constexpr std::array kInputs{role::maybe(role::any("x")), role::maybe(role::any("y")),
                                      role::maybe(role::any("z"))};
  static constexpr std::array kResults{role::any("result")};
  static constexpr Leeway kLeeway{.dtype = true};

  Eltwise function{};
  std::optional<float> scalar;        ///< The last value, where it is no tensor; what fill writes.
  std::optional<CoreGrid> core_grid;  ///< ttnn's sub_core_grids: the cores to use.
  /// The numbers that the function takes besides.
  std::array<float, kMostEltwiseNumbers> numbers{};
  /// These functions of one value follow in the same kernel, each applied to the result of the one
  /// before. They are ttnn's unary chain, or the fused activations of a binary op.
  std::vector<EltwiseStep> then{};
  /// The first or the second tensor goes through these functions of one value first, one after the
  /// other: ttnn's input_tensor_a_activations and input_tensor_b_activations.
  std::vector<EltwiseStep> on_a{}, on_b{};
  /// ttnn's kernels of 2024 and before compute it, which have programs of their own for operands of
  /// one row or one column (tt-metal, ttnn/cpp/ttnn/operations/data_movement/bcast).
  bool older = false;

  /// Says whether the function is all that is computed.
  bool is_plain() const { return then.empty() && on_a.empty() && on_b.empty(); }

  /// Says whether it is computed in whole numbers: its values and numbers are, and all functions
  /// have a meaning for them.
  bool is_whole(Specs in) const;
  /// Returns the data type of the numbers that the function gives, before they become the result's.
  DataType type_of(Specs in) const;

  /// There is an op for each function, with its default numbers.
  static std::vector<EltwiseAttributes> all();
  std::string_view name() const { return name_of(function); }
  std::string_view ttnn() const;

  static void fields(auto& self, auto&& visit) {
    visit("scalar", self.scalar);
    visit({"core_grid", "sub_core_grids"}, self.core_grid);
    visit({"numbers", ""}, self.numbers);
    visit({"then", "post_activations|activations"}, self.then);
    visit({"on_a", "lhs_activations|input_tensor_a_activation"}, self.on_a);
    visit({"on_b", "rhs_activations|input_tensor_b_activation"}, self.on_b);
    visit({"older", ""}, self.older);
  }
  /// The result of fill is any tensor. Throws Error for whole numbers where the function does not
  /// take them.
  SpecList results(Specs in) const;
  /// Throws Error unless the tensors are as many as the function takes.
  void require_values(std::size_t tensors) const;

  friend auto operator<=>(const EltwiseAttributes&, const EltwiseAttributes&) = default;
};

/// Returns the function with its default numbers; the scalar, if any, is its last value.
EltwiseAttributes eltwise_of(Eltwise function, std::optional<float> scalar = {});

/// Computes dx from x and dy, for the exact gelu.
struct GeluBackwardAttributes {
  static constexpr std::string_view kName = "gelu_backward";
  static constexpr std::string_view kTtnn = "GeluBackwardDeviceOperation";
  static constexpr std::array kInputs{role::reals("x"), role::reals("dy")};
  static constexpr std::array kResults{role::reals("dx")};
  static constexpr Leeway kLeeway{.dtype = true};

  /// If true, TTML's single program is used; otherwise ttnn's composite of eleven programs.
  bool fused = false;

  static void fields(auto& self, auto&& visit) { visit({"fused", ""}, self.fused); }
  SpecList results(Specs in) const;

  friend auto operator<=>(const GeluBackwardAttributes&, const GeluBackwardAttributes&) = default;
};

/// Computes the gradients of gate and up from gate, up and dy, where y = silu(gate) up element by
/// element. This is TTML's swiglu_elemwise_bw.
struct SwigluBackwardAttributes {
  static constexpr std::string_view kName = "swiglu_backward";
  static constexpr std::string_view kTtnn = "SwiGLUElemwiseBwDeviceOperation";
  static constexpr std::array kInputs{role::reals("gate"), role::reals("up"), role::reals("dy")};
  static constexpr std::array kResults{role::reals("dgate"), role::reals("dup")};

  SpecList results(Specs in) const;

  friend auto operator<=>(const SwigluBackwardAttributes&,
                          const SwigluBackwardAttributes&) = default;
};

}  // namespace howard
