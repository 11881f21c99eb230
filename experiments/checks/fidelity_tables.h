// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/chip/profiles/profile.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// Returns what a page says of how far the emulator can be trusted, besides the published rows: the
/// bands by kind, every constant with its source and how well it is known, and what the emulator
/// does not model.
std::vector<reports::Table> fidelity_tables(const chip::ProfileConstants& constants);

}  // namespace howard::experiments
