// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace howard {

/// What an elementwise op computes of its values x, y and z. The catalogue below says what each one
/// is, in the same order.
enum class Eltwise : std::uint8_t {
  // Of two values.
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
  silu_backward,
  // Of one value, on the matrix unit or by short code of the vector unit.
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
  rdiv,
  // Of one value, by longer code of the vector unit.
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
  erfinv,
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
  i0,
  i1,
  power,
  rpow,
  // Of three values.
  where,
  addcmul,
  addcdiv,
  lerp,
  // Of none.
  fill,
};

/// How many functions there are.
inline constexpr std::size_t kEltwiseFunctions = static_cast<std::size_t>(Eltwise::fill) + 1;

/// How many numbers besides its values a function may be told.
inline constexpr std::size_t kMostEltwiseNumbers = 2;

/// What a function is.
struct EltwiseEntry {
  Eltwise function{};
  std::string_view name;     ///< As Howard writes it in programs, lists of ops and Python: "silu".
  std::string_view ttnn;     ///< Of ttnn's UnaryOpType, BinaryOpType or TernaryOpType: "SILU".
  std::string_view meaning;  ///< "x / (1 + exp(-x))".
  int values = 1;            ///< How many tensors, or tensors and scalars, it takes: 0 to 3.
  int numbers = 0;           ///< How many numbers it is told besides.
  std::array<float, kMostEltwiseNumbers> defaults{};  ///< Of those numbers, ttnn's.
  /// Which time of a tile it takes: the profile's constant tiles.COST.
  std::string_view cost;
};

/// All functions, in the order of Eltwise.
std::span<const EltwiseEntry> eltwise_catalogue();

/// The entry of `function`.
const EltwiseEntry& entry_of(Eltwise function);

/// The function of that name; absent when there is none.
std::optional<Eltwise> find_eltwise(std::string_view name);

/// The function of `values` values that ttnn's enumerator names; absent when there is none.
std::optional<Eltwise> find_eltwise_by_ttnn(std::string_view enumerator, int values);

/// "add", "subtract", "relu", ...
std::string_view name_of(Eltwise function);
/// How many values it takes: 0 (fill) to 3 (where).
int arity_of(Eltwise function);

}  // namespace howard
