// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/launch.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/facts.h"
#include "engines/program/fields.h"

namespace howard::workload {
namespace {

/// Operands and results that an op takes: shapes, of which "r" begins one in rows and "u" one of
/// uint32 in rows.
struct Example {
  std::string_view inputs, results;
};

constexpr std::string_view kQkv = "1x2x64x32 1x2x64x32 1x2x64x32";
constexpr std::string_view kGradients =
    "1x2x64x32 1x2x64x32 1x2x64x32 1x2x64x32 1x2x64x32 1x2x64x1 1x2x64x1";
constexpr std::string_view kHeads = "1x1x64x32 1x1x64x32 1x1x64x32";

/// Those of ops on images, of ops on several devices, and of scatter.
std::map<std::string_view, Example> further_examples() {
  return {
      {"scatter", {"r64x96 u64x2 r64x2", "r64x96"}},
      {"all_gather", {"64x32 u1x1", "64x64"}},
      {"reduce_scatter", {"64x64 u1x1", "64x32"}},
      {"all_gather_matmul", {"64x32 u1x1 64x96", "64x64 64x96"}},
      {"matmul_reduce_scatter", {"64x32 u1x1 32x64", "64x64 64x32"}},
      {"conv2d", {"1x96 96x32", "1x32"}},
      {"halo", {"1x96", "r1x96"}},
      {"max_pool2d", {"1x96", "1x96"}},
      {"avg_pool2d", {"1x96", "1x96"}},
      {"upsample", {"1x2x64x32", "1x4x128x32"}},
      {"fold", {"1x2x64x32", "1x2x64x32"}},
      {"group_norm", {"1x1x64x32", "1x1x64x32"}},
      {"batch_norm", {"1x2x64x32 1x2x1x1 1x2x1x1", "1x2x64x32"}},
  };
}

std::map<std::string_view, Example> first_examples() {
  return {
      {"matmul", {"64x96 96x32", "64x32"}},
      {"minimal_matmul", {"64x96 96x32", "64x32"}},
      {"swiglu", {"64x96 128x96 96x128 128x96", "64x96"}},
      {"gelu_backward", {"64x96 64x96", "64x96"}},
      {"swiglu_backward", {"64x96 64x96 64x96", "64x96 64x96"}},
      {"dropout", {"64x96", "64x96"}},
      {"sum", {"64x96", "64x1"}},
      {"mean", {"64x96", "64x1"}},
      {"max", {"64x96", "64x1"}},
      {"cumsum", {"64x96", "64x96"}},
      {"softmax", {"64x96", "64x96"}},
      {"softmax_backward", {"64x96 64x96", "64x96"}},
      {"layernorm", {"64x96", "64x96"}},
      {"ttml_layernorm", {"64x96", "64x96 64x1 64x1"}},
      {"layernorm_backward", {"64x96 1x96 64x1 64x1 64x96", "64x96 64x96 64x96"}},
      {"rms_norm", {"64x96", "64x96"}},
      {"ttml_rms_norm", {"64x96 1x96", "64x96 64x1"}},
      {"rms_norm_backward", {"64x96 1x96 64x1 64x96", "64x96 64x96"}},
      {"attention", {kQkv, "1x2x64x32"}},
      {"decode_attention", {"1x2x1x32 1x2x64x32 1x2x64x32 u1x1", "1x2x1x32"}},
      {"split_heads_decode", {"1x1x32x96", "1x32x1x32 1x32x1x32 1x32x1x32"}},
      {"concat_heads_decode", {"1x32x32x64", "1x1x32x64"}},
      {"paged_update_cache", {"1x2x32x64 8x1x64x64", "8x1x64x64"}},
      {"paged_fill_cache", {"1x1x128x64 8x1x64x64", "8x1x64x64"}},
      {"sdpa_fw", {kQkv, "1x2x64x32 1x2x64x1 1x2x64x1"}},
      {"sdpa_bw_q", {kGradients, "1x2x64x32"}},
      {"sdpa_bw_kv", {kGradients, "1x2x64x32 1x2x64x32"}},
      {"rotary_embedding", {"1x2x64x32 64x32 64x32", "1x2x64x32"}},
      {"argmax", {"r64x96", "u64x1"}},
      {"topk", {"64x96", "64x32 u64x32"}},
      {"sampling", {"32x96 u32x96", "u32"}},
      {"plus_one", {"u1x32", "u1x32"}},
      {"transpose", {"64x96", "96x64"}},
      {"reshape", {"64x96", "96x64"}},
      {"repeat", {"1x2x64x32", "1x4x64x32"}},
      {"tilize", {"r64x96", "64x96"}},
      {"untilize", {"64x96", "r64x96"}},
      {"copy", {"64x96", "64x96"}},
      {"move", {"64x96", "96x64"}},
      {"concat", {"64x96", "64x96"}},
      {"split_heads", {"64x96", kHeads}},
      {"split_groups", {"64x32 64x64", kHeads}},
      {"concat_heads", {"1x2x64x32", "64x64"}},
      {"slice", {"64x96", "32x32"}},
      {"write_rows", {"32x96 64x96", "64x96"}},
      {"update_cache", {"32x96 64x96 u1x1", "64x96"}},
      {"pad", {"32x96", "64x96"}},
      {"permute", {"64x96", "64x96"}},
      {"embedding", {"u2x32 r96x64", "2x32x64"}},
      {"embedding_backward", {"u2x32 2x32x64", "96x64"}},
      {"cross_entropy", {"2x32x96 u2x32", "2x32x1"}},
      {"cross_entropy_backward", {"2x32x96 u2x32", "2x32x96"}},
      {"nll_loss", {"2x32x96 u2x32", "2x32x1"}},
      {"nll_loss_backward", {"2x32x96 u2x32", "2x32x96"}},
      {"adamw", {"64x96 64x96 64x96 64x96", "64x96 64x96 64x96"}},
      {"sgd", {"64x96 64x96", "64x96"}},
  };
}

const std::map<std::string_view, Example>& examples() {
  static const std::map<std::string_view, Example> kExamples = [] {
    std::map<std::string_view, Example> all = first_examples();
    all.merge(further_examples());
    return all;
  }();
  return kExamples;
}

std::vector<Operand> operands_of(std::string_view text) {
  std::vector<Operand> operands;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool plain = word[0] != 'r' && word[0] != 'u';
    const auto shape = parse_shape(std::string_view(word).substr(plain ? 0 : 1));
    operands.push_back({BufferId(),
                        {.shape = *shape,
                         .dtype = word[0] == 'u' ? DataType::uint32 : DataType::bfloat16,
                         .layout = plain ? Layout::tile : Layout::row_major}});
  }
  return operands;
}

std::size_t needed(std::span<const OperandRole> roles) {
  std::size_t count = 0;
  for (const OperandRole& role : roles) count += role.is_optional ? 0 : 1;
  return count;
}

/// Every kernel that a file can name, with operands that it takes.
class EachKernel : public ::testing::Test {
 protected:
  /// Calls `test` with the operands of each kernel.
  template <class Test>
  void for_each(const Test& test) {
    for (const std::string& kernel : kernel_names()) {
      SCOPED_TRACE(kernel);
      kernel_ = kernel;
      op_ = parse_attributes(kernel, "");
      if (const auto* const eltwise = std::get_if<EltwiseAttributes>(&op_)) {
        inputs_.assign(static_cast<std::size_t>(arity_of(eltwise->function)),
                       operands_of("64x96")[0]);
        results_ = operands_of("64x96");
      } else {
        const auto example = examples().find(kernel);
        ASSERT_NE(example, examples().end()) << "an op needs operands that it takes in this test";
        inputs_ = operands_of(example->second.inputs);
        results_ = operands_of(example->second.results);
      }
      test();
    }
  }

