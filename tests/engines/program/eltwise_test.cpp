// SPDX-License-Identifier: Apache-2.0
#include "engines/program/eltwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engines/program/eltwise_value.h"

namespace howard {
namespace {

TEST(EltwiseCatalogue, EveryFunctionIsFoundByItsNames) {
  std::set<std::string_view> names;
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_EQ(find_eltwise(entry.name), entry.function);
    EXPECT_EQ(find_eltwise_by_ttnn(entry.ttnn, entry.values), entry.function) << entry.ttnn;
    EXPECT_FALSE(entry.meaning.empty());
    EXPECT_FALSE(entry.cost.empty());
  }
  EXPECT_EQ(names.size(), kEltwiseFunctions);
  EXPECT_FALSE(find_eltwise("sillu"));
  EXPECT_FALSE(find_eltwise_by_ttnn("SILU", 2));
}

TEST(EltwiseCatalogue, OnePowerIsOfTwoValuesAndOneOfAValueAndANumber) {
  EXPECT_EQ(find_eltwise_by_ttnn("POWER", 1), Eltwise::power);
  EXPECT_EQ(find_eltwise_by_ttnn("POWER", 2), Eltwise::pow);
  EXPECT_EQ(entry_of(Eltwise::clamp).numbers, 2);
  EXPECT_EQ(arity_of(Eltwise::where), 3);
}

struct Case {
  const char* name;
  EltwiseArguments<double> with;
  double expected;
};

/// Worked out by hand or with tables, not with the formulas of the code.
const std::vector<Case> kCases{
    {"divide", {3, 4}, 0.75},
    {"rsub", {3, 4}, 1},
    {"squared_difference", {3, 5}, 4},
    {"eq", {2, 2}, 1},
    {"ne", {2, 2}, 0},
    {"lt", {1, 2}, 1},
    {"le", {2, 2}, 1},
    {"gt", {1, 2}, 0},
    {"ge", {1, 2}, 0},
    {"logical_and", {2, 0}, 0},
    {"logical_or", {2, 0}, 1},
    {"logical_xor", {2, 3}, 0},
    {"maximum", {-1, 2}, 2},
    {"minimum", {-1, 2}, -1},
    {"pow", {2, 10}, 1024},
    {"remainder", {-7, 3}, 2},
    {"fmod", {-7, 3}, -1},
    {"hypot", {3, 4}, 5},
    {"xlogy", {2, 1}, 0},
    {"atan2", {1, 1}, 0.7853981633974483},
    {"ldexp", {3, 4}, 48},
    {"logaddexp", {0, 0}, 0.6931471805599453},
    {"logaddexp2", {3, 3}, 4},
    {"bias_gelu", {0.5, 0.5}, 0.8413447460685429},
    {"addalpha", {1, 2, 0, 3}, 7},
    {"subalpha", {1, 2, 0, 3}, -5},
    {"silu_backward", {0, 4}, 2},
    {"abs", {-3}, 3},
    {"neg", {-3}, 3},
    {"sign", {-3}, -1},
    {"signbit", {-3}, 1},
    {"eqz", {0}, 1},
    {"nez", {0}, 0},
    {"ltz", {-1}, 1},
    {"lez", {0}, 1},
    {"gez", {-1}, 0},
    {"logical_not", {5}, 0},
    {"ceil", {1.2}, 2},
    {"floor", {-1.2}, -2},
    {"trunc", {-1.7}, -1},
    {"round", {2.5}, 2},
    {"frac", {-1.75}, -0.75},
    {"rad2deg", {3.141592653589793}, 180},
    {"deg2rad", {90}, 1.5707963267948966},
    {"relu6", {7}, 6},
    {"relu_max", {7, 0, 0, 4}, 4},
    {"relu_min", {1, 0, 0, 4}, 4},
    {"leaky_relu", {-2, 0, 0, 0.25}, -0.5},
    {"clamp", {-2, 0, 0, -1, 1}, -1},
    {"clamp", {-2, 0, 0, 1, -1}, -1},
    {"hardtanh", {3, 0, 0, -1, 1}, 1},
    {"threshold", {1, 0, 0, 2, 9}, 9},
    {"hardshrink", {0.25, 0, 0, 0.5}, 0},
    {"softshrink", {-2, 0, 0, 0.5}, -1.5},
    {"hardsigmoid", {0}, 0.5},
    {"hardswish", {3}, 3},
    {"hardmish", {10}, 10},
    {"softsign", {-3}, -0.75},
    {"heaviside", {0, 0, 0, 0.5}, 0.5},
    {"rdiv", {4, 0, 0, 2}, 0.5},
    {"exp2", {5}, 32},
    {"expm1", {1}, 1.718281828459045},
    {"log", {2.718281828459045}, 1},
    {"log2", {8}, 3},
    {"log10", {1000}, 3},
    {"log1p", {0}, 0},
    {"log_sigmoid", {0}, -0.6931471805599453},
    {"sigmoid", {0}, 0.5},
    {"silu", {2}, 1.7615941559557649},
    {"mish", {1}, 0.8650983882673103},
    {"tanh", {1}, 0.7615941559557649},
    {"tanhshrink", {1}, 0.2384058440442351},
    {"softplus", {0, 0, 0, 1, 20}, 0.6931471805599453},
    {"elu", {-1, 0, 0, 2}, -1.2642411176571153},
    {"celu", {-2, 0, 0, 2}, -1.2642411176571153},
    {"selu", {1}, 1.0507009873554805},
    {"erfc", {0.5}, 0.4795001221869535},
    {"erfinv", {0.5}, 0.4769362762044699},
    {"logit", {0.75, 0, 0, 0}, 1.0986122886681098},
    {"sin", {0.5235987755982988}, 0.5},
    {"cos", {1.0471975511965979}, 0.5},
    {"tan", {0.7853981633974483}, 1},
    {"asin", {0.5}, 0.5235987755982989},
    {"acos", {0.5}, 1.0471975511965979},
    {"atan", {1}, 0.7853981633974483},
    {"sinh", {1}, 1.1752011936438014},
    {"cosh", {1}, 1.5430806348152437},
    {"asinh", {1}, 0.881373587019543},
    {"acosh", {2}, 1.3169578969248166},
    {"atanh", {0.5}, 0.5493061443340549},
    {"cbrt", {-27}, -3},
    {"i0", {1}, 1.2660658777520084},
    {"i1", {1}, 0.5651591039924851},
    {"power", {3, 0, 0, 2}, 9},
    {"rpow", {3, 0, 0, 2}, 8},
    {"where", {1, 5, 7}, 5},
    {"addcmul", {1, 2, 3, 0.5}, 4},
    {"addcdiv", {1, 2, 4, 2}, 2},
    {"lerp", {2, 6, 0.25}, 3},
};

TEST(EltwiseValues, AreThoseOfTables) {
  for (const Case& one : kCases) {
    const auto function = find_eltwise(one.name);
    ASSERT_TRUE(function) << one.name;
    EXPECT_NEAR(eltwise_function<double>(*function)(one.with), one.expected, 1e-13) << one.name;
  }
}

double number(const nlohmann::json& node) {
  return node.is_string() ? std::stod(node.get<std::string>()) : node.get<double>();
}

/// Returns all combinations of the points of a grid, the last one moving fastest.
std::vector<EltwiseArguments<double>> combinations(const nlohmann::json& axes) {
  std::vector<EltwiseArguments<double>> all{{}};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::vector<EltwiseArguments<double>> more;
    for (const EltwiseArguments<double>& one : all) {
      for (const nlohmann::json& point : axes[axis]) {
        more.push_back(one);
        (axis == 0 ? more.back().x : axis == 1 ? more.back().y : more.back().z) = number(point);
      }
    }
    all = std::move(more);
  }
  return all;
}

