// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profiler/formats/csv/gzip_source.h"
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
  EXPECT_NE(failure("\x28\xb5\x2f\xfd").find("try unzstd"), std::string::npos);
  EXPECT_NE(failure("PK\x03\x04").find("zip"), std::string::npos);
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

/// Returns `text` as gzip stores it.
std::string gzipped(std::string_view text) {
  std::string packed(text.size() + 100, '\0');
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS, kMemory = 8;
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY);
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(LogFile, WhatGzipCompressedIsReadAndDamageIsSaid) {
  const std::string packed = gzipped(kOpsCsv);
  EXPECT_TRUE(is_gzip(packed));
  const auto unpacked = [](const std::string& bytes) {
    TextBytes compressed(bytes);
    GzipSource source(compressed, "log.csv.gz");
    std::string text;
    std::array<char, 7> some{};
    while (const std::size_t size = source.read(some)) text.append(some.data(), size);
    return text;
  };
  EXPECT_EQ(unpacked(packed), kOpsCsv);
  EXPECT_EQ(unpacked(packed + packed), kOpsCsv + kOpsCsv);
  EXPECT_NE(error_of([&] {
              static_cast<void>(unpacked(packed.substr(0, packed.size() / 2)));
            }).find("ends within compressed data"),
            std::string::npos);
}

}  // namespace
}  // namespace howard::profiler
