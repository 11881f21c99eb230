// SPDX-License-Identifier: Apache-2.0
#include "engines/host/products/product_tuning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

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

/// It runs in a process of its own, as ctest runs it, because a process measures only once.
TEST(ProductTuningFile, KeepsWhatWasMeasuredForTheNextProcess) {
  const fs::path folder =
      fs::path(testing::TempDir()) / ("howard_tuning_" + std::to_string(getpid()));
  ASSERT_EQ(setenv("XDG_CACHE_HOME", folder.c_str(), 1), 0);
  const std::string measured = HostDevice({.threads = 1, .tunes_products = true}).product_ways();
  const std::string kept = read_file(folder / "howard" / "products.txt");
  EXPECT_TRUE(kept.ends_with(": " + measured + "\n")) << kept;
  EXPECT_EQ(ProductTuning::parse(measured).text(), measured);
  // Another number of threads is another machine; its line is there already.
  const std::string machine = kept.substr(0, kept.rfind(": "));
  const std::size_t count = machine.find("; 1 threads");
  ASSERT_NE(count, std::string::npos) << machine;
  std::string two = machine;
  two.replace(count, 11, "; 2 threads");
  write_file(folder / "howard" / "products.txt",
             "not a line\n" + two + ": " + std::string(kAllOne));
  WorkerPool pool(2);
  EXPECT_EQ(ProductTuning::of_machine(pool).text(), kAllOne);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace howard::host
