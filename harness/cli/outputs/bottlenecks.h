// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engines/device/device.h"
#include "harness/cli/session.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// Shows in tables what bounds one iteration of a recorded point: by op, by the stages of kernels,
/// and the critical path. `open_host` returns the host engine. Its peaks are measured there when
/// the first host point asks for them, which takes half a second.
class BottleneckTables {
 public:
  explicit BottleneckTables(std::function<Device&()> open_host)
      : open_host_(std::move(open_host)) {}

  std::vector<reports::Table> of(const TracedPoint& point);

 private:
  /// Holds the best rates that the host engine has reached.
  struct HostPeaks {
    double float32 = 0, bfloat16 = 0;  ///< FLOP/s of a product.
    double bandwidth = 0;              ///< B/s of a sum that no cache holds.
  };
  const HostPeaks& host_peaks();

  std::function<Device&()> open_host_;
  std::optional<HostPeaks> host_peaks_;
};

}  // namespace howard::cli
