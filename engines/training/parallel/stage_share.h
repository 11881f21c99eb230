// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/language/tokens/tokenizer.h"
#include "engines/mesh/communicator.h"
#include "engines/mesh/sockets.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/share.h"

namespace howard::training {

/// Makes the share of one device of a mesh, of a pipeline or of both, which has a part of the
/// batch, of the layers and of the blocks. All ranks draw the same batches and take their own rows
/// of them. Throws Error for a plan that does not divide what it shares.
std::unique_ptr<Share> stage_share(Device& device, mesh::Communicator& ranks, const MeshPlan& plan,
                                   const Recipe& recipe, const language::Tokenizer& tokenizer,
                                   mesh::WaitUntil wait_until);

}  // namespace howard::training
