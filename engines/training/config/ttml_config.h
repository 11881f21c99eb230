// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace howard::training {

// TTML's configuration files are structures here. Names are those of the files; a default is what
// TTML's code takes when the key is absent. An optional has no default of its own: the comment
// beside the key says what takes its place.

/// These are the maps `muon` and `adamw` of a MuonWithAdamW.
struct TtmlMuon {
  std::optional<float> lr, momentum;
  std::optional<std::int64_t> ns_steps;

  friend bool operator==(const TtmlMuon&, const TtmlMuon&) = default;
};
struct TtmlAdamW {
  std::optional<float> lr, beta1, beta2, epsilon, weight_decay;
  std::optional<bool> amsgrad, stochastic_rounding;

  friend bool operator==(const TtmlAdamW&, const TtmlAdamW&) = default;
};

/// This is `optimizer` of training_config, as newer files have it; it takes the place of the single
/// keys.
struct TtmlOptimizer {
  /// AdamW, AdamWComposite, AdamWFullPrecision, MorehAdamW, SGD, SGDComposite, MuonComposite,
  /// MuonWithAdamW, NoOp.
  std::optional<std::string> type;
  std::optional<float> lr, beta1, beta2, epsilon, weight_decay, momentum, dampening;
  std::optional<bool> amsgrad, stochastic_rounding, kahan_summation, nesterov;
  std::optional<std::int64_t> ns_steps;                   ///< MuonComposite; 5.
  std::optional<std::vector<std::string>> adamw_modules;  ///< MuonWithAdamW
  TtmlMuon muon;
  TtmlAdamW adamw;

  friend bool operator==(const TtmlOptimizer&, const TtmlOptimizer&) = default;
};

struct TtmlTraining {
  std::string project_name = "tt_train_nano_gpt";
  /// TTML's files may name the model here too; the one of transformer_config counts.
  std::optional<std::string> model_type;
  std::int64_t seed = 5489;
  std::int64_t batch_size = 64;  ///< Sequences of a step; divided by the devices of DDP.
  std::optional<std::int64_t> validation_batch_size;  ///< Half of batch_size, 1 or more.
  std::int64_t num_epochs = 1;                        ///< The run ends at whichever comes first,
  std::int64_t max_steps = 5000;                      ///< epochs or steps.
  std::int64_t gradient_accumulation_steps = 1;
  float learning_rate = 3e-4F;
  float weight_decay = 0.01F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float eps = 1e-8F;
  bool use_moreh_adamw = false;
  bool use_kahan_summation = false;
  bool use_no_op = false;
  bool use_clip_grad_norm = false;
  float clip_grad_norm_max_norm = 1;
  std::string scheduler_type = "identity";
  std::string tokenizer_type = "char";
  std::optional<std::string> tokenizer_path;
  std::string data_path = "data/shakespeare.txt";
  std::optional<std::string> model_config;
  std::optional<std::string> multihost_config;  ///< A file, like model_config.
  std::int64_t model_save_interval = 500;       ///< In steps; 0: at the end alone.
  /// Parameters are allocated when they are divided already (FSDP).
  bool lazy_parameter_init = false;
  std::optional<std::string> checkpoint_dir;  ///< If absent, the run is not saved.
  std::optional<std::int64_t> eval_every;     ///< In steps; if absent, there is no validation.
  TtmlOptimizer optimizer;

  friend bool operator==(const TtmlTraining&, const TtmlTraining&) = default;
};

/// The rate rises linearly from 0 to max_lr, stays constant, and falls linearly to min_lr at the
/// last step. Without max_lr there is no such schedule, and min_lr is the least rate of cosine.
struct TtmlScheduler {
  std::optional<float> max_lr;
  float min_lr = 0;
  std::int64_t warmup_steps = 100;
  std::int64_t hold_steps = 0;
  float beta1_start = 0.85F;
  float beta1_end = 0.95F;
  std::int64_t beta1_warmup_steps = 0;  ///< 0 means that beta1 is not changed.

