// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <gtest/gtest.h>

#include <new>

namespace howard {
namespace {

TEST(Error, TextHasAllFourParts) {
  const Error error({.attempted = "read axis shape",
                     .value = "'abc'",
                     .accepted = "N or MxKxN",
                     .hint = "-a shape=1024"});
  EXPECT_STREQ(error.what(),
               "cannot read axis shape: 'abc'; accepted: N or MxKxN; try -a shape=1024");
}

TEST(Error, EmptyPartsAreLeftOut) {
  const Error error({.attempted = "open F", .value = "no such file"});
  EXPECT_STREQ(error.what(), "cannot open F: no such file");
}

TEST(Error, ReasonsAreTheFailuresOwnWords) {
  EXPECT_EQ(reason_of(Error({.attempted = "open F", .value = "no such file"})),
            "cannot open F: no such file");
}

TEST(Error, AReasonSaysWhatHelpsWhenThereIsNoMemory) {
  EXPECT_EQ(reason_of(std::bad_alloc()),
            "the system has no memory left; try smaller shapes, or fewer --threads");
}

}  // namespace
}  // namespace howard
