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
               .hint = "--parameters float32 with --with use_moreh_adamw=false, with a type of "
                       "AdamWComposite or with --optimizer adamw; or --engine static"});
}

AdamWForm form_of(const Recipe& recipe, bool replayable) {
  const bool fused = recipe.optimizer != OptimizerKind::adamw;
  if (!replayable) return fused ? AdamWForm::fused : AdamWForm::composite;
  if (fused) {
    refuse_replay("this form of it is one program, which is told the number of the step");
  }
  if (recipe.parameters != DataType::float32) {
    refuse_replay(fmt::format("parameters of {} would round the numbers of a step",
                              name_of(recipe.parameters)));
  }
  if (recipe.kahan) refuse_replay("it compensates its sums (kahan true)");
  if (recipe.beta1_warmup > 0) {
    refuse_replay(fmt::format("its beta1 changes (beta1-warmup {})", recipe.beta1_warmup));
  }
  return AdamWForm::replayable;
}

AdamWAttributes adamw_attributes(const Recipe& recipe) {
  AdamWAttributes attributes{.learning_rate = recipe.learning_rate,
                             .beta1 = recipe.beta1,
                             .beta2 = recipe.beta2,
                             .epsilon = recipe.epsilon,
                             .weight_decay = recipe.weight_decay,
                             .amsgrad = recipe.amsgrad,
                             .kahan = recipe.kahan};
  if (recipe.stochastic_rounding) attributes.rounding_seed = recipe.seed;
  return attributes;
}

}  // namespace

std::unique_ptr<autograd::Optimizer> make_optimizer(const Recipe& recipe,
                                                    const autograd::Calls& calls,
                                                    std::vector<Parameter*> parameters,
                                                    bool replayable) {
  switch (recipe.optimizer) {
    case OptimizerKind::adamw:
    case OptimizerKind::moreh_adamw:
    case OptimizerKind::fused_adamw:
      break;
    case OptimizerKind::sgd:
    case OptimizerKind::fused_sgd:
      return std::make_unique<Sgd>(calls, std::move(parameters),
                                   SgdAttributes{.learning_rate = recipe.learning_rate,
                                                 .momentum = recipe.momentum,
                                                 .dampening = recipe.dampening,
                                                 .weight_decay = recipe.sgd_decay,
                                                 .nesterov = recipe.nesterov},
                                   recipe.optimizer == OptimizerKind::sgd
                                       ? autograd::SgdForm::composite
                                       : autograd::SgdForm::fused);
    case OptimizerKind::no_op:
      return std::make_unique<NoOp>(std::move(parameters));
  }
  return std::make_unique<AdamW>(calls, std::move(parameters), adamw_attributes(recipe),
                                 form_of(recipe, replayable));
}

void set_numbers(const Recipe& recipe, std::int64_t step, autograd::Optimizer& optimizer) {
  optimizer.learning_rate = learning_rate_of(recipe, step);
  if (auto* const adamw = dynamic_cast<AdamW*>(&optimizer)) {
    adamw->set_beta1(beta1_of(recipe, step));
  }
  if (auto* const sgd = dynamic_cast<Sgd*>(&optimizer)) sgd->set_next_step(step);
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
      const ops::Moments& moments = adamw->moments()[i];
      all.push_back({name + " first moment", moments.first});
      all.push_back({name + " second moment", moments.second});
      if (moments.largest) all.push_back({name + " largest moment", *moments.largest});
      if (moments.compensation) all.push_back({name + " compensation", *moments.compensation});
    }
    if (sgd != nullptr && !sgd->buffers().empty()) {
      all.push_back({name + " momentum", sgd->buffers()[i]});
    }
  }
  return all;
}

}  // namespace howard::training
