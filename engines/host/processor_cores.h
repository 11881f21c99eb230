// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace howard::host {

/// Returns a CPU, as the system numbers them, for each of `threads`. Returns nothing unless these
/// are as many as the machine has CPUs and the process may use all of them. CPUs of different
/// physical cores come first.
std::vector<int> cores_of_machine(int threads);

/// Keeps the calling thread on one CPU from now on. If the system refuses, nothing changes.
void stay_on(int cpu);

}  // namespace howard::host
