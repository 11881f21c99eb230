// SPDX-License-Identifier: Apache-2.0
// What the kernels of the host compute is what the definitions of the ops say in float64
// (tests/engines/reference), for both types, with one thread and with all, and in place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engines/ops/catalogue.h"
#include "engines/reference/reference_ops.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

struct Range {
  float low = -1, high = 1;  ///< Indices are whole numbers below `high`.
  bool whole = false;        ///< Only whole numbers, as a mask has.
};

/// Calls with random operands, and how far their results may be from float64.
struct Sweep {
  std::string op;
  std::vector<std::string> operands;  ///< "33x31", "33x31 31": each is one call.
  std::vector<Range> ranges;          ///< Of the operands; the last one is that of the others, too.
  double error =
      0;  ///< In roundings of float32 of a number of `floor` more than the result's size.
  double floor = 0;
  std::vector<std::vector<int>> in_place{};  ///< For each result, the operand that it may replace.
  double roundings = 0;                      ///< To the type, of what the kernel keeps between.
  bool only_in_place = false;                ///< The first of `in_place` is the one way to call it.
};

Given operand_of(const TensorSpec& spec, const Range& range, std::uint64_t seed) {
  if (spec.dtype == DataType::uint32) {
    return random_indices(spec.shape, static_cast<std::int64_t>(range.high), seed);
  }
  Given given = random(spec.shape, spec.dtype, seed, range.low, range.high);
  given.spec = spec;
  for (float& value : given.values) value = range.whole ? std::round(value) : value;
  return given;
}

std::vector<reference::Values> exact(const Program& program, const std::vector<Given>& inputs) {
  std::vector<reference::Values> values;
  for (const Given& given : inputs) values.emplace_back(given.values.begin(), given.values.end());
  std::vector<const reference::Values*> operands;
  for (const reference::Values& one : values) operands.push_back(&one);
  return reference::compute(program, operands);
}

void expect_exact(const Sweep& sweep, const Program& program) {
  std::vector<Given> inputs;
  for (const Operand& input : program.inputs) {
    const std::size_t i = inputs.size();
    const Range range =
        sweep.ranges.empty() ? Range{} : sweep.ranges[std::min(i, sweep.ranges.size() - 1)];
    inputs.push_back(operand_of(input.spec, range, i + 1));
  }
  const std::vector<TensorSpec> outputs = [&] {
    const SpecList specs = specs_of(program.outputs);
    return std::vector<TensorSpec>(specs.begin(), specs.end());
  }();
  const std::vector<int> first = sweep.only_in_place ? sweep.in_place[0] : std::vector<int>();
  const std::vector<Values> results = run(program.attributes, inputs, outputs, first);
  const std::vector<reference::Values> expected = exact(program, inputs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(i);
    const DataType dtype = outputs[i].dtype;
    const double between = dtype == DataType::bfloat16 ? sweep.roundings * 0x1p-8 : 0;
    expect_close(results[i], dtype, [&](std::int64_t j) -> Expected {
      const double value = expected[i][at(j)];
      return {value, (sweep.error * kFloatRounding + between) * (std::abs(value) + sweep.floor)};
    });
  }
  for (const std::vector<int>& places : sweep.in_place) {
    const std::vector<Values> replaced = run(program.attributes, inputs, outputs, places);
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(same_bits(replaced[i], results[i])) << "result " << i << " in place";
    }
  }
}

void expect_exact(const std::vector<Sweep>& sweeps) {
  for (const Sweep& sweep : sweeps) {
    for (const std::string& operands : sweep.operands) {
      for (const DataType dtype : kRealTypes) {
        const std::string call = sweep.op + " " + operands;
        SCOPED_TRACE(fmt::format("{} {}", call, name_of(dtype)));
        expect_exact(sweep, ops::parse_program(call, dtype));
      }
    }
  }
}

/// The shapes have one element, less and more than a vector, and enough for several threads.
const std::vector<std::string> kShapes{"1", "3x5", "33x31", "2x3x65x257"};

