// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/python_case.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <variant>

#include "engines/chip/profiles/profile.h"
#include "engines/host/openblas_kernels.h"
#include "engines/python/installation.h"

namespace howard::experiments {
namespace {

namespace fs = std::filesystem;
using harness::Case;
using harness::NotApplicable;

/// Has a folder and an environment of its own.
class PythonCaseTest : public testing::Test {
 protected:
  PythonCaseTest()
      : folder_(testing::TempDir() + "/python_case_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void SetUp() override {
    if (!python::find_installation()) GTEST_SKIP() << "there is no Python on this machine";
  }
  void TearDown() override {
    unsetenv("HOWARD_PYTHON");
    unsetenv("HOWARD_PYTHON_FOLDER");
    fs::remove_all(folder_);
  }

  /// Leaves out the compiled part of our package.
  void leave_the_module_out() {
    const fs::path scripts = python::find_installation()->folder;
    fs::create_directories(folder_ / "howard");
    for (const auto& entry : fs::directory_iterator(scripts.parent_path())) {
      if (entry.path().extension() != ".py") continue;
      fs::copy_file(entry.path(), folder_ / "howard" / entry.path().filename());
    }
    fs::copy(scripts, folder_ / "howard" / scripts.filename());
    setenv("HOWARD_PYTHON_FOLDER", (folder_ / "howard" / scripts.filename()).c_str(), 1);
  }

  /// Leaves out what is installed beside Python's own library.
  void leave_packages_out() {
    const fs::path wrapper = folder_ / "python";
    std::ofstream(wrapper) << "#!/bin/sh\nexec "
                           << python::find_installation()->interpreter.string() << " -S \"$@\"\n";
    fs::permissions(wrapper, fs::perms::owner_all);
    setenv("HOWARD_PYTHON", wrapper.c_str(), 1);
  }

  DevBox box_{chip::load_profiles(), {.threads = 1}, 1};

 private:
  fs::path folder_;
};

std::string reason(const PreparedCase& prepared) {
  const auto* const skipped = std::get_if<NotApplicable>(&prepared);
  return skipped == nullptr ? "" : skipped->reason;
}

TEST_F(PythonCaseTest, WithoutTheModuleThePointIsSkippedWithWhatToInstall) {
  leave_the_module_out();
  EXPECT_EQ(
      reason(python_mlp_on_host(box_, {})),
      "the Python module is not there (No module named 'howard._native'): install the packages "
      "python3-dev and pybind11-dev, then configure and build anew");
}

TEST_F(PythonCaseTest, WithoutPyTorchThePointIsSkippedWithWhatToInstall) {
  leave_packages_out();
  EXPECT_EQ(reason(torch_case(box_, {})),
            "PyTorch is not there (No module named 'torch'): install python3-torch");
}

/// Runs a step or two of the prepared case, and returns what it says about itself.
harness::PointResult run(Case& prepared) {
  const SimTime start = prepared.now();
  prepared.run();
  const SimTime first = prepared.now() - start;
  EXPECT_GT(first.ps(), 0);
  prepared.finish();
  prepared.run();
  prepared.finish();
  EXPECT_GT(prepared.now() - start, first);
  harness::PointResult point;
  prepared.describe(1, point);
  return point;
}

TEST_F(PythonCaseTest, TheEngineRunsOnTheHost) {
  PreparedCase prepared = python_mlp_on_host(box_, {.batch = 64, .width = 32});
  if (!reason(prepared).empty()) GTEST_SKIP() << reason(prepared);
  const harness::PointResult point = run(*std::get<std::unique_ptr<Case>>(prepared));
  ASSERT_NE(point.find_metric("loss"), nullptr);
  // All weights are 0.01 and x is 1, so predictions are 0.01 * 32 * 0.01 * 32 = 0.1, with targets
  // of 0.5.
  EXPECT_NEAR(point.find_metric("loss")->value, 0.16, 0.02);
  ASSERT_NE(point.find_detail("loss"), nullptr);
  EXPECT_TRUE(point.find_detail("loss")->ends_with(", falls; weights and data are its own"))
      << *point.find_detail("loss");
  ASSERT_NE(point.find_detail("device"), nullptr);
  EXPECT_EQ(*point.find_detail("device"), "host CPU, 1 thread");
}

TEST_F(PythonCaseTest, PyTorchRunsBothModelsInAllNumbers) {
  for (const TorchModel model : {TorchModel::mlp, TorchModel::gpt2}) {
    for (const TorchNumbers numbers :
         {TorchNumbers::fp32, TorchNumbers::autocast, TorchNumbers::pure_bf16}) {
      PreparedCase prepared = torch_case(
          box_, {.model = model, .batch = 1, .width = 64, .layers = 1, .numbers = numbers});
      if (!reason(prepared).empty()) GTEST_SKIP() << reason(prepared);
      const harness::PointResult point = run(*std::get<std::unique_ptr<Case>>(prepared));
      ASSERT_NE(point.find_detail("threads"), nullptr);
      EXPECT_EQ(*point.find_detail("threads"), "1");
    }
  }
}

// The test pytorch_is_held_to_avx2_with_the_engine runs this where the engine is held to AVX2.
TEST_F(PythonCaseTest, PyTorchsProductsUseTheInstructionSetOfTheEngine) {
  PreparedCase prepared = torch_case(box_, {.batch = 1, .width = 64});
  if (!reason(prepared).empty()) GTEST_SKIP() << reason(prepared);
  const harness::PointResult point = run(*std::get<std::unique_ptr<Case>>(prepared));
  ASSERT_NE(point.find_detail("blas"), nullptr);
  const std::string blas = *point.find_detail("blas");
  if (blas.find("kernels for") == std::string::npos) GTEST_SKIP() << blas << " does not say";
  const char* const kernels = host::openblas_kernels(host::best_instruction_set());
  EXPECT_TRUE(blas.ends_with(std::string("kernels for ") + kernels)) << blas;
}

}  // namespace
}  // namespace howard::experiments
