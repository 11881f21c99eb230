// SPDX-License-Identifier: Apache-2.0
// These tests emulate calls as logs of language models have them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "profiler/silicon/call_facts.h"
#include "profiler/silicon/silicon_comparison.h"
#include "reports/findings/silicon_report.h"
#include "tests/profiler/silicon/damaged_calls.h"

namespace howard::profiler {
namespace {

using testing::compared;
using testing::kCallsHeader;
using testing::kNoTensor;
using testing::Row;
using testing::tensor;

const std::string kCache = "2[2],4[4],2048[2048],64[64],TILE,BFLOAT8_B,DEV_0_DRAM_INTERLEAVED";

/// Returns decode attention over a cache of 2048 places. `position` is what the log prints of it.
Row decode_attention(std::string_view position) {
  const std::string q = "1[1],2[2],32[32],64[64],TILE,BFLOAT16,DEV_0_L1_INTERLEAVED";
  return {.code = "SdpaDecodeDeviceOperation",
          .attributes = fmt::format("{{'is_causal': 'true'; 'cur_pos': '{}'}}", position),
          .worker_cores = "64",
          .input0 = q,
          .input1 = kCache,
          .output = q};
}

/// Returns the time of decode attention that sees so many places.
SimTime time_of(std::int64_t places) {
  return compared({decode_attention(fmt::format("SmallVector([{}])", places - 1))})
      .calls.at(0)
      .emulated;
}

std::string nanoseconds(SimTime time) { return fmt::to_string(time.ps() / 1000); }

TEST(LoggedPosition, IsTheOneThatTheTimeTellsWhereItIsATensor) {
  const SimTime at_256 = time_of(256);
  Row row = decode_attention("{}");
  row.kernel = nanoseconds(at_256);
  const SiliconComparison found = compared({row});
  ASSERT_EQ(found.calls.size(), 1U);
  EXPECT_TRUE(found.calls[0].by_its_time);
  EXPECT_EQ(found.calls[0].call, "decode_attention of 160") << "5 to 8 tiles are one chunk of 8";
  EXPECT_EQ(found.calls[0].emulated, at_256);
  row.kernel = "90000000";
  EXPECT_GE(compared({row}).calls.at(0).emulated, time_of(2048)) << "all, or nearly";
  row.kernel = "1";
  EXPECT_EQ(compared({row}).calls.at(0).emulated, time_of(32)) << "a tile at the least";
  EXPECT_FALSE(compared({decode_attention("{7}")}).calls.at(0).by_its_time);
}

TEST(LoggedPosition, IsFoundInALongCacheToo) {
  Row row = decode_attention("{}");
  row.input1 = "2[2],4[4],262144[262144],64[64],TILE,BFLOAT8_B,DEV_0_DRAM_INTERLEAVED";
  Row told = row;
  told.attributes = "{'is_causal': 'true'; 'cur_pos': '{77777}'}";
  const SimTime time = compared({told}).calls.at(0).emulated;
  row.kernel = nanoseconds(time);
  const SimTime found = compared({row}).calls.at(0).emulated;
  EXPECT_NEAR(found.seconds() / time.seconds(), 1, 0.002);
}

TEST(LoggedPosition, BeyondTheCacheSeesAllOfIt) {
  for (const char* const position : {"{2047}", "{99999}", "{9223372036854775807}"}) {
    EXPECT_EQ(compared({decode_attention(position)}).calls.at(0).emulated, time_of(2048))
        << position;
  }
}

TEST(LoggedPosition, IsThatOfTheMedianRun) {
  std::vector<Row> rows(3, decode_attention("{}"));
  rows[0].kernel = nanoseconds(time_of(2048));
  rows[1].kernel = nanoseconds(time_of(512));
  rows[2].kernel = nanoseconds(time_of(64));
  EXPECT_EQ(compared(rows).calls.at(0).emulated, time_of(512));
}

TEST(LoggedPosition, OfATimeSaysNothingOfTheEmulatorsError) {
  Row attention = decode_attention("{}");
  attention.kernel = "90000000";
  const SiliconComparison alone = compared({Row{}});
  const SiliconComparison both = compared({Row{}, attention});
  const reports::Table ops = reports::silicon_tables(both, "log", 5).at(0);
  const reports::Table only = reports::silicon_tables(alone, "log", 5).at(0);
  ASSERT_EQ(ops.rows.size(), 3U);
  EXPECT_EQ(ops.rows[0].cells[5].text, "-") << "of the attention, which takes longest";
  EXPECT_EQ(ops.rows[2].cells[5].text, only.rows.back().cells[5].text) << "of all";
  const harness::ExperimentResult result = reports::silicon_result(both, "log", {});
  EXPECT_TRUE(result.points.at(0).reference);
  EXPECT_FALSE(result.points.at(1).reference);
}

TEST(LoggedPosition, IsThatOfTheCallsTimeForAdviceToo) {
  CallEmulator emulator(chip::load_profiles());
  OpRow row;
  row.name = "SdpaDecodeDeviceOperation";
  const TensorCells q{.dimensions = {"1", "2", "32", "64"},
                      .layout = "TILE",
                      .datatype = "BFLOAT16",
                      .memory = "DEV_0_L1_INTERLEAVED"};
  TensorCells cache = q;
  cache.dimensions = {"2", "4", "2048", "64"};
  row.inputs = {q, cache, cache};
  row.outputs = {q};
  const auto all = emulator.run(row);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->places, 0) << "without a time all are seen";
  const auto least = emulator.run(row, nullptr, SimTime::nanoseconds(1));
  ASSERT_TRUE(least);
  EXPECT_EQ(least->places, 32);
  EXPECT_LT(least->kernel, all->kernel);
}

/// Returns what eight devices gather; `use` is what the log says of their links.
Row gather(std::string_view use) {
  return {.code = "AllGatherAsync",
          .attributes = fmt::format("{{'dim': '3'; 'ring_size': '8'; {}}}", use),
          .input0 = tensor(32, 1024),
          .input1 = kNoTensor,
          .output = tensor(32, 8192)};
}

TEST(LoggedCollectives, TakeTheirLinksTheirRingAndTheirWorkersAsTheLogSays) {
  const auto emulated = [](std::string_view use) {
    const SiliconComparison found = compared({gather(use)});
    EXPECT_EQ(found.calls.size(), 1U) << found.not_emulated.at(0).reason;
    return found.calls.at(0);
  };
  const ComparedCall line = emulated("'num_links': '1'; 'topology': 'ttnn::ccl::Topology::Linear'");
  const ComparedCall ring = emulated("'num_links': '1'; 'topology': 'ttnn::ccl::Topology::Ring'");
  const ComparedCall links = emulated("'num_links': '4'; 'topology': 'ttnn::ccl::Topology::Ring'");
  EXPECT_EQ(line.call, "all_gather line, 1 link");
  EXPECT_EQ(links.call, "all_gather ring, 4 links");
  EXPECT_LT(ring.emulated, line.emulated);
  EXPECT_LT(links.emulated, ring.emulated);
  const ComparedCall worker =
      emulated("'num_links': '1'; 'topology': 'Topology::Linear'; 'num_workers_per_link': '1'");
  EXPECT_GT(worker.emulated, line.emulated);
}

TEST(LoggedCollectives, AReduceScatterHasItsShareAsTheLastResult) {
  Row row = gather("'num_links': '1'; 'topology': 'Topology::Ring'");
  row.code = "ReduceScatterMinimalAsync";
  std::swap(row.input0, row.output);
  const SiliconComparison one = compared({row});
  ASSERT_EQ(one.calls.size(), 1U) << one.not_emulated.at(0).reason;
  EXPECT_EQ(one.calls[0].call, "reduce_scatter ring, 1 link");
  // Some versions list what is passed on before the share.
  std::string header(kCallsHeader);
  std::string more = header.substr(header.find("OUTPUT_0_W"));
  for (std::size_t at = more.find("_0_"); at != more.npos; at = more.find("_0_", at))
    more[at + 1] = '1';
  header.insert(header.size() - 1, "," + more.substr(0, more.size() - 1));
  std::string text = row.text();
  const std::string share = row.output;
  text.replace(text.find(share), share.size(), row.input0 + "," + share);
  header += text;
  TextBytes source(header);
  const SiliconComparison two = compare_with_silicon(source, "ops.csv", chip::load_profiles());
  ASSERT_EQ(two.calls.size(), 1U) << two.not_emulated.at(0).reason;
  EXPECT_EQ(two.calls[0].emulated, one.calls[0].emulated);
}

TEST(LoggedCollectives, TensorsThatAreNoShareOfEachOtherAreRefused) {
  Row row = gather("'num_links': '1'");
  row.output = tensor(64, 8192);
  EXPECT_NE(compared({row}).not_emulated.at(0).reason.find("a share"), std::string::npos);
  row = gather("'num_links': '1'");
  row.code = "AllReduceAsync";
  row.output = row.input0;
  EXPECT_EQ(compared({row}).calls.size(), 1U);
  row.attributes = "{}";
  EXPECT_NE(compared({row}).not_emulated.at(0).reason.find("ring_size"), std::string::npos);
}

TEST(LoggedAttention, TakesQueriesOfAnotherTypeThanItsKeysHave) {
  Row row{.code = "SDPAOperation",
          .attributes = "{'is_causal': 'false'}",
          .input0 = "1[1],8[8],256[256],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED",
          .input1 = "1[1],2[2],512[512],64[64],TILE,BFLOAT8_B,DEV_0_DRAM_INTERLEAVED",
          .output = "1[1],8[8],256[256],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED"};
  std::string header(kCallsHeader), text = row.text();
  std::string third = header.substr(header.find("INPUT_1_W"));
  third = third.substr(0, third.find("OUTPUT_0_W"));
  std::string columns = third;
  for (std::size_t at = columns.find("_1_"); at != columns.npos; at = columns.find("_1_", at))
    columns[at + 1] = '2';
  header.insert(header.find("OUTPUT_0_W"), columns);
  const std::size_t behind_keys = text.rfind(row.input1) + row.input1.size();
  text.insert(behind_keys, "," + row.input1);
  header += text;
  TextBytes source(header);
  const SiliconComparison found = compare_with_silicon(source, "ops.csv", chip::load_profiles());
  ASSERT_EQ(found.calls.size(), 1U) << found.not_emulated.at(0).reason;
}

}  // namespace
}  // namespace howard::profiler
