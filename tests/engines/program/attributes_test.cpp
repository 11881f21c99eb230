// SPDX-License-Identifier: Apache-2.0
#include "engines/program/attributes.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace howard {
namespace {

TEST(MathFidelity, NamesRoundTripInAnyLetterCase) {
  EXPECT_EQ(parse_math_fidelity("hifi2"), MathFidelity::hifi2);
  for (const auto fidelity :
       {MathFidelity::lofi, MathFidelity::hifi2, MathFidelity::hifi3, MathFidelity::hifi4}) {
    EXPECT_EQ(parse_math_fidelity(name_of(fidelity)), fidelity);
  }
  EXPECT_THROW(parse_math_fidelity("HiFi5"), Error);
  EXPECT_THROW(parse_math_fidelity(""), Error);
}

}  // namespace
}  // namespace howard
