// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/product_tuning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "engines/host/host_device.h"

namespace howard::host {
namespace {

namespace fs = std::filesystem;

/// All kinds in one way, which is not the fixed one on any CPU.
constexpr std::string_view kAllOne =
    "plain=one large_plain=one+gaps a_transposed=one large_a_transposed=two "
    "b_transposed=two+gaps large_b_transposed=one";

TEST(ProductTuning, TextIsReadBackAndAnythingElseIsAnError) {
  EXPECT_EQ(ProductTuning::parse(kAllOne).text(), kAllOne);
  EXPECT_EQ(ProductTuning::parse(ProductTuning().text()), ProductTuning());
  for (const std::string_view text : {"", "plain=one", "plain=three", "x"}) {
    EXPECT_THROW(ProductTuning::parse(text), Error) << text;
  }
  std::string last(kAllOne);
  last.back() = 'x';
  EXPECT_THROW(ProductTuning::parse(last), Error);
}

TEST(ProductTuning, AKindHasItsWayAndASmallProductTheFixedOne) {
  const ProductTuning tuning = ProductTuning::parse(kAllOne);
  MatmulShape shape{.m = 2048,
                    .k = 2048,
                    .n = 2048,
                    .transpose_a = true,
                    .a = DataType::float32,
                    .b = DataType::float32,
                    .bias = {}};
  EXPECT_EQ(tuning.way(shape), (ProductWay{.cut = ProductWay::Cut::two, .pads = false}));
  shape.transpose_a = false;
  EXPECT_EQ(tuning.way(shape), (ProductWay{.cut = ProductWay::Cut::one, .pads = true}));
  shape.m = shape.n = 16;
  shape.k = 100;
  EXPECT_EQ(tuning.way(shape), fixed_way());
}

TEST(ProductTuning, ADeviceTellsTheWaysItWasGivenOrTheFixedOnes) {
  EXPECT_EQ(HostDevice({.threads = 1}).product_ways(), ProductTuning().text());
  EXPECT_EQ(HostDevice({.threads = 1, .product_ways = std::string(kAllOne)}).product_ways(),
            kAllOne);
  EXPECT_THROW(HostDevice({.threads = 1, .product_ways = "plain=best"}), Error);
}

/// A cache folder of its own, which is removed at the end.
class ProductTuningFile : public testing::Test {
 protected:
  ProductTuningFile() { setenv("XDG_CACHE_HOME", folder_.c_str(), 1); }
  ~ProductTuningFile() override { fs::remove_all(folder_); }

  fs::path file() const { return folder_ / "howard" / "products.txt"; }

 private:
  fs::path folder_ = fs::path(testing::TempDir()) / ("howard_tuning_" + std::to_string(getpid()));
};

TEST_F(ProductTuningFile, KeepsWhatWasMeasuredForTheNextProcess) {
  const auto measure = [] { return ProductTuning::Measured{ProductTuning::parse(kAllOne), true}; };
  const auto never = []() -> ProductTuning::Measured {
    throw std::runtime_error("measured twice");
  };
  EXPECT_EQ(ProductTuning::kept_or_measured(1, measure).text(), kAllOne);
  EXPECT_EQ(ProductTuning::kept_or_measured(1, never).text(), kAllOne);
  const std::string kept = read_file(file());
  EXPECT_TRUE(kept.ends_with(": " + std::string(kAllOne) + "\n")) << kept;
  EXPECT_NE(kept.find("; 1 threads"), std::string::npos) << kept;
  EXPECT_THROW(ProductTuning::kept_or_measured(2, never), std::runtime_error);
  write_file(file(), "not a line\n" + kept);
  EXPECT_EQ(ProductTuning::kept_or_measured(1, never).text(), kAllOne);
}

TEST_F(ProductTuningFile, KeepsWhatIsNotSureOnceItHasComeTwice) {
  int measurements = 0;
  const auto kept_or = [&](const ProductTuning& disturbed) {
    return ProductTuning::kept_or_measured(1, [&] {
      ++measurements;
      return ProductTuning::Measured{disturbed, false};
    });
  };
  const ProductTuning all_one = ProductTuning::parse(kAllOne);
  EXPECT_EQ(kept_or(all_one), all_one);
  EXPECT_EQ(kept_or(ProductTuning()), ProductTuning());
  EXPECT_EQ(kept_or(all_one), all_one);
  EXPECT_EQ(measurements, 3);
  EXPECT_EQ(kept_or(all_one), all_one);
  EXPECT_EQ(kept_or(ProductTuning()), all_one);
  EXPECT_EQ(measurements, 4);
  EXPECT_EQ(read_file(file()).find("not sure"), std::string::npos);
}

TEST_F(ProductTuningFile, AllDevicesOfAProcessHaveTheSameWays) {
  const std::string measured = HostDevice({.threads = 1, .tunes_products = true}).product_ways();
  EXPECT_EQ(ProductTuning::parse(measured).text(), measured);
  fs::remove_all(file());
  EXPECT_EQ(HostDevice({.threads = 1, .tunes_products = true}).product_ways(), measured);
}

}  // namespace
}  // namespace howard::host