TEST(HostValues, FunctionsOfOneValue) {
  const auto of = [](const char* op, Range range, double error) {
    return Sweep{op, kShapes, {range}, error, 0, {{0}}};
  };
  expect_exact({of("relu", {-2, 2}, 0), of("gtz", {-2, 2}, 0), of("square", {-9, 9}, 0),
                of("exp", {-80, 80}, 4), of("erf", {-5, 5}, 7), of("gelu", {-12, 6}, 17),
                of("sqrt", {0, 50}, 0), of("rsqrt", {0.1F, 50}, 4), of("reciprocal", {0.1F, 50}, 0),
                of("cast", {-50, 50}, 0), of("sigmoid", {-30, 30}, 9), of("silu", {-30, 30}, 11),
                of("add:scalar=0.1", {}, 1), of("subtract:scalar=0.1", {}, 1),
                of("multiply:scalar=0.1", {}, 1)});
}

TEST(HostValues, FunctionsOfTwoValuesBroadcastAlongAnyDimension) {
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"33x31", "33x31"},         {"33x31", "31"},        {"33x31", "33x1"},
      {"1x31", "33x1"},           {"2x3x5x7", "2x1x5x1"}, {"2x3x5x7", "3x1x7"},
      {"1x3x1x7", "2x1x5x1"},     {"1", "2x3x5x7"},       {"2x3x5x7", "1"},
      {"2x1x1x1", "1x3x5x7"},     {"300x257", "257"},     {"300x257", "300x1"},
      {"4x130x129", "1x130x129"}, {"70000x1", "70000x1"}, {"1x70000", "1"}};
  for (const auto& [a, b] : pairs) {
    for (const DataType a_type : kRealTypes) {
      for (const DataType b_type : kRealTypes) {
        for (const char* const op : {"add", "subtract", "multiply"}) {
          Sweep sweep{op, {}, {}, 1};
          const std::string call =
              fmt::format("{} {} {} {} {}", op, a, name_of(a_type), b, name_of(b_type));
          SCOPED_TRACE(call);
          const Program program = ops::parse_program(call, a_type);
          for (int i = 0; i < 2; ++i) {
            if (program.inputs[at(i)].spec == program.outputs[0].spec)
              sweep.in_place.push_back({i});
          }
          expect_exact(sweep, program);
        }
      }
    }
  }
}

TEST(HostValues, Slopes) {
  expect_exact({{"gelu_backward",
                 {"1 1", "33x31 33x31", "2x3x65x257 2x3x65x257"},
                 {{-9, 9}, {}},
                 17,
                 1,
                 {{1}}},
                {"silu_backward", {"3x513 3x513"}, {{-30, 30}, {}}, 34, 30},
                {"swiglu_backward", {"4x35 4x35 4x35"}, {{-4, 4}, {-2, 2}}, 168, 4, {}, 2}});
}

TEST(HostValues, SumsMeansAndMaxima) {
  const std::vector<std::string> shapes{"1",       "7",       "33x31",    "2x3x5x70", "3x300x257",
                                        "3000x40", "1x70001", "200x3x40", "130x2x300"};
  for (const char* const dimension : {"columns", "rows", "batch", "all"}) {
    const auto of = [&](const char* op, double error) {
      return Sweep{fmt::format("{}:dimension={}", op, dimension), shapes, {{-1, 2}}, error, 5};
    };
    expect_exact({of("sum", 600), of("mean", 600), of("max", 0)});
  }
  expect_exact({{"cumsum", {"2x40x70"}, {}, 40, 10},
                {"cumsum:dim=3:flip", {"2x40x70"}, {}, 70, 10},
                {"cumsum:dim=0", {"5x2x40x70"}, {}, 5, 10},
                {"cumsum:dim=1:flip", {"2x5x40x70"}, {}, 5, 10}});
}

