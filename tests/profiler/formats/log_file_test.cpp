// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log_file.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "tests/error_of.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

std::string failure(std::string_view beginning) {
  return error_of([&] { detect_kind(beginning, "file"); });
}

TEST(LogFile, TheKindIsToldByTheContent) {
  const std::vector<TimelineEvent> events = sample_events();
  const TraceProcess process{.name = "point", .events = events};
  EXPECT_EQ(detect_kind(kOpsCsv, ""), LogKind::ops_csv);
  EXPECT_EQ(detect_kind("\xef\xbb\xbf" + kOpsCsv, ""), LogKind::ops_csv);
  EXPECT_EQ(detect_kind("DEVICE ID,OP CODE\r\n", ""), LogKind::ops_csv);
  EXPECT_EQ(detect_kind(kDeviceLog, ""), LogKind::device_log);
  EXPECT_EQ(detect_kind(chrome_trace({&process, 1}).json, ""), LogKind::chrome_trace);
  EXPECT_EQ(detect_kind(kForeignTrace, ""), LogKind::chrome_trace);
  EXPECT_EQ(detect_kind(perfetto_trace({&process, 1}), ""), LogKind::perfetto_trace);
  EXPECT_EQ(detect_kind("\n{\"traceEvents\": []}", ""), LogKind::chrome_trace);
  EXPECT_EQ(detect_kind(" [{\"schema\": \"howard.result/1\"}]", ""), LogKind::result);
}

TEST(LogFile, WhatCanNotBeReadIsSaidToBeWhatItIs) {
  EXPECT_NE(failure("").find("the file is empty"), std::string::npos);
  EXPECT_NE(failure("\x1f\x8b\x08").find("try gunzip"), std::string::npos);
  EXPECT_NE(failure("PK\x03\x04").find("zip"), std::string::npos);
  EXPECT_NE(failure("hello\nworld").find("its first line is 'hello'"), std::string::npos);
  EXPECT_NE(failure(std::string("\0\1\2", 3)).find("it is no text"), std::string::npos);
}

TEST(LogFile, AFolderAndAMissingFileAreErrors) {
  EXPECT_THROW(FileSource("/"), Error);
  EXPECT_THROW(FileSource("/no/such/file"), Error);
}

}  // namespace
}  // namespace howard::profiler
