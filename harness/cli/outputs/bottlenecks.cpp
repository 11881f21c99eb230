// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/bottlenecks.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <optional>

#include "engines/ops/tensor.h"
#include "profiler/bottleneck.h"
#include "profiler/critical_path.h"
#include "profiler/dependencies.h"
#include "profiler/op_runs.h"
#include "reports/findings/bottleneck_report.h"

namespace howard::cli {
namespace {

constexpr std::size_t kShownOps = 12;

/// Returns the shortest of some runs of a program. The first run only warms up.
double best_seconds(Device& device, const Program& program) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 6;
  CommandQueue& queue = device.command_queue(0);
  double best = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Clock::time_point start = Clock::now();
    queue.enqueue(program);
    queue.finish();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (i == 1 || (i > 1 && seconds < best)) best = seconds;
  }
  return best;
}

double product_rate(Device& device, DataType dtype) {
  const TensorSpec spec{{1024, 1024}, dtype};
  const ops::Tensor a(device, spec);
  const ops::Tensor b(device, spec);
  const ops::Tensor out(device, spec);
  const Program program = make_program(MatmulAttributes{}, {a, b}, {out});
  return static_cast<double>(program.flops.value()) / best_seconds(device, program);
}

double sum_rate(Device& device) {
  const TensorSpec spec{{4096, 8192}, DataType::float32};  // 128 MiB each
  const ops::Tensor a(device, spec);
  const ops::Tensor b(device, spec);
  const ops::Tensor out(device, spec);
  const Program program = make_program(eltwise_of(Eltwise::add), {a, b}, {out});
  return static_cast<double>(3 * spec.host_bytes().value()) / best_seconds(device, program);
}

/// Holds the best rates that the host engine has reached.
struct HostPeaks {
  explicit HostPeaks(Device& host)
      : float32(product_rate(host, DataType::float32)),
        bfloat16(product_rate(host, DataType::bfloat16)),
        bandwidth(sum_rate(host)) {}
  double float32, bfloat16;  ///< FLOP/s of a product.
  double bandwidth;          ///< B/s of a sum that no cache holds.
};

}  // namespace

std::vector<reports::Table> bottleneck_tables(const std::deque<TracedPoint>& points,
                                              const std::function<Device&()>& open_host) {
  std::optional<HostPeaks> peaks;
  std::vector<reports::Table> tables;
  for (const TracedPoint& point : points) {
    const profiler::EventRecorder& recorder = point.recorder.recorder();
    const profiler::Timeline timeline = profiler::timeline_of(recorder.events(), recorder.losses());
    std::deque<ProgramFacts> with_peaks;
    const auto facts = [&](std::uint64_t program) -> const ProgramFacts* {
      const ProgramFacts* const known = point.recorder.facts(program);
      if (known == nullptr || point.backend == harness::Backend::emulated) return known;
      if (!peaks) peaks.emplace(open_host());
      ProgramFacts& own = with_peaks.emplace_back(*known);
      const bool half = own.inputs.front().dtype == name_of(DataType::bfloat16);
      own.work.peak_flops = half ? peaks->bfloat16 : peaks->float32;
      own.work.peak_bandwidth = peaks->bandwidth;
      return &own;
    };
    std::ranges::move(reports::bottleneck_tables(timeline, profiler::op_runs(timeline, facts),
                                                 point.name, kShownOps),
                      std::back_inserter(tables));
  }
  return tables;
}

}  // namespace howard::cli
