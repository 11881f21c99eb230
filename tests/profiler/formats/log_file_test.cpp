// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "profiler/formats/csv/packed_source.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/formats/raw/raw_ops.h"
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
  EXPECT_NE(failure("hello\nworld").find("its first line is 'hello'"), std::string::npos);
  EXPECT_NE(failure(std::string("\0\1\2", 3)).find("it is no text"), std::string::npos);
}

TEST(LogFile, AFolderAndAMissingFileAreErrors) {
  EXPECT_THROW(FileSource("/"), Error);
  EXPECT_THROW(FileSource("/no/such/file"), Error);
}

/// Two programs of one op as tt-metal's raw files have them: a whole message, and a short one.
const std::string kMessages =
    "MessageName;total_ns\n"
    "`TT_DNN_DEVICE_OP: \"Matmul\", 77, 0, 1024 ->\n"
    "{\"op_code\": \"Matmul\", \"global_call_count\": 1024, \"device_id\": 0, \"op_hash\": 77,\n"
    "\"attributes\": {\"transpose_a\": \"false\"}, \"input_tensors\": [{\"dtype\": \"BFLOAT16\", "
    "\"layout\": \"TILE\", \"shape\": {\"W\": \"1\", \"Z\": \"1\", \"Y\": \"64\", \"X\": \"96\"}, "
    "\"storage_type\": {\"device_id\": 0, \"memory_config\": {\"buffer_type\": \"DRAM\", "
    "\"memory_layout\": \"INTERLEAVED\"}}}]}`;5000\n"
    "TT_DNN_DEVICE_OP: Matmul, 77, 0, 2048;9000\n";
const std::string kTimes =
    "name,src_file,src_line,zone_text,ns_since_start,exec_time_ns,thread\n"
    "TT_DNN_OP,f,1,id:1024,5000,700,1\nTT_DNN_OP,f,1,id:2048,9000,300,1\n";
const std::string kDevices =
    "GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,DEVICE KERNEL DURATION [ns]\n"
    "1024,0,wormhole_b0,Matmul,64,4000\n2048,0,wormhole_b0,Matmul,64,4100\n";

