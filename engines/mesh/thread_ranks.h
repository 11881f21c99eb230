// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engines/mesh/communicator.h"

namespace howard::mesh {

/// Calls `work` once for each of `size` ranks, each on a thread of its own; rank 0 works on the
/// calling thread. When one rank throws, those that wait for a message get an Error that names it.
/// Returns when all have ended, or throws what the first failing rank threw.
void run_as_threads(int size, const std::function<void(Communicator& ranks)>& work);

}  // namespace howard::mesh
