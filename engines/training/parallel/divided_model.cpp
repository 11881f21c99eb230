// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/divided_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "engines/autograd/functions/collective/divided_parameter.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/models/layers.h"
#include "engines/models/shards.h"
#include "engines/training/parallel/values_of_ranks.h"

namespace howard::training {
namespace {

using autograd::Parameter;
using language::ParameterShape;

/// Returns how FSDP divides a matrix.
models::Split shares_of(const ParameterShape& part, int fsdp) {
  using Along = models::Split::Along;
  const Shape whole{part.rows, part.columns};
  const Shape share = autograd::share_of_parameter(whole, fsdp);
  if (share == whole) return {};
  return {share.rows() < whole.rows() ? Along::rows : Along::columns};
}

std::string parameter_of(const std::string& tensor) { return tensor.substr(0, tensor.find(' ')); }

}  // namespace

std::int64_t rounded_vocabulary(std::int64_t tokens, int tp) {
  const std::int64_t rows = kTileSide * tp;
  return ceil_div(tokens, rows) * rows;
}

DividedModel::DividedModel(Device& device, const Recipe& recipe, const MeshPlan& plan, int rank,
                           std::int64_t vocabulary)
    : plan_(plan), rank_(rank), divided_table_(recipe.model.divided_table) {
  models::ModelOptions shapes = recipe.model.with(vocabulary);
  shapes.batch = 1;
  autograd::StepRecorder recorder(device);
  const auto model = models::make_model(recorder, shapes);
  for (const Parameter* parameter : model->parameters()) {
    const Shape& shape = parameter->value.spec().shape;
    whole_.push_back({parameter->name, shape.rows(), shape.columns()});
  }
}

models::Split DividedModel::split_of(const ParameterShape& whole) const {
  return models::split_of(whole.name, divided_table_);
}

ParameterShape DividedModel::part_of(const ParameterShape& whole) const {
  using Along = models::Split::Along;
  const Along along = split_of(whole).along;
  return {whole.name, along == Along::rows ? whole.rows / plan_.tp : whole.rows,
          along == Along::columns ? whole.columns / plan_.tp : whole.columns};
}

std::int64_t DividedModel::parameters() const {
  std::int64_t count = 0;
  for (const ParameterShape& parameter : whole_) count += parameter.rows * parameter.columns;
  return count;
}

const ParameterShape& DividedModel::whole_of(const std::string& saved) const {
  const auto found = std::ranges::find(whole_, parameter_of(saved), &ParameterShape::name);
  HOWARD_CHECK(found != whole_.end(), "a parameter of the model");
  return *found;
}

std::vector<float> DividedModel::share_of(const ParameterShape& whole,
                                          std::span<const float> values) const {
  const MeshPlace place(plan_, rank_);
  const std::vector<float> part =
      models::share_of(values, whole.rows, whole.columns, split_of(whole), plan_.tp, place.column);
  const ParameterShape own = part_of(whole);
  return models::share_of(part, own.rows, own.columns, shares_of(own, plan_.fsdp), plan_.fsdp,
                          place.shard);
}

void DividedModel::write_start_values(CommandQueue& queue, std::span<Parameter* const> own,
                                      std::uint32_t seed) const {
  models::RandomValues random(seed);
  for (const ParameterShape& whole : whole_) {
    const std::vector<float> values = random.of(whole.name, whole.rows, whole.columns);
    const auto found = std::ranges::find(own, whole.name, &Parameter::name);
    if (found == own.end()) continue;
    autograd::write_values(queue, (*found)->value, share_of(whole, values));
  }
}

language::ImportedWeights DividedModel::take_weights(
    CommandQueue& queue, std::span<Parameter* const> own, const models::ModelOptions& options,
    std::span<const language::Safetensors> files) const {
  return language::import_weights(
      whole_, options, files, [&](const ParameterShape& whole, std::span<const float> values) {
        const auto found = std::ranges::find(own, whole.name, &Parameter::name);
        if (found == own.end()) return;  // it is another stage's
        const auto size = static_cast<std::size_t>(whole.rows * whole.columns);
        std::vector<float> all(values.begin(), values.end());
        std::vector<float> given(values.size(), 1);
        all.resize(size);
        given.resize(size);
        const std::vector<float> taken = share_of(whole, given);
        const std::vector<float> share = share_of(whole, all);
        std::vector<float> now = autograd::read_values(queue, (*found)->value);
        for (std::size_t i = 0; i < now.size(); ++i) {
          if (taken[i] != 0) now[i] = share[i];
        }
        autograd::write_values(queue, (*found)->value, now);
      });
}

bool DividedModel::hands_out(int rank) const {
  const MeshPlace place(plan_, rank);
  const bool has_all = plan_.workers == 0 || place.stage + 1 == plan_.hosts();
  return has_all && place.row == 0;
}

void DividedModel::join(int rank, std::span<const NamedValues> shares,
                        std::vector<NamedValues>& tensors) const {
  const MeshPlace place(plan_, rank);
  for (const NamedValues& share : shares) {
    const ParameterShape& whole = whole_of(share.name);
    auto found = std::ranges::find(tensors, share.name, &NamedValues::name);
    if (found == tensors.end()) {
      tensors.push_back(
          {share.name, std::vector<float>(static_cast<std::size_t>(whole.rows * whole.columns))});
      found = tensors.end() - 1;
    }
    // What the whole has of this part stays; this share of it is written over.
    const models::Split split = split_of(whole);
    const ParameterShape part = part_of(whole);
    std::vector<float> values =
        models::share_of(found->values, whole.rows, whole.columns, split, plan_.tp, place.column);
    models::join_share(share.values, part.rows, part.columns, shares_of(part, plan_.fsdp),
                       plan_.fsdp, place.shard, values);
    models::join_share(values, whole.rows, whole.columns, split, plan_.tp, place.column,
                       found->values);
  }
}

std::vector<NamedValues> DividedModel::gathered(mesh::Communicator& ranks, CommandQueue& queue,
                                                std::span<const SavedTensor> own) const {
  std::vector<NamedValues> values;
  if (hands_out(rank_)) {
    for (const SavedTensor& saved : own) {
      values.push_back({saved.name, autograd::read_values(queue, saved.tensor)});
    }
    if (rank_ != 0) send_values(ranks, 0, values);
  }
  std::vector<NamedValues> all;
  if (rank_ != 0) return all;
  std::vector<NamedValues> tensors;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (!hands_out(rank)) continue;
    join(rank, rank == 0 ? values : receive_values(ranks, rank), tensors);
  }
  // One device saves each parameter followed by what the optimizer keeps of it.
  std::map<std::string, std::vector<NamedValues>> by_parameter;
  for (NamedValues& tensor : tensors) {
    by_parameter[parameter_of(tensor.name)].push_back(std::move(tensor));
  }
  for (const ParameterShape& parameter : whole_) {
    for (NamedValues& tensor : by_parameter.at(parameter.name)) all.push_back(std::move(tensor));
  }
  return all;
}

}  // namespace howard::training
