// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/formats/log.h"

namespace howard::profiler {

/// Returns what was left out of a log, and why.
inline std::vector<std::string> reasons(const Log& log) {
  std::vector<std::string> texts;
  for (const auto& reason : log.dropped.reasons()) texts.push_back(describe(reason));
  return texts;
}

/// Fails the test unless a timeline has the programs of another one, in any order.
inline void expect_same_programs(const Timeline& timeline, const Timeline& expected) {
  ASSERT_EQ(timeline.programs.size(), expected.programs.size());
  for (const ProgramRun& wanted : expected.programs) {
    const auto found = std::ranges::find(timeline.programs, wanted.number, &ProgramRun::number);
    ASSERT_NE(found, timeline.programs.end());
    EXPECT_EQ(timeline.names.name(found->name), expected.names.name(wanted.name));
    EXPECT_EQ(found->queue, wanted.queue);
    EXPECT_EQ(found->sub_device, wanted.sub_device);
    EXPECT_EQ(found->kernel.start, wanted.kernel.start);
    EXPECT_EQ(found->kernel.end, wanted.kernel.end);
    ASSERT_TRUE(found->dispatch && found->host_call);
    EXPECT_EQ(found->dispatch->end, wanted.dispatch->end);
    EXPECT_EQ(found->host_call->end, wanted.host_call->end);
  }
}

}  // namespace howard::profiler
