// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "harness/result.h"
#include "profiler/memory.h"

namespace howard::cli {

/// Writes the page of a training run: its loss, learning rate and tokens per second at each step,
/// and the memory of the first one, if it was recorded.
void write_training_page(const harness::ExperimentResult& result,
                         const std::optional<profiler::MemoryUse>& memory,
                         const std::filesystem::path& file);

}  // namespace howard::cli
