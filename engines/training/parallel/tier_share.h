// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/language/tokens/tokenizer.h"
#include "engines/mesh/communicator.h"
#include "engines/mesh/sockets.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/share.h"

namespace howard::training {

/// Makes the share of one rank of TTML's tiers. Ranks 0 to W - 1 are workers, rank W is the
/// aggregator, and the last rank, which is W + 1 in three tiers, is the optimizer's. A worker draws
/// from the recipe's seed plus its rank. After its backward pass it sends each gradient to the
/// aggregator, which adds them in the order of the workers and divides by their number. The
/// optimizer's rank gets the means, updates, and sends the parameters back the same way. Each
/// tensor is a message; tensors go in the order of their names.
std::unique_ptr<Share> tier_share(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                                  const Recipe& recipe, const language::Tokenizer& tokenizer,
                                  mesh::WaitUntil wait_until);

}  // namespace howard::training
