// SPDX-License-Identifier: Apache-2.0
#include "engines/models/adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/pattern.h"
#include "base/text.h"
#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/models/layers.h"

namespace howard::models {
namespace {

constexpr std::string_view kWeight = "/weight";

struct ScaledProduct {
  autograd::Value x;
  float factor;

  void backward(autograd::Tape& tape, autograd::Value output) const {
    tape.accumulate(x, tape.calls().multiply(tape.gradient(output), factor));
  }
};

autograd::Value scaled_product(autograd::Tape& tape, autograd::Value x, float factor) {
  return tape.record(tape.calls().multiply(tape.tensor(x), factor), {x}, ScaledProduct{x, factor});
}

/// Says whether a parameter is the weight of a layer, not that of a norm or a table.
bool is_weight_of_layer(const autograd::Parameter& parameter) {
  const auto has = [&](std::string_view part) {
    return parameter.name.find(part) != std::string::npos;
  };
  return parameter.name.ends_with(kWeight) && !has("norm/weight") && !has("ln_fc") &&
         !has("tok_emb");
}

/// Returns the name that patterns look at: "llama.llama_block_0.attention.q_linear".
std::string dotted(std::string name) {
  name.resize(name.size() - kWeight.size());
  std::ranges::replace(name, '/', '.');
  return name;
}

/// A pattern of names of layers, and whether a layer has such a name.
struct Target {
  std::string text;
  Pattern pattern;
  bool found = false;
};

void require_found(std::span<const Target> targets,
                   std::span<autograd::Parameter* const> parameters) {
  const auto missing = std::ranges::find(targets, false, &Target::found);
  if (missing == targets.end()) return;
  std::vector<std::string> names;
  for (const autograd::Parameter* parameter : parameters) {
    if (!is_weight_of_layer(*parameter)) continue;
    const std::string name = dotted(parameter->name);
    const std::string last = name.substr(name.rfind('.') + 1);
    if (std::ranges::find(names, last) == names.end()) names.push_back(last);
  }
  throw NoSuchLayer({.attempted = "read lora_config.target_modules",
                     .value = fmt::format("no layer has a name with '{}'", missing->text),
                     .accepted = fmt::format("patterns of {}", join(names, ", ")),
                     .hint = fmt::format("--with 'target_modules=[{}]'", names.front())});
}

}  // namespace

float LoraOptions::scale() const {
  const auto divisor = static_cast<float>(rank);
  return alpha / (rank_stabilized ? std::sqrt(divisor) : divisor);
}

Adapters::Adapters(Device& device, const ModelOptions& options,
                   std::span<autograd::Parameter* const> parameters) {
  if (options.lora.rank == 0) return;
  if (options.shards() > 1 || !options.has_input() || !options.has_output()) {
    throw Error({.attempted = "add low-rank adapters to a model",
                 .value = "devices divide its layers",
                 .accepted = "devices that divide the batch or the parameters",
                 .hint = "enable_ddp: true"});
  }
  scale_ = options.lora.scale();
  std::vector<Target> targets;
  for (const std::string& text : split(options.lora.targets, ' ')) {
    if (!text.empty()) targets.push_back({text, Pattern(text, "read lora_config.target_modules")});
  }
  const ParameterMaker make = ParameterMaker::of(device, options);
  for (autograd::Parameter* parameter : parameters) {
    parameter->trained = false;
    if (!is_weight_of_layer(*parameter)) continue;
    const std::string name = dotted(parameter->name);
    bool chosen = false;
    for (Target& target : targets) {
      if (!target.pattern.find(name)) continue;
      target.found = chosen = true;
    }
    if (!chosen) continue;
    const std::string layer = parameter->name.substr(0, parameter->name.size() - kWeight.size());
    // Of rows that devices divide, a parameter may have this device's alone.
    Shape shape = parameter->value.spec().shape;
    if (parameter->sharers != nullptr) {
      shape = shape.with_rows(shape.rows() * parameter->sharers->devices());
    }
    pairs_.push_back({parameter->name,
                      make.matrix(layer + "/lora_A", options.lora.rank, shape.columns()),
                      make.matrix(layer + "/lora_B", shape.rows(), options.lora.rank)});
  }
  require_found(targets, parameters);
}

Adapters::Pair* Adapters::find(const autograd::Parameter& weight) {
  const auto found = std::ranges::find(pairs_, weight.name, &Pair::weight);
  return found == pairs_.end() ? nullptr : &*found;
}

std::vector<autograd::Parameter*> Adapters::all() {
  std::vector<autograd::Parameter*> all;
  for (Pair& pair : pairs_) all.insert(all.end(), {&pair.a, &pair.b});
  return all;
}

autograd::Value Adapters::product(autograd::Tape& tape, autograd::Value x,
                                  autograd::Parameter& weight) {
  const autograd::Value own = autograd::project(tape, x, tape.parameter(weight));
  Pair* const pair = find(weight);
  if (pair == nullptr) return own;
  const autograd::Value narrow = autograd::project(tape, x, tape.parameter(pair->a));
  const autograd::Value added = autograd::project(tape, narrow, tape.parameter(pair->b));
  return autograd::add(tape, own, scaled_product(tape, added, scale_));
}

}  // namespace howard::models
