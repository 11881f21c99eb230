// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/program_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

const TensorSpec kMatrix{.shape = {64, 64}};

Program product() { return make_program(MatmulAttributes{}, {kMatrix, kMatrix}); }
Program transposition() { return make_program(TransposeAttributes{}, {kMatrix}); }

TEST(ProgramChanges, ConcernProductsAndTheirWeights) {
  const ProgramChanges changes{.fidelity = MathFidelity::lofi, .weights = DataType::bfloat8_b};
  Program changed = product();
  EXPECT_TRUE(changes.apply(changed));
  EXPECT_EQ(std::get<MatmulAttributes>(changed.attributes).compute.fidelity, MathFidelity::lofi);
  EXPECT_EQ(changed.inputs[0].spec.dtype, DataType::bfloat16);
  EXPECT_EQ(changed.inputs[1].spec.dtype, DataType::bfloat8_b);
  changed.inputs[1].spec.dtype = DataType::bfloat4_b;
  EXPECT_TRUE(changes.apply(changed));
  EXPECT_EQ(changed.inputs[1].spec.dtype, DataType::bfloat4_b) << "it is narrower already";
  Program sum = make_program(eltwise_of(Eltwise::add), {kMatrix, kMatrix});
  EXPECT_TRUE(changes.apply(sum));
  EXPECT_EQ(sum.inputs[1].spec.dtype, DataType::bfloat16);
}

TEST(ProgramChanges, LeaveOutWhatOnlyMoves) {
  const Work work{{.times = 2, .calls = {{"a", transposition()}, {"b", product()}}}};
  const Work rest = ProgramChanges{.movements = false}.applied_to(work);
  ASSERT_EQ(rest[0].calls.size(), 1U);
  EXPECT_EQ(rest[0].calls[0].part, "b");
  EXPECT_EQ(rest[0].times, 2);
  EXPECT_EQ(ProgramChanges{}.applied_to(work)[0].calls.size(), 2U);
}

/// Returns "what: reason" of each change that is not tried, line by line.
std::string untried(const ChangeablePrograms& programs, const harness::Parameters& point = {}) {
  std::string text;
  for (const harness::WhatIf& change : programs.what_ifs(point)) {
    if (change.candidates.empty()) text += change.what + ": " + change.reason + "\n";
  }
  return text;
}

TEST(ProgramChanges, ThatWouldChangeNothingAreNotTried) {
  ChangeablePrograms programs;
  EXPECT_EQ(untried(programs),
            "math fidelity HiFi2: it has no matrix product\n"
            "math fidelity LoFi: it has no matrix product\n"
            "weights in bfloat8_b: it has no matrix product\n"
            "without movements, at best: it has none\n");
  Program narrow = product();
  std::get<MatmulAttributes>(narrow.attributes).compute.fidelity = MathFidelity::lofi;
  narrow.inputs[1].spec.dtype = DataType::bfloat8_b;
  programs.add(narrow);
  programs.add(transposition());
  EXPECT_EQ(untried(programs),
            "math fidelity LoFi: its products have it already\n"
            "weights in bfloat8_b: they are in a block format already\n");
  programs.add(product());
  EXPECT_EQ(untried(programs), "");
  EXPECT_EQ(untried(programs, {{"movements", "none"}}),
            "without movements, at best: it is so already\n");
}

/// A served model and a recorded one are asked the same, and take the answers.
TEST(ProgramChanges, AreAxesOfModels) {
  struct Change {
    std::string what, axis, value;
  };
  const auto check = [](const std::string& name, const std::vector<harness::AxisOverride>& axes,
                        const std::vector<Change>& faster) {
    const auto experiment = make_experiment(name, built_in_box());
    const harness::PointResult usual = run_emulated(*experiment, axes).at(0);
    std::vector<std::string> tried;
    for (const harness::WhatIf& change : experiment->what_ifs(usual.parameters)) {
      if (!change.candidates.empty()) tried.push_back(change.what);
    }
    for (const auto& [what, axis, value] : faster) {
      EXPECT_NE(std::ranges::find(tried, what), tried.end()) << name << ": " << what;
      auto changed = axes;
      changed.push_back({axis, {value}});
      const harness::PointResult other = run_emulated(*experiment, changed).at(0);
      ASSERT_FALSE(other.skipped) << *other.skipped;
      EXPECT_FALSE(other.reference) << "nothing of the kind was published";
      EXPECT_LT(other.find_metric("time")->value, usual.find_metric("time")->value)
          << name << ": " << what;
    }
  };
  const Change lofi{"math fidelity LoFi", "fidelity", "LoFi"};
  const Change none{"without movements, at best", "movements", "none"};
  check("inference", {{"model", {"llama-3.2-1b"}}, {"machine", {"n150"}}, {"mode", {"accuracy"}}},
        {lofi, none});
  // The products of its recording are of LoFi.
  check("vision", {{"model", {"vit-base"}}, {"machine", {"n150"}}, {"queues", {"1"}}}, {none});
}

}  // namespace
}  // namespace howard::experiments
