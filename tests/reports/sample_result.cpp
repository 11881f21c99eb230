// SPDX-License-Identifier: Apache-2.0
#include "tests/reports/sample_result.h"

#include <array>
#include <string>

namespace howard::reports::testing {

using harness::Backend;
using harness::Better;
using harness::CellSource;
using harness::ExperimentResult;
using harness::Metric;
using harness::PointResult;
using harness::Presentation;

namespace {

PointResult emulated_point(const std::string& shape, const std::string& dispatch) {
  return {.backend = Backend::emulated,
          .parameters = {{"shape", shape}, {"dispatch", dispatch}, {"dtype", "bfloat16"}}};
}

PointResult small_point() {
  PointResult point = emulated_point("128x128x128", "worker");
  point.metrics = {
      {.name = "time",
       .value = 95.0e-6,
       .unit = "s",
       .virtual_time = SimTime::picoseconds(95'000'001)},
      {.name = "throughput", .value = 44.2e9, .unit = "FLOP/s", .better = Better::higher},
      {.name = "share_of_peak", .value = 0.0384e-2, .unit = "1", .better = Better::higher},
      {.name = "size", .value = 128, .unit = "1"}};
  point.details = {{"bound_by", "host and dispatch"},
                   {"sample_config", "2D multicast on 4x4 cores, block 1x1, k block 1"}};
  point.reference = {{.metric = "time",
                      .value = 88.82e-6,
                      .unit = "s",
                      .source = "report, postscript, matmul table",
                      .status = "calibration",
                      .note = "dominated by the finish"}};
  return point;
}

PointResult large_point() {
  PointResult point = emulated_point("4096x4096x4096", "eth");
  point.metrics = {
      {.name = "time",
       .value = 2610.5e-6,
       .unit = "s",
       .virtual_time = SimTime::picoseconds(2'610'500'000)},
      {.name = "throughput", .value = 52.6e12, .unit = "FLOP/s", .better = Better::higher},
      {.name = "share_of_peak", .value = 0.401, .unit = "1", .better = Better::higher},
      {.name = "size", .value = 4096, .unit = "1"}};
  point.details = {{"bound_by", "math"},
                   {"sample_config", "2D multicast on 8x8 cores, block 16x16, k block 16"}};
  point.warnings = {"the profile is not the default one"};
  point.reference = {{.metric = "time",
                      .value = 1974.64e-6,
                      .unit = "s",
                      .source = "report",
                      .status = "artefact",
                      .note = "first run of a cold process"}};
  return point;
}

PointResult host_point() {
  PointResult point{.backend = Backend::host,
                    .parameters = {{"shape", "128x128x128"}, {"dtype", "bfloat16"}}};
  point.metrics = {
      {.name = "time",
       .value = 0.104e-3,
       .unit = "s",
       .samples = {0.101e-3, 0.102e-3, 0.103e-3, 0.104e-3, 0.105e-3, 0.106e-3, 0.11e-3},
       .ci95 = std::array{0.101e-3, 0.11e-3}},
      {.name = "throughput",
       .value = 40.3e9,
       .unit = "FLOP/s",
       .better = Better::higher,
       .samples = {41.5e9, 41.1e9, 40.7e9, 40.3e9, 39.9e9, 39.6e9, 38.1e9},
       .ci95 = std::array{38.1e9, 41.5e9}},
      {.name = "size", .value = 128, .unit = "1"}};
  return point;
}

}  // namespace

ExperimentResult sample_result() {
  PointResult failed = emulated_point("100000x100000x100000", "worker");
  failed.skipped = "cannot allocate 20 GB: 12 GB of DRAM, \"all\" of it free";
  failed.failed = true;
  PointResult skipped = emulated_point("64x64x64", "eth");
  skipped.skipped = "no such grid";
  return {.experiment = "sample_sweep",
          .context = {.version = "0.1.0",
                      .git = "1a2b3c4d5e6f",
                      .compiler = "GNU 12.2.0",
                      .build_type = "Release",
                      .cpu = "AMD EPYC 7282",
                      .threads = 32,
                      .chip = {.profile = "wormhole_b0"},
                      .software = {.profile = "tt_metal_2025_12"},
                      .constants = {{"noc.link", "28 B/cycle"}, {"host.finish", "40 us"}},
                      .seed = 9'223'372'036'854'775'809U,
                      .warnings = {"OMP_NUM_THREADS=1 is set"}},
          .points = {small_point(), large_point(), failed, skipped, host_point()},
          .interrupted = true};
}

Presentation sample_presentation() {
  return {.columns = {{"shape", CellSource::parameter, "shape"},
                      {"dispatch", CellSource::parameter, "dispatch"},
                      {"dtype", CellSource::parameter, "dtype"},
                      {"time", CellSource::metric, "time"},
                      {"rate", CellSource::metric, "throughput"},
                      {"of peak", CellSource::metric, "share_of_peak"},
                      {"published", CellSource::reference, ""},
                      {"error", CellSource::error, ""},
                      {"never measured", CellSource::metric, "nothing"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"sample configuration", CellSource::detail, "sample_config"}},
          .plots = {{.title = "One matrix product",
                     .x_label = "size",
                     .y_label = "throughput",
                     .x = "size",
                     .y = "throughput",
                     .series = {"dispatch"}}}};
}

}  // namespace howard::reports::testing
