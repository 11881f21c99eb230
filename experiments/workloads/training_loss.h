// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.h"

namespace howard::experiments {

/// What a point on the host says of its training, whoever ran the steps: the last step's loss as
/// metric "loss", and in words how it came there from the first's, as detail "loss": "0.25 to 0.16,
/// falls". A last loss that is not finite is "0.25, then diverges", and no metric.
void describe_loss(double first, double last, harness::PointResult& point);

}  // namespace howard::experiments
