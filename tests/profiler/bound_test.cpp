// SPDX-License-Identifier: Apache-2.0
#include "profiler/bound.h"

#include <gtest/gtest.h>

namespace howard::profiler {
namespace {

TEST(Bound, IsDispatchWhereTheDispatcherSetsThePace) {
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 9, .dispatcher = 9.7, .kernel_word = "math"}),
            "dispatch");
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 9, .dispatcher = 9.6, .kernel_word = "math"}),
            "math");
}

TEST(Bound, KernelsThatRunForHalfOfTheTimeAreWhatItIsBoundBy) {
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 5, .kernel_word = "unpack"}), "unpack");
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 4.9, .kernel_word = "unpack"}), "dispatch");
}

TEST(Bound, AHostThatNeverWaitsSetsThePaceWhateverTheKernelsFill) {
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 9, .host = 9.7, .kernel_word = "math"}), "host");
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 9, .host = 9.6, .kernel_word = "math"}), "math");
}

TEST(Bound, ChipsThatWaitForEachOtherForHalfOfTheTimeAreBoundByTheExchange) {
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 10, .exchange = 5, .kernel_word = "math"}),
            "exchange");
  EXPECT_EQ(bound_by({.whole = 10, .kernels = 10, .exchange = 4, .kernel_word = "math"}), "math");
}

}  // namespace
}  // namespace howard::profiler