  // These are for scheduler_types that TTML's files do not name, but its library has. Each is an
  // argument of the scheduler there.
  std::optional<std::int64_t> step_size;          ///< step
  std::optional<float> gamma;                     ///< step; 0.1.
  std::optional<float> start_factor, end_factor;  ///< linear; 1 and 0.
  std::optional<std::int64_t> total_steps;        ///< linear, cosine; max_steps.
  std::vector<std::string> schedulers;            ///< sequential, with `milestones`:
  std::vector<std::int64_t> milestones;           ///< how many steps each of them has.

  friend bool operator==(const TtmlScheduler&, const TtmlScheduler&) = default;
};

/// Says how text is written at the end.
struct TtmlEvaluation {
  float repetition_penalty = 1;
  float temperature = 1;
  std::int64_t top_k = -1;  ///< -1 means all.
  float top_p = 1;

  friend bool operator==(const TtmlEvaluation&, const TtmlEvaluation&) = default;
};

struct TtmlDevices {
  std::vector<std::int64_t> mesh_shape{1, 1};
  std::vector<std::int64_t> device_ids;  ///< If empty, all.
  bool enable_ddp = false;
  bool enable_tp = false;
  bool enable_fsdp = false;
  bool enable_cp = false;
  bool enable_sp = false;
  bool enable_pp = false;

  friend bool operator==(const TtmlDevices&, const TtmlDevices&) = default;
};

struct TtmlMultihost {
  bool enabled = false;
  std::int64_t num_workers = 0;
  std::string socket_type = "mpi";
  std::optional<std::int64_t> num_blocks;  ///< In pipeline_parallel_config.
  std::map<std::int64_t, std::int64_t> blocks_per_rank;

  friend bool operator==(const TtmlMultihost&, const TtmlMultihost&) = default;
};

/// There is no scaling when scaling_factor is 0.
struct TtmlRopeScaling {
  float scaling_factor = 0;
  float high_freq_factor = 4;
  float low_freq_factor = 1;
  std::int64_t original_context_length = 0;

  friend bool operator==(const TtmlRopeScaling&, const TtmlRopeScaling&) = default;
};

struct TtmlTransformer {
  std::string model_type = "gpt2";
  std::optional<std::string> model_path;
  std::string runner_type = "default";
  std::int64_t num_heads = 6;
  std::int64_t embedding_dim = 384;
  std::int64_t num_blocks = 6;
  std::optional<float> dropout_prob;       ///< 0.2, or 0 for a llama.
  std::optional<std::int64_t> vocab_size;  ///< The tokenizer's, in whole tiles.
  std::int64_t max_sequence_length = 256;
  std::string weight_tying = "disabled";
  std::string positional_embedding_type = "trainable";
  bool use_composite_layernorm = false;  ///< In experimental.
  /// These are in experimental too, but not TTML's: it chooses in its code.
  bool use_composite_rmsnorm = false, use_fused_swiglu = false;
  std::optional<bool> use_fused_attention;  ///< True in files of 2026, which have an `optimizer`.
  std::int64_t num_groups = 3;
  std::optional<std::int64_t> intermediate_dim;  ///< 8/3 of embedding_dim, up to a multiple of 256.
  float theta = 10000;
  std::optional<std::int64_t> head_dim;  ///< qwen3; embedding_dim / num_heads.
  bool attention_bias = false;           ///< qwen3
  bool bias = true;                      ///< gpt2: the norms have a beta.
  TtmlRopeScaling rope_scaling;
  std::string embedding_placement = "replicated";

  friend bool operator==(const TtmlTransformer&, const TtmlTransformer&) = default;
};

struct TtmlConfig {
  TtmlTraining training;
  TtmlScheduler scheduler;
  TtmlEvaluation evaluation;
  TtmlDevices devices;
  TtmlMultihost multihost;
  TtmlTransformer transformer;

  friend bool operator==(const TtmlConfig&, const TtmlConfig&) = default;
};

/// Calls visit(section, key, field) for each key, section by section. The section of a map within a
/// map has a dot: "transformer_config.rope_scaling".
template <class Config, class Visit>
void for_each_ttml_key(Config& config, Visit&& visit);

}  // namespace howard::training

#include "engines/training/config/ttml_keys.h"
