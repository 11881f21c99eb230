// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engines/training/config/ttml_keys.h"

namespace howard::training {

// TTML's configuration files are structures here, made of the table of their keys.

#define HOWARD_TTML_MEMBER(type, name, accepted, ...) type name{__VA_ARGS__};
#define HOWARD_TTML_STRUCT(Name, KEYS, ...)                     \
  struct Name {                                                 \
    KEYS(HOWARD_TTML_MEMBER)                                    \
    __VA_ARGS__                                                 \
    friend bool operator==(const Name&, const Name&) = default; \
  };

namespace ttml {
HOWARD_TTML_STRUCT(TtmlMuon, HOWARD_TTML_MUON)
HOWARD_TTML_STRUCT(TtmlAdamW, HOWARD_TTML_ADAMW)
HOWARD_TTML_STRUCT(TtmlOptimizer, HOWARD_TTML_OPTIMIZER, TtmlMuon muon; TtmlAdamW adamw;)
HOWARD_TTML_STRUCT(TtmlMlp, HOWARD_TTML_MLP)
HOWARD_TTML_STRUCT(TtmlTraining, HOWARD_TTML_TRAINING, TtmlOptimizer optimizer; TtmlMlp mlp;)
HOWARD_TTML_STRUCT(TtmlScheduler, HOWARD_TTML_SCHEDULER)
HOWARD_TTML_STRUCT(TtmlEvaluation, HOWARD_TTML_EVALUATION)
HOWARD_TTML_STRUCT(TtmlDevices, HOWARD_TTML_DEVICES)
HOWARD_TTML_STRUCT(TtmlPipeline, HOWARD_TTML_PIPELINE)
HOWARD_TTML_STRUCT(TtmlMultihost, HOWARD_TTML_MULTIHOST, TtmlPipeline pipeline;)
HOWARD_TTML_STRUCT(TtmlLora, HOWARD_TTML_LORA)
HOWARD_TTML_STRUCT(TtmlGrpo, HOWARD_TTML_GRPO)
HOWARD_TTML_STRUCT(TtmlRopeScaling, HOWARD_TTML_ROPE_SCALING)
HOWARD_TTML_STRUCT(TtmlExperimental, HOWARD_TTML_EXPERIMENTAL)
HOWARD_TTML_STRUCT(TtmlTransformer, HOWARD_TTML_TRANSFORMER, TtmlExperimental experimental;
                   TtmlRopeScaling rope_scaling;)
}  // namespace ttml

#undef HOWARD_TTML_STRUCT
#undef HOWARD_TTML_MEMBER

using ttml::TtmlAdamW;
using ttml::TtmlDevices;
using ttml::TtmlEvaluation;
using ttml::TtmlGrpo;
using ttml::TtmlLora;
using ttml::TtmlMlp;
using ttml::TtmlMultihost;
using ttml::TtmlOptimizer;
using ttml::TtmlScheduler;
using ttml::TtmlTraining;
using ttml::TtmlTransformer;

struct TtmlConfig {
  TtmlTraining training;
  TtmlScheduler scheduler;
  TtmlEvaluation evaluation;
  TtmlDevices devices;
  TtmlMultihost multihost;
  TtmlTransformer transformer;
  TtmlLora lora;
  TtmlGrpo grpo;

  friend bool operator==(const TtmlConfig&, const TtmlConfig&) = default;
};

/// Names a key. The section of a map within a map has a dot: "transformer_config.rope_scaling".
struct TtmlKey {
  std::string_view section, name;
  Accepted accepted{};

  std::string whole() const { return std::string(section) + "." + std::string(name); }
};

/// Calls visit(key, field) for each key, section by section.
template <class Config, class Visit>
void for_each_ttml_key(Config& config, Visit&& visit) {
#define HOWARD_TTML_VISIT(type, name, accepted, ...) \
  visit(TtmlKey{section, #name, accepted}, map.name);
#define HOWARD_TTML_SECTION(KEYS, text, member) \
  [&](std::string_view section, auto& map) { KEYS(HOWARD_TTML_VISIT) }(text, config.member);
  using namespace ttml;
  HOWARD_TTML_SECTION(HOWARD_TTML_TRAINING, "training_config", training)
  HOWARD_TTML_SECTION(HOWARD_TTML_OPTIMIZER, "training_config.optimizer", training.optimizer)
  HOWARD_TTML_SECTION(HOWARD_TTML_MUON, "training_config.optimizer.muon", training.optimizer.muon)
  HOWARD_TTML_SECTION(HOWARD_TTML_ADAMW, "training_config.optimizer.adamw",
                      training.optimizer.adamw)
  HOWARD_TTML_SECTION(HOWARD_TTML_MLP, "training_config.mlp_config", training.mlp)
  HOWARD_TTML_SECTION(HOWARD_TTML_SCHEDULER, "scheduler_config", scheduler)
  HOWARD_TTML_SECTION(HOWARD_TTML_EVALUATION, "eval_config", evaluation)
  HOWARD_TTML_SECTION(HOWARD_TTML_DEVICES, "device_config", devices)
  HOWARD_TTML_SECTION(HOWARD_TTML_MULTIHOST, "multihost_config", multihost)
  HOWARD_TTML_SECTION(HOWARD_TTML_PIPELINE, "multihost_config.pipeline_parallel_config",
                      multihost.pipeline)
  HOWARD_TTML_SECTION(HOWARD_TTML_TRANSFORMER, "transformer_config", transformer)
  HOWARD_TTML_SECTION(HOWARD_TTML_EXPERIMENTAL, "transformer_config.experimental",
                      transformer.experimental)
  HOWARD_TTML_SECTION(HOWARD_TTML_ROPE_SCALING, "transformer_config.rope_scaling",
                      transformer.rope_scaling)
  HOWARD_TTML_SECTION(HOWARD_TTML_LORA, "lora_config", lora)
  HOWARD_TTML_SECTION(HOWARD_TTML_GRPO, "grpo_config", grpo)
#undef HOWARD_TTML_SECTION
#undef HOWARD_TTML_VISIT
}

}  // namespace howard::training
