// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace howard {

/// Says what an elementwise op computes from its values x, y and z. The catalogue below describes
/// each function, in the same order.
enum class Eltwise : std::uint8_t {
  // These take two values.
  add,
  subtract,
  multiply,
  divide,
  rsub,
  squared_difference,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
  maximum,
  minimum,
  pow,
  remainder,
  fmod,
  hypot,
  xlogy,
  atan2,
  ldexp,
  logaddexp,
  logaddexp2,
  bias_gelu,
  addalpha,
  subalpha,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  bitwise_left_shift,
  bitwise_right_shift,
  logical_left_shift,
  logical_right_shift,
  gcd,
  lcm,
  div_no_nan,
  floor_div,
  trunc_div,
  nextafter,
  prelu,
  silu_backward,
  // These take one value, on the matrix unit or by short code of the vector unit.
  relu,
  gtz,
  square,
  cast,
  identity,
  abs,
  neg,
  sign,
  signbit,
  eqz,
  nez,
  ltz,
  lez,
  gez,
  logical_not,
  isfinite,
  isinf,
  isnan,
  isposinf,
  isneginf,
  ceil,
  floor,
  trunc,
  round,
  frac,
  rad2deg,
  deg2rad,
  relu6,
  relu_max,
  relu_min,
  leaky_relu,
  clamp,
  threshold,
  hardtanh,
  hardshrink,
  softshrink,
  hardsigmoid,
  hardswish,
  hardmish,
  softsign,
  heaviside,
  bitwise_not,
  rdiv,
  // These take one value, by longer code of the vector unit.
  exp,
  erf,
  gelu,
  sqrt,
  rsqrt,
  reciprocal,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  log_sigmoid,
  sigmoid,
  silu,
  mish,
  tanh,
  tanhshrink,
  softplus,
  elu,
  celu,
  selu,
  erfc,
  logit,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  cbrt,
  gelu_approx,
  erfinv,
  i0,
  i1,
  digamma,
  lgamma,
  polygamma,
  multigammaln,
  power,
  rpow,
  // These take three values.
  where,
  addcmul,
  addcdiv,
  lerp,
  // This one takes none.
  fill,
};

/// The number of functions.
inline constexpr std::size_t kEltwiseFunctions = static_cast<std::size_t>(Eltwise::fill) + 1;

/// The largest number of further numbers that a function takes.
inline constexpr std::size_t kMostEltwiseNumbers = 2;

/// Describes a function.
struct EltwiseEntry {
  Eltwise function{};
  std::string_view name;     ///< As Howard writes it in programs, lists of ops and Python: "silu".
  std::string_view ttnn;     ///< In ttnn's UnaryOpType, BinaryOpType or TernaryOpType: "SILU".
  std::string_view meaning;  ///< "x / (1 + exp(-x))".
  int values = 1;            ///< How many tensors, or tensors and scalars, it takes: 0 to 3.
  int numbers = 0;           ///< How many further numbers it takes.
  bool takes_whole = false;  ///< It has a meaning for whole numbers. A quotient of them is a real.
  std::array<float, kMostEltwiseNumbers> defaults{};  ///< ttnn's defaults of those numbers.
  /// Names the time that it takes for a tile: the profile's constant tiles.COST.
  std::string_view cost;
  /// Names the function that it is timed as where its own time was never measured; else empty.
  std::string_view nearest;
};

/// Returns all functions, in the order of Eltwise.
std::span<const EltwiseEntry> eltwise_catalogue();

/// Returns the entry of `function`.
const EltwiseEntry& entry_of(Eltwise function);

/// Returns the function of that name, or nothing if there is none.
std::optional<Eltwise> find_eltwise(std::string_view name);

/// Returns the function of `values` values that ttnn's enumerator names, or nothing if there is
/// none.
std::optional<Eltwise> find_eltwise_by_ttnn(std::string_view enumerator, int values);

/// Returns "add", "subtract", "relu" and so on.
std::string_view name_of(Eltwise function);
/// Returns how many values it takes: 0 (fill) to 3 (where).
int arity_of(Eltwise function);

/// A function of one value, with its numbers.
struct EltwiseStep {
  Eltwise function{};
  std::array<float, kMostEltwiseNumbers> numbers{};

  friend constexpr auto operator<=>(const EltwiseStep&, const EltwiseStep&) = default;
};

/// Returns `function`, with its default numbers, as a step that follows another op.
inline EltwiseStep step_of(Eltwise function) { return {function, entry_of(function).defaults}; }

}  // namespace howard
