// SPDX-License-Identifier: Apache-2.0
#include "engines/training/optimizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/autograd/optimizers/adamw.h"
#include "engines/autograd/optimizers/muon.h"
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

/// Returns TTML's word for a part of a name; a nano_gpt's are others.
std::string_view ttml_part(std::string_view part) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kWords{
      {{"token_embedding", "tok_emb"},
       {"position_embedding", "pos_emb"},
       {"head", "fc"},
       {"query_key_value", "qkv_linear"}}};
  for (const auto& [ours, theirs] : kWords) {
    if (part == ours) return theirs;
  }
  return part;
}

/// Says whether Muon updates a parameter: a weight that is in none of AdamW's modules.
bool is_muons(const Recipe& recipe, std::string name) {
  if (!name.ends_with("weight")) return false;
  std::ranges::replace(name, '.', '/');
  const std::vector<std::string> modules = split(recipe.optimizer.muon.adamw_modules, ' ');
  return std::ranges::none_of(split(name, '/'), [&](const std::string& part) {
    return std::ranges::find(modules, ttml_part(part)) != modules.end();
  });
}

/// Muon and AdamW, each with its own parameters. A schedule changes Muon's rate alone.
class MuonWithAdamW final : public autograd::Optimizer {
 public:
  MuonWithAdamW(const Recipe& recipe, const autograd::Calls& calls,
                const std::vector<Parameter*>& parameters)
      : adamw_rate_(recipe.optimizer.muon.adamw_rate) {
    std::array<std::vector<Parameter*>, 2> shares;
    for (Parameter* parameter : parameters) {
      auto& share = shares.at(is_muons(recipe, parameter->name) ? 0 : 1);
      places_.emplace_back(is_muons(recipe, parameter->name), share.size());
      share.push_back(parameter);
    }
    muon_ = std::make_unique<autograd::Muon>(
        calls, std::move(shares[0]), recipe.optimizer.learning_rate, recipe.optimizer.muon.numbers);
    AdamWAttributes attributes = adamw_attributes(recipe);
    attributes.learning_rate = adamw_rate_;
    adamw_ = std::make_unique<AdamW>(calls, std::move(shares[1]), attributes, AdamWForm::fused);
    learning_rate = recipe.optimizer.learning_rate;
  }

  void step(const autograd::Calls& calls) override {
    muon_->step(calls);
    adamw_->step(calls);
  }
  void set_numbers(const autograd::StepNumbers& numbers) override {
    Optimizer::set_numbers(numbers);
    muon_->set_numbers(numbers);
    autograd::StepNumbers own = numbers;
    own.learning_rate = adamw_rate_;
    adamw_->set_numbers(own);
  }
  std::vector<autograd::KeptTensor> kept(std::size_t parameter) const override {
    const auto& [muons, place] = places_.at(parameter);
    return muons ? muon_->kept(place) : adamw_->kept(place);
  }

 private:
  float adamw_rate_;
  std::vector<std::pair<bool, std::size_t>> places_;  ///< Of each parameter: Muon's, and which.
  std::unique_ptr<autograd::Optimizer> muon_, adamw_;
};

/// Updates the parameters that are trained, where some are frozen.
class TrainedPart final : public autograd::Optimizer {
 public:
  TrainedPart(std::unique_ptr<autograd::Optimizer> optimizer,
              const std::vector<Parameter*>& parameters)
      : optimizer_(std::move(optimizer)) {
    std::size_t trained = 0;
    for (const Parameter* parameter : parameters) {
      places_.push_back(parameter->trained ? std::optional(trained++) : std::nullopt);
    }
    learning_rate = optimizer_->learning_rate;
  }

  void step(const autograd::Calls& calls) override { optimizer_->step(calls); }
  void set_numbers(const autograd::StepNumbers& numbers) override {
    Optimizer::set_numbers(numbers);
    optimizer_->set_numbers(numbers);
  }
  void write_numbers(CommandQueue& queue) override { optimizer_->write_numbers(queue); }
  std::vector<autograd::KeptTensor> kept(std::size_t parameter) const override {
    const std::optional<std::size_t>& place = places_.at(parameter);
    return place ? optimizer_->kept(*place) : std::vector<autograd::KeptTensor>{};
  }

 private:
  std::unique_ptr<autograd::Optimizer> optimizer_;
  std::vector<std::optional<std::size_t>> places_;  ///< Of each parameter among the trained ones.
};

}  // namespace

std::vector<Parameter*> trained_of(std::vector<Parameter*> parameters) {
  std::erase_if(parameters, [](const Parameter* parameter) { return !parameter->trained; });
  return parameters;
}

std::unique_ptr<autograd::Optimizer> make_optimizer(const Recipe& recipe,
                                                    const autograd::Calls& calls,
                                                    std::vector<Parameter*> parameters,
                                                    bool replayable) {
  std::vector<Parameter*> trained = trained_of(parameters);
  if (trained.size() < parameters.size()) {
    return std::make_unique<TrainedPart>(
        make_optimizer(recipe, calls, std::move(trained), replayable), parameters);
  }
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
    case OptimizerKind::muon:
    case OptimizerKind::muon_adamw:
      if (replayable) refuse_replay("Muon, whose rate is a number of its programs");
      if (recipe.optimizer.kind == OptimizerKind::muon_adamw) {
        return std::make_unique<MuonWithAdamW>(recipe, calls, parameters);
      }
      return std::make_unique<autograd::Muon>(calls, std::move(parameters),
                                              recipe.optimizer.learning_rate,
                                              recipe.optimizer.muon.numbers);
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