  Program launch() const { return make_launch(kernel_, op_, inputs_, results_); }

  /// Expects an error that names the op and the operand and says what the op takes.
  void expect_refused(std::string_view operand) const {
    try {
      static_cast<void>(launch());
      ADD_FAILURE() << "it takes them";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(kernel_), std::string::npos) << text;
      EXPECT_NE(text.find(operand), std::string::npos) << text;
      EXPECT_FALSE(error.text().accepted.empty()) << text;
    }
  }

  std::string kernel_;
  Attributes op_;
  std::vector<Operand> inputs_, results_;
};

TEST_F(EachKernel, TakesItsOperandsAndCanBePlanned) {
  chip::EmulatedChip chip(chip::load_profiles());
  for_each([&] {
    const Program program = launch();
    EXPECT_GT(chip.explain(program).kernel.total, SimTime());
  });
}

TEST_F(EachKernel, ItsFlopsAreThoseOfItsLaunches) {
  chip::EmulatedChip chip(chip::load_profiles());
  for_each([&] {
    const Program program = launch();
    Flops of_launches;
    for (const chip::PlannedProgram& planned : chip.launches(program)) {
      of_launches += facts_of(planned, chip.profiles().chip).work.flops;
    }
    EXPECT_EQ(of_launches, program.flops);
  });
}

