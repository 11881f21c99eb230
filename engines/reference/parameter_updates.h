// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/reference/reference_ops.h"

namespace howard::reference {

/// Computes one step of AdamW. The inputs are p, g, m and v, and the largest root and the
/// compensation where the attributes ask for them; the outputs are all but g. float64 has next to
/// nothing to compensate or to round.
void update(const AdamWAttributes& attributes, const std::vector<const Values*>& inputs,
            std::vector<Values>& outputs);

/// Computes one step of SGD. The inputs are p, g and perhaps a buffer; the outputs are all but g.
void update(const SgdAttributes& attributes, const std::vector<const Values*>& inputs,
            std::vector<Values>& outputs);

}  // namespace howard::reference