TEST(HostValues, ChoicesAndOrders) {
  const std::vector<std::string> shapes{"1x7", "33x31", "2x3x40x70", "2x3000"};
  expect_exact({{"argmax", shapes},
                {"topk:k=5", shapes},
                {"topk:k=7:largest=false", shapes},
                {"sort", shapes},
                {"sort:descending", shapes}});
}

TEST(HostValues, OpsAlongRows) {
  const std::vector<std::string> one{"3x7", "33x31", "2x3x40x70", "2x100x384", "2x3000"};
  expect_exact({{"softmax", {"1", "5x1"}, {{-20, 20}}, 72, 0, {{0}}},
                {"softmax", one, {{-20, 20}}, 170, 0, {{0}}},
                {"softmax_backward",
                 {"3x7 3x7", "33x31 33x31", "2x100x384 2x100x384"},
                 {{0, 1}, {}},
                 20,
                 100,
                 {{0}, {1}}},
                {"layernorm", one, {{1, 3}}, 300, 10, {{0}}},
                {"ttml_layernorm",
                 {"3x7 7 7", "2x3x40x70 70 70", "4x3000 3000 3000"},
                 {{1, 3}, {}},
                 300,
                 10},
                {"layernorm_backward",
                 {"3x7 7 3x1 3x1 3x7", "2x3x40x70 70 2x3x40x1 2x3x40x1 2x3x40x70",
                  "2x100x384 384 2x100x1 2x100x1 2x100x384"},
                 {{1, 3}, {}, {1.9F, 2.1F}, {1.5F, 2}, {}},
                 48,
                 8,
                 {{4, 0, -1}}},
                {"rms_norm:epsilon=0.25", {"5x67", "5x67 67"}, {{-3, 3}, {}}, 168, 1},
                {"ttml_rms_norm:epsilon=0.25", {"5x67 67"}, {{-3, 3}, {}}, 168, 1},
                {"rms_norm_backward", {"4x35 35 4x1 4x35"}, {{-2, 2}, {}, {1, 2}, {}}, 168, 1},
                {"rotary_embedding:style=pairs", {"2x3x5x8 9x8 9x8"}, {}, 4, 2},
                {"rotary_embedding:style=halves", {"2x3x5x8 9x8 9x8"}, {}, 4, 2}});
}

TEST(HostValues, OpsThatMoveData) {
  expect_exact({{"transpose", {"1x1", "3x5", "33x65", "2x3x40x31", "1x300", "2x257x300"}},
                {"transpose_heads", {"3x5x70x33"}},
                {"permute:order=3,1,0,2", {"2x3x4x5"}},
                {"permute:order=0,1,3,2", {"3x5"}},
                {"reshape", {"3x70x501 -> 501x210"}},
                {"untilize", {"3x70x501"}},
                {"repeat", {"2x2x5x3 -> 2x6x5x3"}},
                {"concat", {"2x3x40x5 2x3x40x1 2x3x40x90 -> 2x3x40x96"}},
                {"concat:dimension=2", {"2x1x3 2x2x3 -> 2x3x3"}},
                {"concat:dimension=1", {"2x1x2 1x1x2 -> 3x1x2"}},
                {"split_heads:heads=4", {"3x1x70x108"}},
                {"split_heads:heads=4:groups=2", {"3x1x70x72"}},
                {"split_groups:heads=4:groups=2", {"3x1x70x36 3x1x70x36"}},
                {"concat_heads", {"3x4x70x9"}},
                {"slice:begins=1,0,1,0:steps=1,1,1,2", {"2x2x2x3 -> 1x2x1x2"}},
                {"pad:before=0,0,1,1:value=9", {"1x2 -> 3x4"}},
                {"write_rows:row=3", {"1x2x2x3 1x2x5x3"}, {}, 0, 0, {{1}}, 0, true},
                {"update_cache",
                 {"1x2x2x3 1x2x5x3 1x1 uint32 row_major"},
                 {{}, {}, {0, 3}},
                 0,
                 0,
                 {{1}},
                 0,
                 true},
                {"embedding", {"3x200 uint32 row_major 300x50 row_major"}, {{0, 300}, {}}},
                // Indices come often, once and never.
                {"embedding_backward",
                 {"3x500 uint32 row_major 3x500x130 -> 3x130"},
                 {{0, 3}, {}},
                 140,
                 300},
                {"embedding_backward",
                 {"3x500 uint32 row_major 3x500x50 -> 5000x50"},
                 {{0, 5000}, {}},
                 140,
                 5}});
}