/// PyTorch's method overflows here, or has lost its digits; the next two tests have our values.
bool is_artefact(std::string_view name, const EltwiseArguments<double>& with) {
  if (name == "erfinv") return with.x > 0.9 && with.x < 1;
  if (name == "i0" || name == "i1") return std::isinf(with.x);
  if (name != "polygamma") return false;
  return with.first == 1 ? with.x == -1 : std::isinf(with.x);
}

bool is_same(std::string_view name, double value, double expected) {
  // PyTorch's trigamma has nine digits.
  const double error = name == "polygamma" ? 1e-9 : 1e-12;
  if (std::isnan(expected)) return std::isnan(value);
  if (std::isinf(expected)) return value == expected;
  return std::abs(value - expected) <= error * std::max(1.0, std::abs(expected));
}

TEST(EltwiseValues, AreThoseOfPyTorchAtSpecialPoints) {
  std::ifstream file(HOWARD_ELTWISE_TORCH);
  const nlohmann::json table = nlohmann::json::parse(file);
  std::set<std::string> seen{"fill"};  // It takes no value.
  for (const nlohmann::json& row : table.at("rows")) {
    const std::string name = row.at("function");
    const auto function = find_eltwise(name);
    ASSERT_TRUE(function) << name;
    seen.insert(name);
    std::vector<EltwiseArguments<double>> all =
        combinations(table.at("grids").at(row.at("grid").get<std::string>()));
    ASSERT_EQ(row.at("values").size(), all.size()) << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EltwiseArguments<double>& with = all[i];
      if (!row.at("numbers").empty()) with.first = row["numbers"][0];
      if (row.at("numbers").size() > 1) with.second = row["numbers"][1];
      if (is_artefact(name, with)) continue;
      const double value = eltwise_function<double>(*function)(with);
      const double expected = number(row.at("values")[i]);
      EXPECT_TRUE(is_same(name, value, expected))
          << name << " " << row["numbers"] << " of " << with.x << ", " << with.y << ", " << with.z
          << " is " << value << ", PyTorch's " << expected;
    }
  }
  EXPECT_EQ(seen.size(), kEltwiseFunctions) << "each function of the catalogue has a row";
}

