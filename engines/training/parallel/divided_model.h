// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engines/language/weights/model_weights.h"
#include "engines/mesh/communicator.h"
#include "engines/models/language_model.h"
#include "engines/models/shards.h"
#include "engines/training/checkpoint.h"
#include "engines/training/optimizers.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Returns the rows of the token table of a model that `tp` devices divide: as many whole tiles for
/// each of them.
std::int64_t rounded_vocabulary(std::int64_t tokens, int tp);

/// Knows the parameters of a whole model and what each rank of a plan has of them: layers that
/// devices divide (TP), and shares of parameters (FSDP). Ranks that divide the batch alone have the
/// same.
class DividedModel {
 public:
  /// `device` makes no tensor for it.
  DividedModel(Device& device, const Recipe& recipe, const MeshPlan& plan, int rank,
               std::int64_t vocabulary);

  /// Returns the number of values of the whole model.
  std::int64_t parameters() const;
  /// Returns the parameter that a saved tensor belongs to: "weight" for "weight first moment".
  const language::ParameterShape& whole_of(const std::string& saved) const;
  /// Returns this rank's share of a whole tensor's values.
  std::vector<float> share_of(const language::ParameterShape& whole,
                              std::span<const float> values) const;

  /// Writes the shares of what one device would draw. Parameters of other stages are passed over.
  void write_start_values(CommandQueue& queue, std::span<autograd::Parameter* const> own,
                          std::uint32_t seed) const;

  /// Writes the shares of what files of Hugging Face have. Throws Error as import_weights() does.
  language::ImportedWeights take_weights(CommandQueue& queue,
                                         std::span<autograd::Parameter* const> own,
                                         const models::ModelOptions& options,
                                         std::span<const language::Safetensors> files) const;

  /// Returns the whole tensors on rank 0, in the order of one device, and nothing on the others.
  /// All ranks call it; `own` has a rank's tensors, if it is one of those that have them: the
  /// optimizer's ranks of tiers, otherwise all.
  std::vector<NamedValues> gathered(mesh::Communicator& ranks, CommandQueue& queue,
                                    std::span<const SavedTensor> own) const;

 private:
  /// Says whether a rank hands out its tensors: one of those that have the same.
  bool hands_out(int rank) const;
  void join(int rank, std::span<const NamedValues> shares, std::vector<NamedValues>& tensors) const;
  /// Says how devices that divide layers divide a parameter.
  models::Split split_of(const language::ParameterShape& whole) const;
  /// Returns the sizes of what one of them has of it.
  language::ParameterShape part_of(const language::ParameterShape& whole) const;

  MeshPlan plan_;
  int rank_;
  bool divided_table_;
  std::vector<language::ParameterShape> whole_;
};

}  // namespace howard::training
