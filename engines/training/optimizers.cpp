// SPDX-License-Identifier: Apache-2.0
#include "engines/training/optimizers.h"

#include <utility>

#include "base/error.h"
#include "engines/autograd/adamw.h"
#include "engines/autograd/sgd.h"

namespace howard::training {
namespace {

using autograd::AdamW;
using autograd::AdamWForm;
using autograd::Parameter;
using autograd::Sgd;

/// Removes the gradients.
class NoOp final : public autograd::Optimizer {
 public:
  explicit NoOp(std::vector<Parameter*> parameters) : parameters_(std::move(parameters)) {}

  void step(const autograd::Calls& /*calls*/) override {
    for (Parameter* parameter : parameters_) parameter->gradient.reset();
  }

 private:
  std::vector<Parameter*> parameters_;
};

AdamWForm form_of(const Recipe& recipe, bool replayable) {
  if (recipe.optimizer == OptimizerKind::moreh_adamw) {
    if (!replayable) return AdamWForm::fused;
    throw Error({.attempted = "replay a step of MorehAdamW",
                 .value = "its program is told the number of the step",
                 .accepted = "the optimizer adamw",
                 .hint = "--engine static"});
  }
  if (replayable && recipe.kahan) {
    throw Error({.attempted = "replay a step of AdamW with compensated sums",
                 .value = "kahan true",
                 .accepted = "kahan false",
                 .hint = "--engine static"});
  }
  return replayable ? AdamWForm::replayable : AdamWForm::composite;
}

}  // namespace

std::unique_ptr<autograd::Optimizer> make_optimizer(const Recipe& recipe,
                                                    const autograd::Calls& calls,
                                                    std::vector<Parameter*> parameters,
                                                    bool replayable) {
  switch (recipe.optimizer) {
    case OptimizerKind::adamw:
    case OptimizerKind::moreh_adamw:
      break;
    case OptimizerKind::sgd:
      return std::make_unique<Sgd>(calls, std::move(parameters), recipe.learning_rate,
                                   autograd::SgdAttributes{.momentum = recipe.momentum,
                                                           .dampening = recipe.dampening,
                                                           .weight_decay = recipe.sgd_decay,
                                                           .nesterov = recipe.nesterov});
    case OptimizerKind::no_op:
      return std::make_unique<NoOp>(std::move(parameters));
  }
  return std::make_unique<AdamW>(calls, std::move(parameters),
                                 AdamWAttributes{.learning_rate = recipe.learning_rate,
                                                 .beta1 = recipe.beta1,
                                                 .beta2 = recipe.beta2,
                                                 .epsilon = recipe.epsilon,
                                                 .weight_decay = recipe.weight_decay},
                                 form_of(recipe, replayable), recipe.kahan);
}

std::vector<SavedTensor> saved_tensors(const std::vector<Parameter*>& parameters,
                                       const autograd::Optimizer& optimizer) {
  const auto* const adamw = dynamic_cast<const AdamW*>(&optimizer);
  const auto* const sgd = dynamic_cast<const Sgd*>(&optimizer);
  std::vector<SavedTensor> all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i]->name;
    all.push_back({name, parameters[i]->value});
    if (adamw != nullptr) {
      all.push_back({name + " first moment", adamw->moments()[i].first});
      all.push_back({name + " second moment", adamw->moments()[i].second});
      if (!adamw->compensations().empty()) {
        all.push_back({name + " compensation", adamw->compensations()[i]});
      }
    }
    if (sgd != nullptr && !sgd->buffers().empty()) {
      all.push_back({name + " momentum", sgd->buffers()[i]});
    }
  }
  return all;
}

}  // namespace howard::training
