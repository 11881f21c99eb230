// SPDX-License-Identifier: Apache-2.0
// Rows of logs for the ops that choose tokens, and for products that exchange something.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/profiler/silicon/damaged_calls.h"

namespace howard::profiler {
namespace {

using testing::call_of;
using testing::kNoTensor;
using testing::Row;
using testing::tensor;

/// Returns why a row is not emulated; empty if it is.
std::string reason_of(const Row& row) {
  const ComparedCall call = call_of(row);
  return call.code.empty() ? call.call : "";
}

/// Returns the cells of rows of a row-major tensor.
std::string rows_of(int rows, int columns, std::string_view dtype) {
  return fmt::format("1[1],1[1],{0}[{0}],{1}[{1}],ROW_MAJOR,{2},DEV_0_DRAM_INTERLEAVED", rows,
                     columns, dtype);
}

TEST(LoggedChoice, IsEmulatedAsMeasured) {
  struct Choice {
    Row row;
    std::int64_t nanoseconds;
    double error;
  };
  // The times are of Falcon3-3B on an N150, and of Llama-3.3-70B on a chip of a Galaxy.
  const std::vector<Choice> choices{
      {{.code = "ArgMaxDeviceOperation",
        .attributes = "{'dim': '3'; 'keepdim': 'false'; 'use_multicore': 'true'}",
        .worker_cores = "64",
        .input0 = rows_of(32, 131072, "BFLOAT16"),
        .input1 = kNoTensor,
        .output = rows_of(1, 32, "UINT32")},
       2'624'022,
       0.05},
      {{.code = "UntilizeDeviceOperation",
        .worker_cores = "64",
        .input0 = tensor(32, 131072),
        .input1 = kNoTensor,
        .output = rows_of(32, 131072, "BFLOAT16")},
       118'797,
       0.25},
      {{.code = "TopK",
        .attributes = "{'dim': '-1'; 'k': '32'; 'largest': 'true'; 'sorted': 'true'}",
        .worker_cores = "64",
        .input0 = tensor(32, 16032),
        .input1 = kNoTensor,
        .output = tensor(32, 32),
        .cores = "33"},
       179'980,
       0.1},
      {{.code = "Sampling",
        .worker_cores = "64",
        .input0 = tensor(32, 256),
        .input1 = rows_of(32, 256, "INT32"),
        .output = rows_of(1, 32, "UINT32")},
       67'651,
       0.1}};
  for (const auto& [row, nanoseconds, error] : choices) {
    const ComparedCall call = call_of(row);
    ASSERT_FALSE(call.code.empty()) << row.code << ": " << call.call;
    EXPECT_NEAR(static_cast<double>(call.emulated.ps()) / 1000.0, static_cast<double>(nanoseconds),
                error * static_cast<double>(nanoseconds))
        << row.code;
  }
  EXPECT_EQ(reason_of({.code = "PlusOne",
                       .input0 = rows_of(1, 32, "INT32"),
                       .input1 = kNoTensor,
                       .output = rows_of(1, 32, "INT32")}),
            "");
  Row down = choices[0].row;
  down.attributes = "{'dim': '2'}";
  EXPECT_NE(reason_of(down).find("dim '2'"), std::string::npos);
}

/// Returns the emulated time of a row. Expects it to be emulated.
SimTime emulated(const Row& row) {
  const ComparedCall call = call_of(row);
  EXPECT_FALSE(call.code.empty()) << call.call;
  return call.emulated;
}

TEST(LoggedChoice, ASortIsEmulatedAlongTheColumns) {
  Row sort{.code = "SortDeviceOperation",
           .attributes = "{'descending': 'false'; 'dim': '-1'; 'stable': 'false'}",
           .worker_cores = "64",
           .input0 = tensor(32, 4096),
           .input1 = kNoTensor,
           .output = tensor(32, 4096)};
  // tt-metal, pull request 25384 (2025): 178 us on Wormhole.
  EXPECT_NEAR(emulated(sort).seconds(), 178e-6, 18e-6);
  sort.attributes = "{'descending': 'false'; 'dim': '2'}";
  EXPECT_NE(reason_of(sort).find("dim '2'"), std::string::npos);
}

TEST(LoggedChoice, AProductThatGathersItsOperandHidesTheExchangeBehindIt) {
  // The memory of the gathered operand may stand among the operands.
  const Row fused{.code = "AllGatherMatmulAsync",
                  .attributes =
                      "{'all_gather_async': 'AllGatherAsync(dim=3;num_links=1;ring_size=4;"
                      "topology=Topology::Ring)'}",
                  .input0 = tensor(1024, 1024),
                  .input1 = tensor(4096, 2048),
                  .output = tensor(1024, 2048)};
  const SimTime whole = emulated(fused);
  const SimTime product = emulated(
      {.input0 = tensor(1024, 4096), .input1 = tensor(4096, 2048), .output = tensor(1024, 2048)});
  const SimTime gather = emulated({.code = "AllGatherAsync",
                                   .attributes = "{'num_links': '1'; 'topology': 'Topology::Ring'}",
                                   .input0 = tensor(1024, 1024),
                                   .input1 = kNoTensor,
                                   .output = tensor(1024, 4096)});
  EXPECT_GE(whole, std::max(product, gather));
  EXPECT_LT(whole, product + gather);
  Row line = fused;
  line.attributes = "{'all_gather_async': 'AllGatherAsync(num_links=1;topology=Topology::Linear)'}";
  EXPECT_GT(emulated(line), whole) << "a ring has two ways";
  Row misfit = fused;
  misfit.input1 = tensor(4000, 2048);
  EXPECT_NE(reason_of(misfit), "");
}

TEST(LoggedChoice, AProductThatScattersItsResultHasTheWayOfTheLastShareBesides) {
  const Row fused{.code = "MatmulReduceScatterAsync",
                  .attributes = "{'topology': 'Topology::Linear'}",
                  .input0 = tensor(1024, 512),
                  .input1 = tensor(512, 4096),
                  .output = tensor(1024, 1024)};
  EXPECT_GT(emulated(fused), emulated({.input0 = tensor(1024, 512),
                                       .input1 = tensor(512, 4096),
                                       .output = tensor(1024, 4096)}));
}

}  // namespace
}  // namespace howard::profiler