TEST(HostValues, AttentionAndItsGradients) {
  const std::string heads = "2x4x9x12 2x2x9x12 2x2x9x12";
  // The gradients are of v with heads of another width, and of any numbers that a row kept.
  const std::string backward = "2x4x5x6 2x2x5x6 2x2x5x4 2x4x5x4 2x4x5x4 2x4x5x1 2x4x5x1";
  const std::vector<Range> kept{{}, {}, {}, {}, {}, {0, 1}, {0.1F, 0.3F}};
  std::vector<Sweep> sweeps{{"attention", {heads + " 1x1x9x9"}, {{}, {}, {}, {-3, 0}}, 34, 1},
                            {"swiglu", {"2x1x5x67 35x67 67x35 35x67"}, {}, 17, 50, {}, 3}};
  for (const char* const causal : {"true", "false"}) {
    const std::string fields = fmt::format(":scale=0.5:causal={}", causal);
    sweeps.push_back({"attention" + fields, {heads}, {}, 34, 1});
    sweeps.push_back({"sdpa_fw" + fields, {"2x4x5x6 2x2x5x6 2x2x5x4"}, {}, 34, 1, {}, 1});
    sweeps.push_back({"sdpa_bw_q" + fields, {backward}, kept, 100, 10});
    sweeps.push_back({"sdpa_bw_kv" + fields, {backward}, kept, 100, 10});
  }
  const Range mask{0, 1, true};  // with rows that see nothing
  std::vector<Range> with_mask = kept;
  with_mask.push_back(mask);
  for (const char* const shape : {" 1x1x5x5", " 2x1x5x5", " 1x4x5x5", " 2x4x5x5"}) {
    sweeps.push_back({"sdpa_fw:causal=false",
                      {std::string("2x4x5x6 2x2x5x6 2x2x5x4") + shape},
                      {{}, {}, {}, mask},
                      34,
                      1,
                      {},
                      1});
    sweeps.push_back({"attention",
                      {std::string("2x4x5x6 2x2x5x6 2x2x5x6") + shape},
                      {{}, {}, {}, {-3, 0}},
                      34,
                      1});
    for (const char* const op : {"sdpa_bw_q:causal=false", "sdpa_bw_kv:causal=false"}) {
      sweeps.push_back({op, {backward + shape}, with_mask, 100, 10});
    }
  }
  for (const float places : {1.0F, 6.0F, 9.0F}) {
    for (const char* const window : {"", ":window=3"}) {
      sweeps.push_back({std::string("decode_attention:scale=0.5") + window,
                        {"2x4x1x12 2x2x9x12 2x2x9x12 1x1 uint32 row_major"},
                        {{}, {}, {}, {0, places}},
                        34,
                        1});
    }
  }
  for (const char* const window : {":causal=true:window=3", ":causal=false:window=5"}) {
    sweeps.push_back({std::string("attention") + window, {heads}, {}, 34, 1});
  }
  expect_exact(sweeps);
}

TEST(HostValues, BlocksThatAreLeftOutOfAProductAreZero) {
  const std::vector<Range> none{{}, {}, {0, 0}};
  for (const auto& ranges : {std::vector<Range>{}, none}) {
    expect_exact(
        {{"sparse_matmul", {"2x3x5x70 1x4x70x9 2x3x1x4 row_major"}, ranges, 70, 10},
         {"sparse_matmul:sparse_a", {"1x4x5x70 1x4x70x9 1x1x1x4 row_major"}, ranges, 70, 10},
         {"sparse_matmul:sparse_a:sparse_b=false",
          {"2x4x5x70 1x4x70x9 1x1x2x4 row_major"},
          ranges,
          70,
          10}});
  }
}