TEST(LogFile, RawFilesMakeAnOpsCsv) {
  for (const std::string& file : {kMessages, kTimes, kDevices}) {
    EXPECT_EQ(detect_kind(file, ""), LogKind::raw_ops);
  }
  const auto log_of = [](const RawFiles& files) {
    ToldCalls told;
    const std::string csv = read_raw_files(files, "raw", told);
    TextBytes source(csv);
    return read_ops_csv(source, "raw", {.tensors = Tensors::read, .told = &told});
  };
  const Log log = log_of({.ops = kMessages, .times = kTimes, .devices = kDevices});
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].timeline.programs.size(), 2U);
  ASSERT_EQ(log.calls.size(), 1U) << "the short message means the call of the same hash";
  EXPECT_EQ(log.calls.row(1).attributes, "{'transpose_a': 'false'}");
  ASSERT_EQ(log.calls.row(1).inputs.size(), 1U);
  EXPECT_EQ(log.calls.row(1).inputs[0].memory, "DEV_0_DRAM_INTERLEAVED");
  const Log host = log_of({.ops = kMessages, .times = kTimes, .devices = ""});
  ASSERT_EQ(host.runs.size(), 1U);
  ASSERT_EQ(host.runs[0].host_ops.size(), 1U);
  EXPECT_EQ(host.runs[0].host_ops[0].time, SimTime::nanoseconds(1'000));
}

TEST(LogFile, TheReportOfTtPerfReportIsReadWithItsProducts) {
  const std::string report =
      "ID,Total %,Bound,OP Code,Device,Device Time,Op-to-Op Gap,Cores,DRAM,DRAM %,FLOPs,FLOPs "
      "%,Math Fidelity,Output Datatype,Input 0 Datatype,Input 1 Datatype,DRAM Sharded,Input 0 "
      "Memory,Inner Dim Block Size,Global Call Count\n"
      "1,50,SLOW,MatmulDeviceOperation 32 x 2048 x "
      "3072,3,31.663,0.643,12,198.7,38.81,12.7,38.3,HiFi2 BF16 x BFP8 => "
      "BF16,BFLOAT16,BFLOAT16,BFLOAT8_B,True,DEV_0_L1_WIDTH_SHARDED,2,43011.0\n"
      "2,50,,LayerNormDeviceOperation,3,5.247,0.5,32,,,,,BF16 => "
      "BF16,BFLOAT16,BFLOAT16,nan,False,DEV_0_L1_WIDTH_SHARDED,,44035.0\n";
  ASSERT_EQ(detect_kind(report, ""), LogKind::perf_report);
  TextBytes source(report);
  const Log log = read_log(LogKind::perf_report, source, "report.csv", {.tensors = Tensors::read});
  ASSERT_EQ(log.runs.size(), 1U);
  ASSERT_EQ(log.calls.size(), 2U);
  const OpRow& product = log.calls.row(1);
  EXPECT_EQ(product.name, "MatmulDeviceOperation");
  EXPECT_EQ(product.fidelity, "HiFi2");
  EXPECT_EQ(product.architecture, "blackhole") << "by the peak of its DRAM";
  ASSERT_EQ(product.inputs.size(), 2U);
  EXPECT_EQ(product.inputs[1].dimensions[2], "2048");
  EXPECT_NE(product.attributes.find("DRAMShardedProgramConfig(in0_block_w=2;per_core_M=1;"
                                    "per_core_N=12;"),
            std::string_view::npos)
      << product.attributes;
  EXPECT_EQ(log.runs[0].timeline.programs.at(0).kernel.duration(), SimTime::nanoseconds(31'663));
}

/// Holds the members of an archive: names and texts.
using Members = std::vector<std::pair<std::string, std::string>>;

/// Returns the bytes that libarchive writes of members, by its filter and format.
std::string packed(const Members& members, int filter, int format) {
  std::string bytes;
  archive* const writer = archive_write_new();
  archive_write_add_filter(writer, filter);
  archive_write_set_format(writer, format);
  archive_write_set_bytes_in_last_block(writer, 1);
  const auto write = [](archive*, void* to, const void* buffer, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(buffer), size);
    return static_cast<la_ssize_t>(size);
  };
  EXPECT_EQ(archive_write_open(writer, &bytes, nullptr, write, nullptr), ARCHIVE_OK);
  for (const auto& [name, text] : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(text.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
    archive_write_data(writer, text.data(), text.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

std::string unpacked(const std::string& bytes, const std::string& member = {}) {
  TextBytes compressed(bytes);
  PackedSource source(compressed, "log.csv.gz", member);
  std::string text;
  std::array<char, 7> some{};
  while (const std::size_t size = source.read(some)) text.append(some.data(), size);
  return text;
}

TEST(LogFile, WhatIsCompressedIsReadAndDamageIsSaid) {
  for (const int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_XZ}) {
    const std::string bytes = packed({{"log.csv", kOpsCsv}}, filter, ARCHIVE_FORMAT_RAW);
    EXPECT_TRUE(is_packed(bytes));
    EXPECT_EQ(unpacked(bytes), kOpsCsv);
    const std::string half = bytes.substr(0, bytes.size() / 2);
    EXPECT_NE(error_of([&] { static_cast<void>(unpacked(half)); }), "") << filter;
  }
  const std::string gzip = packed({{"log.csv", kOpsCsv}}, ARCHIVE_FILTER_GZIP, ARCHIVE_FORMAT_RAW);
  EXPECT_EQ(unpacked(gzip + gzip), kOpsCsv + kOpsCsv);
  EXPECT_FALSE(is_packed(kOpsCsv));
}

TEST(LogFile, AnArchiveHasMembersOfWhichOneIsRead) {
  const Members members{{"reports/notes.txt", "nothing"}, {"reports/ops.csv", kOpsCsv}};
  for (const auto& [filter, format] : {std::pair{ARCHIVE_FILTER_GZIP, ARCHIVE_FORMAT_TAR_USTAR},
                                       {ARCHIVE_FILTER_NONE, ARCHIVE_FORMAT_TAR_USTAR},
                                       {ARCHIVE_FILTER_NONE, ARCHIVE_FORMAT_ZIP}}) {
    const std::string bytes = packed(members, filter, format);
    ASSERT_TRUE(is_packed(bytes));
    TextBytes source(bytes);
    PackedSource archive(source, "logs");
    EXPECT_TRUE(archive.is_archive());
    EXPECT_EQ(archive.members(),
              (std::vector<std::string>{"reports/notes.txt", "reports/ops.csv"}));
    EXPECT_EQ(unpacked(bytes, "reports/ops.csv"), kOpsCsv);
    EXPECT_NE(error_of([&] { static_cast<void>(unpacked(bytes, "b")); }).find("it has no b"),
              std::string::npos);
  }
}

TEST(LogFile, TheNewestLogWithNamesComesFirst) {
  EXPECT_TRUE(is_profilers_log("a/ops_perf_results_2026_07_01.csv"));
  EXPECT_FALSE(is_profilers_log("a/notes.csv"));
  EXPECT_LT(log_rank("z/profile_log_device.csv"), log_rank("a/ops_perf_results_2026_07_01.csv"));
  EXPECT_LT(log_rank("ops_perf_results_2026_06_30.csv"),
            log_rank("ops_perf_results_2026_07_01.csv"));
}

/// The columns of the streaming profiler that mean something here.
constexpr std::string_view kStreamedHeader =
    "DEVICE ID,GLOBAL CALL COUNT,EXECUTION,CORE COUNT,DEVICE KERNEL START CYCLE,"
    "DEVICE KERNEL END CYCLE,DEVICE KERNEL DURATION [ns],DEVICE KERNEL DURATION DM START [ns]\n";
const std::string kStreamed = std::string(kStreamedHeader) +
                              "0,1024,1,64,135000,148500,10000,9990\n"
                              "0,2048,1,8,162000,175500,10000,9990\n"
                              "0,1024,2,64,270000,283500,10000,9990\n";

TEST(LogFile, TheStreamingProfilersCsvHasKernelsAndTrueGaps) {
  ASSERT_EQ(detect_kind(kStreamed, ""), LogKind::streamed_ops);
  TextBytes source(kStreamed);
  const Log log = read_log(LogKind::streamed_ops, source, "/nowhere/stream.csv");
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].devices.at(0).clock, Frequency(1'350'000'000)) << "of its cycles";
  const auto& programs = log.runs[0].timeline.programs;
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0].kernel.duration(), SimTime::microseconds(10));
  EXPECT_EQ(programs[1].kernel.start - programs[0].kernel.end, SimTime::microseconds(10));
  EXPECT_EQ(programs[0].replay, 0U);
  EXPECT_EQ(programs[2].replay, 2U) << "the call ran again";
}

TEST(LogFile, TheStreamingProfilersOpsAreNamedByTheLogBesideIt) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       ("howard_streaming_profiler_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  write_file(folder / "ops_perf_results_2026_09_30.csv", kOpsCsv);
  TextBytes source(kStreamed);
  const Log log = read_log(LogKind::streamed_ops, source, (folder / "stream.csv").string(),
                           {.tensors = Tensors::read});
  const Timeline& timeline = log.runs.at(0).timeline;
  ASSERT_EQ(timeline.programs.size(), 3U);
  EXPECT_EQ(timeline.names.name(timeline.programs[0].name), "Matmul");
  EXPECT_EQ(timeline.names.name(timeline.programs[1].name), "Softmax");
  EXPECT_EQ(log.calls.row(timeline.programs[0].call).inputs.at(0).dimensions[3], "64[64]");
  std::filesystem::remove_all(folder);
}

TEST(LogFile, RecordsOfTheRealTimeProfilerAreALineEach) {
  const std::string records =
      "{\"runtime_id\": 7, \"chip_id\": 1, \"start\": 1350, \"end\": 14850, \"frequency\": 1.35, "
      "\"kernel_sources\": [\"a/dataflow/reader.cpp\", \"a/compute/bmm_large.cpp\"]}\n"
      "{\"program_id\": 8, \"chip_id\": 1, \"start_timestamp\": 28350, \"end_timestamp\": 29700, "
      "\"frequency\": 1.35}\n"
      "{\"lost\": 3}\n"
      "{\"runtime_id\": 9, \"start\": 9, \"end\": 1, \"frequency\": 1}\n"
      "nonsense\n"
      "{\"runtime_id\": 10, \"start\": 31";
  ASSERT_EQ(detect_kind(records, ""), LogKind::realtime);
  TextBytes source(records);
  const Log log = read_log(LogKind::realtime, source, "records.jsonl");
  ASSERT_EQ(log.runs.size(), 1U);
  const Timeline& timeline = log.runs[0].timeline;
  ASSERT_EQ(timeline.programs.size(), 2U);
  EXPECT_EQ(timeline.programs[0].kernel.duration(), SimTime::microseconds(10));
  EXPECT_EQ(timeline.programs[0].device, 1);
  EXPECT_EQ(timeline.names.name(timeline.programs[0].name), "bmm_large");
  EXPECT_EQ(timeline.programs[1].kernel.start - timeline.programs[0].kernel.end,
            SimTime::microseconds(10));
  EXPECT_EQ(log.dropped.count(), 6U) << "three lost, and three that mean nothing";
  EXPECT_NE(std::ranges::find(log.notes, "the file ends within a record"), log.notes.end());
}

}  // namespace
}  // namespace howard::profiler
