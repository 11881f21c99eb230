// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/launch.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/facts.h"
#include "engines/program/fields.h"
#include "tests/engines/program/op_examples.h"

namespace howard::workload {
namespace {

using testing::op_example;
using testing::operands_of;

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
      std::tie(inputs_, results_) = op_example(op_);
      ASSERT_FALSE(results_.empty()) << "an op needs operands that it takes in op_examples.h";
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
      if (!are_places(role.takes)) continue;
      for (const DataType other : {DataType::float32, DataType::uint8}) {
        inputs_[i].spec.dtype = other;
        expect_refused(role.name);
      }
      inputs_[i].spec.dtype = DataType::uint32;
    }
  });
}

TEST_F(EachKernel, RefusesWholeNumbersForRealOnes) {
  int functions = 0;
  for_each([&] {
    const auto* const eltwise = std::get_if<EltwiseAttributes>(&op_);
    const bool real = eltwise != nullptr && !entry_of(eltwise->function).takes_whole;
    functions += real ? 1 : 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const OperandRole role = input_roles(op_)[std::min(i, input_roles(op_).size() - 1)];
      if (!real && role.takes > Takes::rows) continue;
      const DataType own = inputs_[i].spec.dtype;
      inputs_[i].spec.dtype = DataType::int32;
      expect_refused(role.name);
      inputs_[i].spec.dtype = own;
    }
  });
  EXPECT_GT(functions, 30);
}

TEST_F(EachKernel, RefusesTheOtherLayoutWhereItTakesOne) {
  for_each([&] {
    const auto turn = [&](std::span<const OperandRole> roles, std::vector<Operand>& operands) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandRole role = roles[std::min(i, roles.size() - 1)];
        const bool tiled = role.takes == Takes::tiles || role.takes == Takes::any_in_tiles;
        if (!tiled && role.takes != Takes::rows && role.takes != Takes::any_in_rows) continue;
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
