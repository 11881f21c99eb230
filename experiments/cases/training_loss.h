// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.h"

namespace howard::experiments {

/// Adds the final loss and its course to a host point: the last step's loss as metric "loss", and
/// the course from the first step's loss as detail "loss", as in "0.25 to 0.16, falls". A last loss
/// that is not finite is "0.25, then diverges", without a metric.
void describe_loss(double first, double last, harness::PointResult& point);

}  // namespace howard::experiments