TEST(HostValues, OpsOnImages) {
  const std::string window = ":images=2:height=9:width=7:window=3,2:stride=2,1:padding=1,0,1,1";
  expect_exact(
      {{"conv2d" + window, {"126x5 30x6", "126x5 30x6 6"}, {}, 34, 10},
       {"max_pool2d" + window, {"126x5"}},
       {"avg_pool2d" + window, {"126x5"}, {}, 8, 1},
       {"upsample:factor=2,3", {"2x4x5x6 row_major"}},
       {"upsample:factor=2,3:bilinear", {"2x4x5x6 row_major"}, {}, 8, 1},
       {"fold:stride=2,3", {"2x4x6x5 row_major"}},
       {"group_norm:groups=3", {"2x1x20x12", "2x1x20x12 1x12 1x12"}, {{1, 3}, {}}, 300, 10},
       {"batch_norm", {"2x3x4x5 1x3x1x1 1x3x1x1 1x3x1x1 1x3x1x1"}, {{}, {}, {1, 2}, {}}, 17, 2}});
}

TEST(HostValues, LossesAndTheirGradients) {
  for (const int columns : {1, 7, 96, 500}) {
    const std::string operands = fmt::format("3x40x{} 3x40 uint32 row_major", columns);
    const std::vector<Range> ranges{{-15, 15}, {0, static_cast<float>(columns)}};
    expect_exact({{"cross_entropy", {operands}, ranges, 110, 1},
                  {"cross_entropy_backward:scale=0.125", {operands}, ranges, 80, 1, {{0}}},
                  {"nll_loss", {operands}, ranges},
                  {"nll_loss_backward:scale=0.125", {operands}, ranges}});
  }
  expect_exact(
      {{"cross_entropy", {"3x40x3000 3x40 uint32 row_major"}, {{-15, 15}, {0, 3000}}, 190, 1}});
}

TEST(HostValues, UpdatesOfParameters) {
  const auto tensor = [](DataType type) { return fmt::format(" 70x257 {}", name_of(type)); };
  for (const DataType p : kRealTypes) {
    for (const DataType g : kRealTypes) {
      for (const DataType m : kRealTypes) {
        for (const int step : {1, 2, 1000}) {
          const std::string call =
              fmt::format("adamw:learning_rate=0.01:step={}{}{}{}{} ->{}{}{}", step, tensor(p),
                          tensor(g), tensor(m), tensor(m), tensor(p), tensor(m), tensor(m));
          SCOPED_TRACE(call);
          // 1 - 0.999 has 14 of 24 bits in float32, and 1 / (1 - 0.9^1) loses as many.
          expect_exact({"", {}, {{}, {}, {}, {0.01F, 1}}, 340, 1, {{0, 2, 3}}},
                       ops::parse_program(call, p));
        }
      }
      for (const char* const nesterov : {"", ":nesterov"}) {
        const std::string call = fmt::format(
            "sgd:learning_rate=0.25:momentum=0.75:dampening=0.5:weight_decay=0.125{}{}{}{} ->{}{}",
            nesterov, tensor(p), tensor(g), tensor(p), tensor(p), tensor(p));
        SCOPED_TRACE(call);
        expect_exact({"", {}, {}, 8, 1, {{0, 2}}}, ops::parse_program(call, p));
      }
      const std::string plain =
          fmt::format("sgd:learning_rate=0.5{}{} ->{}", tensor(p), tensor(g), tensor(p));
      expect_exact({"", {}, {}, 4, 1, {{0}}}, ops::parse_program(plain, p));
    }
  }
}

}  // namespace
}  // namespace howard::host
