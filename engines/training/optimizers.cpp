// SPDX-License-Identifier: Apache-2.0
#include "engines/training/optimizers.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/sgd.h"

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

/// Throws Error for a recipe whose steps of AdamW cannot be replayed. Everything that a replay
/// needs is in each of its errors, so that one change of the command line is enough.
[[noreturn]] void refuse_replay(std::string value) {
  throw Error({.attempted = "replay steps of AdamW",
               .value = std::move(value),
               .accepted = "AdamW of many calls with float32 parameters, without compensated sums "
                           "and without a warm-up of beta1",
               .hint = "float32 parameters and the optimizer adamw (AdamWComposite, without "
                       "use_moreh_adamw), or the static engine"});
}

AdamWForm form_of(const Recipe& recipe, bool replayable) {
  const bool fused = recipe.optimizer.kind != OptimizerKind::adamw;
  if (!replayable) return fused ? AdamWForm::fused : AdamWForm::composite;
  if (fused) {
    refuse_replay("this form of it is one program, which is told the number of the step");
  }
  if (recipe.model.parameters != DataType::float32) {
    refuse_replay(fmt::format("parameters of {} would round the numbers of a step",
                              name_of(recipe.model.parameters)));
  }
  if (recipe.optimizer.adamw.kahan) refuse_replay("it compensates its sums (kahan true)");
  if (recipe.beta1.steps > 0) {
    refuse_replay(fmt::format("its beta1 changes (beta1-warmup {})", recipe.beta1.steps));
  }
  return AdamWForm::replayable;
}

SgdAttributes sgd_attributes(const Recipe& recipe) {
  SgdAttributes attributes = recipe.optimizer.sgd;
  attributes.learning_rate = recipe.optimizer.learning_rate;
  return attributes;
}

AdamWAttributes adamw_attributes(const Recipe& recipe) {
  AdamWAttributes attributes = recipe.optimizer.adamw;
  attributes.learning_rate = recipe.optimizer.learning_rate;
  if (recipe.optimizer.stochastic_rounding) attributes.rounding_seed = recipe.seed;
  return attributes;
}

}  // namespace

std::unique_ptr<autograd::Optimizer> make_optimizer(const Recipe& recipe,
                                                    const autograd::Calls& calls,
                                                    std::vector<Parameter*> parameters,
                                                    bool replayable) {
  switch (recipe.optimizer.kind) {
    case OptimizerKind::adamw:
    case OptimizerKind::moreh_adamw:
    case OptimizerKind::fused_adamw:
      break;
    case OptimizerKind::sgd:
    case OptimizerKind::fused_sgd:
      return std::make_unique<Sgd>(calls, std::move(parameters), sgd_attributes(recipe),
                                   recipe.optimizer.kind == OptimizerKind::sgd
                                       ? autograd::SgdForm::composite
                                       : autograd::SgdForm::fused);
    case OptimizerKind::no_op:
      return std::make_unique<NoOp>(std::move(parameters));
  }
  return std::make_unique<AdamW>(calls, std::move(parameters), adamw_attributes(recipe),
                                 form_of(recipe, replayable));
}

autograd::StepNumbers numbers_of(const Recipe& recipe, std::int64_t step) {
  return {.step = step,
          .learning_rate = learning_rate_of(recipe, step),
          .beta1 = beta1_of(recipe, step)};
}

std::vector<SavedTensor> saved_tensors(const std::vector<Parameter*>& parameters,
                                       const autograd::Optimizer* optimizer) {
  std::vector<SavedTensor> all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i]->name;
    all.push_back({name, parameters[i]->value});
    if (optimizer == nullptr) continue;
    for (autograd::KeptTensor& kept : optimizer->kept(i)) {
      all.push_back({name + " " + kept.what, std::move(kept.tensor)});
    }
  }
  return all;
}

}  // namespace howard::training
