// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"

namespace howard::autograd {

// Fully sharded data parallelism (FSDP): the devices of a group divide the batch, and the
// parameters with their gradients and what the optimizer keeps of them. A parameter is whole only
// while a part of the model that uses it runs (Tape::open_part). As TTML does it, each parameter is
// gathered by itself, forward and again backward.

/// Returns the shape of a device's share: rows of whole tiles, or columns if there is one row.
/// Returns the whole shape where the devices do not divide it so; each of them has the whole then.
Shape share_of_parameter(const Shape& whole, int devices);

/// Returns the whole of what the devices have shares of.
ops::Tensor gathered(const Calls& calls, const ops::Tensor& share, const DeviceGroup& group);

/// Returns the whole parameter. The gradient of `share` is this device's share of the mean over the
/// devices; what the parameter has of earlier batches is gathered and added before, as in TTML.
Value gathered_parameter(Tape& tape, Value share, Parameter& parameter);

}  // namespace howard::autograd