/// erfinv(1 - 1e-12) is from mpmath 1.3 with 40 digits, trigamma(1) is pi^2 / 6.
TEST(EltwiseValues, HaveAllDigitsWherePyTorchHasNot) {
  const auto value = [](Eltwise function, double x) {
    return eltwise_function<double>(function)({x, 0, 0, 1});
  };
  EXPECT_NEAR(value(Eltwise::erfinv, 1 - 1e-12), 5.04203189857269613, 1e-13);
  EXPECT_NEAR(value(Eltwise::polygamma, 1), 1.6449340668482264, 1e-13);
}

TEST(EltwiseValues, OfPolesAreTheLimits) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto of = [](Eltwise function, double x, double k) {
    return eltwise_function<double>(function)({x, 0, 0, k});
  };
  EXPECT_EQ(of(Eltwise::i0, -infinity, 0), infinity);
  EXPECT_EQ(of(Eltwise::i1, -infinity, 0), -infinity);
  EXPECT_EQ(of(Eltwise::polygamma, -1, 1), infinity);
  EXPECT_EQ(of(Eltwise::polygamma, infinity, 2), 0);
  EXPECT_TRUE(std::isnan(of(Eltwise::polygamma, -infinity, 2)));
}

TEST(EltwiseValues, OfLargeNumbersDoNotOverflow) {
  const auto of = [](Eltwise function, double x) {
    return eltwise_function<double>(function)({x, 0, 0, 1, 20});
  };
  EXPECT_EQ(of(Eltwise::silu, -800), 0);
  EXPECT_EQ(of(Eltwise::silu, 800), 800);
  EXPECT_EQ(of(Eltwise::log_sigmoid, -800), -800);
  EXPECT_EQ(of(Eltwise::softplus, 800), 800);
  EXPECT_EQ(of(Eltwise::mish, 800), 800);
  EXPECT_EQ(of(Eltwise::erfinv, 1), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(of(Eltwise::erfinv, 2)));
  EXPECT_EQ(of(Eltwise::isinf, -std::numeric_limits<double>::infinity()), 1);
  EXPECT_EQ(of(Eltwise::isfinite, std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace howard
