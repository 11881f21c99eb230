// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/work_tuning.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "engines/program/fields.h"
#include "engines/workload/ttnn_module.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/questions/work_tuning_report.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

TunedWork work_of(std::string_view experiment, harness::Parameters given) {
  const auto own = make_experiment(experiment, built_in_box());
  std::vector<harness::AxisOverride> axes;
  for (const auto& [axis, value] : given) axes.push_back({axis, {value}});
  const auto points = harness::plan_points(
      *own, {.backends = {harness::Backend::emulated}, .overrides = std::move(axes)});
  return {[=](const Box& box) { return make_experiment(experiment, box); },
          points.front().parameters};
}

/// A list of ops in a file: a product, with what is said of it, between two other ops.
class ListOfOps {
 public:
  explicit ListOfOps(const std::string& product, const std::string& tensors = kTensors) {
    write_file(file_, R"({"schema": "howard.ops/1", "tensors": {)" + tensors + R"(}, "steps": [
  {"repeat": 3, "steps": [
    {"op": "gelu", "in": "x", "out": "x"},
    {"op": "matmul", "in": ["x", "w"], "out": "y")" +
                          product + R"(},
    {"op": "gelu", "in": "y", "out": "y"}]}]})");
  }
  ~ListOfOps() { std::filesystem::remove(file_); }

  TunedWork work() const { return work_of("workload", {{"file", file_.string()}}); }
  SimTime time() const {
    const auto own = make_experiment("workload", built_in_box());
    const auto points = run_emulated(*own, {{"file", {file_.string()}}});
    EXPECT_FALSE(points.front().skipped) << *points.front().skipped;
    return points.front().find_metric("time")->virtual_time.value();
  }

  static constexpr const char* kTensors =
      R"("x": "1024x1024", "w": "1024x1024", "y": "1024x1024 empty")";

 private:
  std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      fmt::format("{}.json", ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(WorkTuning, TheGainOfTheWholeIsThatOfTheWorkWithTheConfiguration) {
  const ListOfOps own("");
  const WorkTuning tuning = tune(built_in_box(), own.work(), 2);
  const SimTime time = own.time();
  EXPECT_EQ(tuning.time, time);
  ASSERT_EQ(tuning.calls.size(), 1U);
  const TunedCall& call = tuning.calls[0];
  EXPECT_EQ(call.calls, 3);
  EXPECT_EQ(call.program.name, "matmul");
  EXPECT_GT(call.gain(), 1 + call.best.error);
  const ListOfOps changed(
      fmt::format(R"(, "fidelity": "HiFi2", "config": "{}")", arguments_text(call.best)));
  EXPECT_EQ(call.best.whole, changed.time());
  EXPECT_EQ(tuning.best_time, changed.time());
  EXPECT_EQ(call.now.whole, time);
  EXPECT_LT(tuning.best_time, time);
}

TEST(WorkTuning, TheTimeOfACallIsTheEmulatorsOwn) {
  const ListOfOps own("");
  const WorkTuning tuning = tune(built_in_box(), own.work(), 2);
  ASSERT_EQ(tuning.calls.size(), 1U);
  const TunedCall& call = tuning.calls[0];
  const auto chip = built_in_box()->open_chip();
  Program program = call.program;
  EXPECT_EQ(kernel_time_of(*chip, program), call.now.time);
  program.attributes = call.best.attributes;
  EXPECT_EQ(kernel_time_of(*chip, program), call.best.time);
}

TEST(WorkTuning, LeavesOutWhatGainsLessThanItsError) {
  // ttnn's own choice of these sizes is nearly the best.
  const ListOfOps own("", R"("x": "512x512", "w": "512x512", "y": "512x512 empty")");
  const WorkTuning tuning = tune(built_in_box(), own.work(), 2);
  for (const TunedCall& call : tuning.calls) {
    EXPECT_GE(1 - call.best.time.seconds() / call.now.time.seconds(), call.best.error);
  }
  EXPECT_EQ(tuning.calls.size() + tuning.below_error + tuning.best_already, tuning.distinct);
  if (tuning.calls.empty()) {
    EXPECT_EQ(tuning.best_time, tuning.time);
  }
}

TEST(WorkTuning, ASmallProductMayRunOnOneCore) {
  const PlacedCall call{
      .program = make_program(MatmulAttributes{},
                              {TensorSpec{.shape = {32, 32}}, TensorSpec{.shape = {32, 32}}}),
      .grid = {8, 7},
      .l1_free = Bytes(1'000'000)};
  const auto best = fastest_arguments(call, chip::load_profiles(), 1, 1);
  ASSERT_EQ(best.size(), 1U);
  const auto& product = std::get<MatmulAttributes>(best[0].attributes);
  ASSERT_TRUE(product.config);
  EXPECT_EQ(product.config->per_core_m * product.config->per_core_n, 1);
}

TEST(WorkTuning, OtherOpsHaveArgumentsToo) {
  const TensorSpec q{.shape = {1, 8, 1024, 64}};
  AttentionAttributes attention{.causal = true};
  const PlacedCall call{
      .program = make_program(attention, {q, q, q}), .grid = {8, 7}, .l1_free = Bytes(1'300'000)};
  const auto best = fastest_arguments(call, chip::load_profiles(), 3, 1);
  ASSERT_FALSE(best.empty());
  const auto& other = std::get<AttentionAttributes>(best[0].attributes);
  EXPECT_TRUE(other.causal);
  EXPECT_GT(other.query_chunk, attention.query_chunk);
  EXPECT_TRUE(has_other_arguments(attention));
  EXPECT_FALSE(has_other_arguments(eltwise_of(Eltwise::gelu)));
}

TEST(WorkTuning, AServedModelIsTunedWhereItsTensorsAre) {
  const TunedWork work = work_of(
      "inference",
      {{"model", "llama-3.2-1b"}, {"machine", "n150"}, {"mode", "performance"}, {"batch", "32"}});
  const WorkTuning tuning = tune(built_in_box(), work, 2);
  EXPECT_EQ(tuning.experiment, "inference");
  EXPECT_GT(tuning.distinct, 4U);
  for (const TunedCall& call : tuning.calls) {
    EXPECT_LT(call.best.time, call.now.time) << call_text(call);
    EXPECT_LE(call.best.whole, tuning.time) << call_text(call);
  }
  EXPECT_LE(tuning.best_time, tuning.time);
}

TEST(WorkTuning, WhatHasNoCallOfTheKindIsRefused) {
  const auto refusal = [](const TunedWork& work) {
    return error_of([&] { static_cast<void>(tune(built_in_box(), work, 1)); });
  };
  EXPECT_NE(refusal(work_of("op_list", {{"ops", "64x64/gelu"}, {"engine", "dynamic"}}))
                .find("none of its calls has a configuration"),
            std::string::npos);
  EXPECT_NE(refusal(work_of("parallel", {})).find("no iterations"), std::string::npos);
}

TEST(WorkTuning, TheJsonHasTheFieldsOfTheRegistrysKeys) {
  const ListOfOps own("");
  const WorkTuning tuning = tune(built_in_box(), own.work(), 2);
  const auto json = nlohmann::json::parse(work_tuning_json(tuning, "ops.json", {}));
  EXPECT_EQ(json["schema"], "howard.tuned/1");
  EXPECT_EQ(json["picoseconds"], tuning.time.ps());
  const auto& entry = json["entries"].at(0);
  for (const char* const field : {"schema_version",
                                  "architecture",
                                  "compute_grid_x",
                                  "compute_grid_y",
                                  "device_count",
                                  "mesh_rows",
                                  "mesh_cols",
                                  "domain",
                                  "m",
                                  "k",
                                  "n",
                                  "padded_m",
                                  "padded_k",
                                  "padded_n",
                                  "has_bias",
                                  "has_activation",
                                  "transpose_a",
                                  "transpose_b",
                                  "bcast_batch",
                                  "run_batched",
                                  "untilize_out"}) {
    EXPECT_TRUE(entry["key"].contains(field)) << field;
  }
  EXPECT_EQ(entry["key"]["architecture"], 2);
  EXPECT_EQ(entry["key"]["input_a"]["buffer_type"], "dram");
  EXPECT_EQ(entry["key"]["input_b"]["dtype"], "bfloat16");
  EXPECT_EQ(entry["recipe"]["compute_kernel_config"]["math_fidelity"], "HiFi2");
  EXPECT_TRUE(entry["recipe"]["program_config"].contains("in0_block_w"));
  EXPECT_EQ(entry["prediction"]["candidate_ns"].get<double>() * 1e3,
            static_cast<double>(tuning.calls[0].best.time.ps()));
}

TEST(WorkTuning, TheModuleReaderTakesTheAttributesOfTtMlir) {
  const ListOfOps own("");
  const WorkTuning tuning = tune(built_in_box(), own.work(), 2);
  const std::string text = work_tuning_mlir(tuning, "ops.json");
  const std::size_t at = text.find("matmul_program_config = ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string attribute = text.substr(at, text.find('\n', at) - at);
  const std::string type =
      "tensor<1024x1024xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
      "memref<32x32x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>";
  workload::ModuleNotes notes;
  const workload::Workload made = workload::workload_of_module(
      fmt::format("module {{ func.func @f(%0: {0}, %1: {0}) -> {0} {{\n"
                  "%2 = \"ttnn.matmul\"(%0, %1) <{{{1}, transpose_a = false, transpose_b = false}}>"
                  " : ({0}, {0}) -> {0}\nreturn %2 : {0} }} }}",
                  type, attribute),
      "f", notes);
  ASSERT_EQ(made.ops.size(), 1U);
  const Attributes read = parse_attributes("matmul", made.ops[0].attributes);
  EXPECT_EQ(std::get<MatmulAttributes>(read).config, config_of(*tuning.calls[0].best.matmul));
}

}  // namespace
}  // namespace howard::experiments