TEST_F(EachKernel, RefusesAnOperandLess) {
  for_each([&] {
    if (inputs_.empty()) return;
    const auto roles = input_roles(op_);
    ASSERT_TRUE(std::holds_alternative<EltwiseAttributes>(op_) || inputs_.size() == needed(roles))
        << "the example has no optional operands";
    inputs_.pop_back();
    expect_refused(roles[inputs_.size()].name);
  });
}

TEST_F(EachKernel, RefusesAResultLess) {
  for_each([&] {
    const std::string_view missing = result_roles(op_)[results_.size() - 1].name;
    results_.pop_back();
    expect_refused(missing);
  });
}

TEST_F(EachKernel, RefusesAnOperandOrAResultTooMuch) {
  for_each([&] {
    const auto repeats = [](std::span<const OperandRole> roles) {
      return !roles.empty() && roles.back().repeats;
    };
    const std::vector<Operand> inputs = inputs_;
    if (!repeats(input_roles(op_))) {
      inputs_.resize(input_roles(op_).size() + 1, operands_of("64x96")[0]);
      EXPECT_THROW(launch(), Error);
      inputs_ = inputs;
    }
    if (repeats(result_roles(op_))) return;
    results_.resize(result_roles(op_).size() + 1, operands_of("64x96")[0]);
    EXPECT_THROW(launch(), Error);
  });
}

TEST_F(EachKernel, RefusesRealNumbersForWholeOnes) {
  for_each([&] {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const OperandRole role = input_roles(op_)[std::min(i, input_roles(op_).size() - 1)];
      if (role.takes != Takes::indices && role.takes != Takes::one) continue;
      inputs_[i].spec.dtype = DataType::float32;
      expect_refused(role.name);
      inputs_[i].spec.dtype = DataType::uint32;
    }
  });
}

TEST_F(EachKernel, RefusesTheOtherLayoutWhereItTakesOne) {
  for_each([&] {
    const auto turn = [&](std::span<const OperandRole> roles, std::vector<Operand>& operands) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandRole role = roles[std::min(i, roles.size() - 1)];
        if (role.takes != Takes::tiles && role.takes != Takes::rows) continue;
        const bool tiled = role.takes == Takes::tiles;
        operands[i].spec.layout = tiled ? Layout::row_major : Layout::tile;
        expect_refused(role.name);
        operands[i].spec.layout = tiled ? Layout::tile : Layout::row_major;
      }
    };
    turn(input_roles(op_), inputs_);
    turn(result_roles(op_), results_);
  });
}

TEST_F(EachKernel, RefusesAResultOfAnotherShape) {
  for_each([&] {
    if (kernel_ == "move" || kernel_ == "fill") return;
    results_[0].spec.shape = {7, 5, 3, 96};
    EXPECT_THROW(launch(), Error);
  });
}

TEST(Launch, ASplitOfHeadsWithOneResultIsRefused) {
  EXPECT_THROW(make_launch("split", parse_attributes("split_heads", ""), operands_of("64x96"),
                           operands_of("64x32")),
               Error);
}

}  // namespace
}  // namespace howard::workload
