// SPDX-License-Identifier: Apache-2.0
#include "engines/program/eltwise.h"

#include <algorithm>

namespace howard {
namespace {

using E = Eltwise;

/// Makes the entry of a function whose time is its own: the constant has the function's name.
constexpr EltwiseEntry entry(E function, std::string_view name, std::string_view ttnn, int values,
                             std::string_view meaning) {
  return {.function = function,
          .name = name,
          .ttnn = ttnn,
          .meaning = meaning,
          .values = values,
          .cost = name};
}

/// Makes the entry of a function that takes as long as others do.
constexpr EltwiseEntry as_long_as(std::string_view cost, EltwiseEntry entry) {
  entry.cost = cost;
  return entry;
}

/// Makes the entry of a function whose time was never measured.
constexpr EltwiseEntry timed_as(std::string_view nearest, std::string_view cost,
                                EltwiseEntry entry) {
  entry.nearest = nearest;
  entry.cost = cost;
  return entry;
}
constexpr EltwiseEntry timed_as(std::string_view nearest, EltwiseEntry entry) {
  return timed_as(nearest, nearest, entry);
}

/// Makes the entry of a function with numbers.
constexpr EltwiseEntry told(EltwiseEntry entry, float first) {
  entry.numbers = 1;
  entry.defaults[0] = first;
  return entry;
}
constexpr EltwiseEntry told(EltwiseEntry entry, float first, float second) {
  entry.numbers = 2;
  entry.defaults = {first, second};
  return entry;
}

/// Makes the entry of a function that has a meaning for whole numbers too.
constexpr EltwiseEntry of_whole(EltwiseEntry entry) {
  entry.takes_whole = true;
  return entry;
}

constexpr std::array<EltwiseEntry, kEltwiseFunctions> kCatalogue{
    of_whole(as_long_as("fpu", entry(E::add, "add", "ADD", 2, "x + y"))),
    of_whole(as_long_as("fpu", entry(E::subtract, "subtract", "SUB", 2, "x - y"))),
    of_whole(as_long_as("fpu", entry(E::multiply, "multiply", "MUL", 2, "x y"))),
    of_whole(entry(E::divide, "divide", "DIV", 2, "x / y")),
    of_whole(as_long_as("fpu", entry(E::rsub, "rsub", "RSUB", 2, "y - x"))),
    of_whole(
        entry(E::squared_difference, "squared_difference", "SQUARED_DIFFERENCE", 2, "(x - y)^2")),
    of_whole(entry(E::eq, "eq", "EQ", 2, "1 where x = y, else 0")),
    of_whole(entry(E::ne, "ne", "NE", 2, "1 where x differs from y, else 0")),
    of_whole(entry(E::lt, "lt", "LT", 2, "1 where x < y, else 0")),
    of_whole(entry(E::le, "le", "LE", 2, "1 where x <= y, else 0")),
    of_whole(entry(E::gt, "gt", "GT", 2, "1 where x > y, else 0")),
    of_whole(entry(E::ge, "ge", "GE", 2, "1 where x >= y, else 0")),
    of_whole(
        entry(E::logical_and, "logical_and", "LOGICAL_AND", 2, "1 where neither is 0, else 0")),
    of_whole(entry(E::logical_or, "logical_or", "LOGICAL_OR", 2,
                   "1 where one of them is not 0, else 0")),
    of_whole(entry(E::logical_xor, "logical_xor", "LOGICAL_XOR", 2,
                   "1 where exactly one of them is not 0, else 0")),
    of_whole(entry(E::maximum, "maximum", "MAXIMUM", 2, "the larger of x and y")),
    of_whole(entry(E::minimum, "minimum", "MINIMUM", 2, "the smaller of x and y")),
    of_whole(entry(E::pow, "pow", "POWER", 2, "x to the power of y")),
    of_whole(entry(E::remainder, "remainder", "REMAINDER", 2, "x - y floor(x / y)")),
    of_whole(entry(E::fmod, "fmod", "FMOD", 2, "x - y trunc(x / y)")),
    entry(E::hypot, "hypot", "HYPOT", 2, "sqrt(x^2 + y^2)"),
    entry(E::xlogy, "xlogy", "XLOGY", 2, "x log(y)"),
    entry(E::atan2, "atan2", "ATAN2", 2, "the angle of the point (y, x): atan2(x, y)"),
    entry(E::ldexp, "ldexp", "LDEXP", 2, "x 2^y"),
    entry(E::logaddexp, "logaddexp", "LOGADDEXP", 2, "log(exp(x) + exp(y))"),
    entry(E::logaddexp2, "logaddexp2", "LOGADDEXP2", 2, "log2(2^x + 2^y)"),
    entry(E::bias_gelu, "bias_gelu", "BIAS_GELU", 2, "gelu(x + y)"),
    of_whole(told(entry(E::addalpha, "addalpha", "ADDALPHA", 2, "x + alpha y"), 1)),
    of_whole(told(entry(E::subalpha, "subalpha", "SUBALPHA", 2, "x - alpha y"), 1)),
    of_whole(timed_as("maximum",
                      entry(E::bitwise_and, "bitwise_and", "BITWISE_AND", 2, "x & y, of int32"))),
    of_whole(timed_as("maximum",
                      entry(E::bitwise_or, "bitwise_or", "BITWISE_OR", 2, "x | y, of int32"))),
    of_whole(timed_as("maximum",
                      entry(E::bitwise_xor, "bitwise_xor", "BITWISE_XOR", 2, "x ^ y, of int32"))),
    of_whole(timed_as("maximum", entry(E::bitwise_left_shift, "bitwise_left_shift", "LEFT_SHIFT", 2,
                                       "x << y, of int32"))),
    of_whole(timed_as("maximum", entry(E::bitwise_right_shift, "bitwise_right_shift", "RIGHT_SHIFT",
                                       2, "x >> y, of int32, with copies of the sign"))),
    of_whole(timed_as("maximum", entry(E::logical_left_shift, "logical_left_shift",
                                       "LOGICAL_LEFT_SHIFT", 2, "x << y, of int32"))),
    of_whole(timed_as("maximum", entry(E::logical_right_shift, "logical_right_shift",
                                       "LOGICAL_RIGHT_SHIFT", 2, "x >> y, of int32, with zeros"))),
    of_whole(timed_as("remainder", entry(E::gcd, "gcd", "GCD", 2, "the greatest common divisor"))),
    of_whole(timed_as("remainder", entry(E::lcm, "lcm", "LCM", 2, "the least common multiple"))),
    timed_as("divide",
             entry(E::div_no_nan, "div_no_nan", "DIV_NO_NAN", 2, "x / y, and 0 where y = 0")),
    of_whole(timed_as("divide", entry(E::floor_div, "floor_div", "DIV_FLOOR", 2, "floor(x / y)"))),
    of_whole(timed_as("divide", entry(E::trunc_div, "trunc_div", "DIV_TRUNC", 2, "trunc(x / y)"))),
    timed_as("multiply", "fpu",
             entry(E::nextafter, "nextafter", "NEXTAFTER", 2,
                   "the next float32 after x in the direction of y")),
    timed_as("multiply", "fpu", entry(E::prelu, "prelu", "PRELU", 2, "x, times y where x < 0")),
    entry(E::silu_backward, "silu_backward", "SILU_BW", 2,
          "dx of silu: dy s (1 + x (1 - s)), x and dy being its values and s = sigmoid(x)"),

    of_whole(as_long_as("simple", entry(E::relu, "relu", "RELU", 1, "max(x, 0)"))),
    of_whole(as_long_as("simple", entry(E::gtz, "gtz", "GTZ", 1, "1 where x > 0, else 0"))),
    of_whole(as_long_as("fpu", entry(E::square, "square", "SQUARE", 1, "x^2"))),
    of_whole(
        as_long_as("fpu", entry(E::cast, "cast", "TYPECAST", 1, "x in the result's data type"))),
    of_whole(entry(E::identity, "identity", "IDENTITY", 1, "x")),
    of_whole(entry(E::abs, "abs", "ABS", 1, "|x|")),
    of_whole(entry(E::neg, "neg", "NEG", 1, "-x")),
    of_whole(entry(E::sign, "sign", "SIGN", 1, "-1, 0 or 1, as x is")),
    of_whole(entry(E::signbit, "signbit", "SIGNBIT", 1, "1 where the sign bit is set, else 0")),
    of_whole(entry(E::eqz, "eqz", "EQZ", 1, "1 where x = 0, else 0")),
    of_whole(entry(E::nez, "nez", "NEZ", 1, "1 where x is not 0, else 0")),
    of_whole(entry(E::ltz, "ltz", "LTZ", 1, "1 where x < 0, else 0")),
    of_whole(entry(E::lez, "lez", "LEZ", 1, "1 where x <= 0, else 0")),
    of_whole(entry(E::gez, "gez", "GEZ", 1, "1 where x >= 0, else 0")),
    of_whole(entry(E::logical_not, "logical_not", "LOGICAL_NOT_UNARY", 1, "1 where x = 0, else 0")),
    entry(E::isfinite, "isfinite", "ISFINITE", 1, "1 where x is finite, else 0"),
    entry(E::isinf, "isinf", "ISINF", 1, "1 where x is infinite, else 0"),
    entry(E::isnan, "isnan", "ISNAN", 1, "1 where x is not a number, else 0"),
    entry(E::isposinf, "isposinf", "ISPOSINF", 1, "1 where x is plus infinity, else 0"),
    entry(E::isneginf, "isneginf", "ISNEGINF", 1, "1 where x is minus infinity, else 0"),
    of_whole(entry(E::ceil, "ceil", "CEIL", 1, "the next whole number from x upwards")),
    of_whole(entry(E::floor, "floor", "FLOOR", 1, "the next whole number from x downwards")),
    of_whole(entry(E::trunc, "trunc", "TRUNC", 1, "x without its fraction")),
    told(entry(E::round, "round", "ROUND", 1, "x with so many decimals, ties to even"), 0),
    entry(E::frac, "frac", "FRAC", 1, "x - trunc(x)"),
    entry(E::rad2deg, "rad2deg", "RAD2DEG", 1, "x 180 / pi"),
    entry(E::deg2rad, "deg2rad", "DEG2RAD", 1, "x pi / 180"),
    of_whole(entry(E::relu6, "relu6", "RELU6", 1, "x between 0 and 6")),
    of_whole(told(entry(E::relu_max, "relu_max", "RELU_MAX", 1, "x between 0 and the limit"), 1)),
    of_whole(
        told(entry(E::relu_min, "relu_min", "RELU_MIN", 1, "x, and the limit at the least"), 0)),
    told(entry(E::leaky_relu, "leaky_relu", "LEAKY_RELU", 1, "x, times the slope where x < 0"),
         0.01F),
    of_whole(told(entry(E::clamp, "clamp", "CLAMP_TSS", 1, "x between two limits"), -1, 1)),
    told(entry(E::threshold, "threshold", "THRESHOLD", 1, "x where x > limit, else the value"), 0,
         0),
    of_whole(told(entry(E::hardtanh, "hardtanh", "HARDTANH", 1, "x between two limits"), -1, 1)),
    told(entry(E::hardshrink, "hardshrink", "HARDSHRINK", 1, "x, and 0 where |x| <= lambda"), 0.5F),
    told(entry(E::softshrink, "softshrink", "SOFTSHRINK", 1, "x moved towards 0 by lambda"), 0.5F),
    entry(E::hardsigmoid, "hardsigmoid", "HARDSIGMOID", 1, "x / 6 + 1/2 between 0 and 1"),
    entry(E::hardswish, "hardswish", "HARDSWISH", 1, "x hardsigmoid(x)"),
    entry(E::hardmish, "hardmish", "HARDMISH", 1, "x (x + 2.8 between 0 and 5) / 5"),
    entry(E::softsign, "softsign", "SOFTSIGN", 1, "x / (1 + |x|)"),
    told(entry(E::heaviside, "heaviside", "HEAVISIDE", 1, "0, the value or 1, as x's sign is"), 0),
    of_whole(
        timed_as("neg", entry(E::bitwise_not, "bitwise_not", "BITWISE_NOT", 1, "~x, of int32"))),
    of_whole(told(entry(E::rdiv, "rdiv", "RDIV", 1, "value / x"), 1)),

    entry(E::exp, "exp", "EXP", 1, "e to the power of x"),
    entry(E::erf, "erf", "ERF", 1, "the error function"),
    entry(E::gelu, "gelu", "GELU", 1, "the exact gelu, x (1 + erf(x / sqrt(2))) / 2"),
    entry(E::sqrt, "sqrt", "SQRT", 1, "the square root"),
    entry(E::rsqrt, "rsqrt", "RSQRT", 1, "1 / sqrt(x)"),
    entry(E::reciprocal, "reciprocal", "RECIP", 1, "1 / x"),
    entry(E::exp2, "exp2", "EXP2", 1, "2 to the power of x"),
    entry(E::expm1, "expm1", "EXPM1", 1, "exp(x) - 1"),
    entry(E::log, "log", "LOG", 1, "the natural logarithm"),
    entry(E::log2, "log2", "LOG2", 1, "the logarithm to base 2"),
    entry(E::log10, "log10", "LOG10", 1, "the logarithm to base 10"),
    entry(E::log1p, "log1p", "LOG1P", 1, "log(1 + x)"),
    entry(E::log_sigmoid, "log_sigmoid", "LOGSIGMOID", 1, "log(sigmoid(x))"),
    entry(E::sigmoid, "sigmoid", "SIGMOID", 1, "1 / (1 + exp(-x))"),
    entry(E::silu, "silu", "SILU", 1, "x / (1 + exp(-x))"),
    entry(E::mish, "mish", "MISH", 1, "x tanh(log(1 + exp(x)))"),
    entry(E::tanh, "tanh", "TANH", 1, "the hyperbolic tangent"),
    entry(E::tanhshrink, "tanhshrink", "TANHSHRINK", 1, "x - tanh(x)"),
    told(entry(E::softplus, "softplus", "SOFTPLUS", 1,
               "log(1 + exp(beta x)) / beta, and x where beta x > threshold"),
         1, 20),
    told(
        as_long_as("celu", entry(E::elu, "elu", "ELU", 1, "x, and alpha (exp(x) - 1) where x < 0")),
        1),
    told(entry(E::celu, "celu", "CELU", 1, "x, and alpha (exp(x / alpha) - 1) where x < 0"), 1),
    entry(E::selu, "selu", "SELU", 1, "1.0507 times x, or 1.6733 (exp(x) - 1) where x < 0"),
    entry(E::erfc, "erfc", "ERFC", 1, "1 - erf(x)"),
    told(entry(E::logit, "logit", "LOGIT", 1,
               "log(x / (1 - x)), x between eps and 1 - eps unless eps < 0"),
         -1),
    entry(E::sin, "sin", "SIN", 1, "the sine"),
    entry(E::cos, "cos", "COS", 1, "the cosine"),
    entry(E::tan, "tan", "TAN", 1, "the tangent"),
    entry(E::asin, "asin", "ASIN", 1, "the inverse sine"),
    entry(E::acos, "acos", "ACOS", 1, "the inverse cosine"),
    entry(E::atan, "atan", "ATAN", 1, "the inverse tangent"),
    entry(E::sinh, "sinh", "SINH", 1, "the hyperbolic sine"),
    entry(E::cosh, "cosh", "COSH", 1, "the hyperbolic cosine"),
    entry(E::asinh, "asinh", "ASINH", 1, "the inverse hyperbolic sine"),
    entry(E::acosh, "acosh", "ACOSH", 1, "the inverse hyperbolic cosine"),
    entry(E::atanh, "atanh", "ATANH", 1, "the inverse hyperbolic tangent"),
    entry(E::cbrt, "cbrt", "CBRT", 1, "the cube root"),
    entry(E::gelu_approx, "gelu_approx", "GELU_TANH", 1,
          "gelu by tanh; timed as ttnn's fast and approximate gelu, which looks it up"),
    entry(E::erfinv, "erfinv", "ERFINV", 1, "the inverse of the error function"),
    entry(E::i0, "i0", "I0", 1, "the modified Bessel function of order 0"),
    entry(E::i1, "i1", "I1", 1, "the modified Bessel function of order 1"),
    timed_as("log", entry(E::digamma, "digamma", "DIGAMMA", 1, "the slope of lgamma")),
    timed_as("log", entry(E::lgamma, "lgamma", "LGAMMA", 1, "log(|gamma(x)|)")),
    told(timed_as("log",
                  entry(E::polygamma, "polygamma", "POLYGAMMA", 1, "the k-th slope of digamma")),
         1),
    told(timed_as("log", entry(E::multigammaln, "multigammaln", "MULTIGAMMALN", 1,
                               "the logarithm of the multivariate gamma function of order p")),
         4),
    of_whole(told(
        as_long_as("pow", entry(E::power, "power", "POWER", 1, "x to the power of the exponent")),
        2)),
    told(entry(E::rpow, "rpow", "RPOW", 1, "the base to the power of x"), 2),

    of_whole(entry(E::where, "where", "WHERE", 3, "y where x is not 0, else z")),
    told(entry(E::addcmul, "addcmul", "ADDCMUL", 3, "x + value y z"), 1),
    told(entry(E::addcdiv, "addcdiv", "ADDCDIV", 3, "x + value y / z"), 1),
    entry(E::lerp, "lerp", "LERP", 3, "x + z (y - x)"),

    of_whole(as_long_as("fpu", entry(E::fill, "fill", "FILL", 0, "the number")))};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i) {
    if (static_cast<std::size_t>(kCatalogue[i].function) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "the catalogue has one entry for each function, in their order");

}  // namespace

std::span<const EltwiseEntry> eltwise_catalogue() { return kCatalogue; }

const EltwiseEntry& entry_of(Eltwise function) {
  return kCatalogue[static_cast<std::size_t>(function)];
}

std::optional<Eltwise> find_eltwise(std::string_view name) {
  const auto found = std::ranges::find(kCatalogue, name, &EltwiseEntry::name);
  return found == kCatalogue.end() ? std::nullopt : std::optional(found->function);
}

std::optional<Eltwise> find_eltwise_by_ttnn(std::string_view enumerator, int values) {
  const auto found = std::ranges::find_if(kCatalogue, [&](const EltwiseEntry& one) {
    return one.ttnn == enumerator && one.values == values;
  });
  return found == kCatalogue.end() ? std::nullopt : std::optional(found->function);
}

std::string_view name_of(Eltwise function) { return entry_of(function).name; }

int arity_of(Eltwise function) { return entry_of(function).values; }

}  // namespace howard
