// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/training/range.h"

namespace howard::training {

/// Says which values a key takes by itself.
struct Accepted {
  Range range;             ///< Of a number.
  std::string_view words;  ///< Of a text, with blanks between; if empty, any text.
};

namespace ttml {

inline constexpr Accepted kAny{};
inline constexpr Accepted kCounted{.range = {.least = 1, .most = 1'000'000'000}};
inline constexpr Accepted kInterval{.range = {.least = 0, .most = 1'000'000'000}};
inline constexpr Accepted kRows{.range = {.least = 0, .most = 1 << 24}};
inline constexpr Accepted kSize{.range = {.least = 1, .most = 1 << 24}};
constexpr Accepted one_of(std::string_view words) { return {.range = {}, .words = words}; }

using Flag = std::optional<bool>;
using Count = std::optional<std::int64_t>;
using Number = std::optional<float>;
using Text = std::optional<std::string>;
using Counts = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;
using CountOfRank = std::map<std::int64_t, std::int64_t>;

}  // namespace ttml

// TTML's keys. Each stands in one row: KEY(type, name, values that it takes, default), where the
// default is what TTML's code takes when the key is absent. What an empty default stands for is
// said above its table. A macro lists them, as a member's name is text as well.

// These are the maps `muon` and `adamw` of a MuonWithAdamW.
#define HOWARD_TTML_MUON(KEY) \
  KEY(Number, lr, kAny)       \
  KEY(Number, momentum, kAny) \
  KEY(Count, ns_steps, kAny)
#define HOWARD_TTML_ADAMW(KEY)    \
  KEY(Number, lr, kAny)           \
  KEY(Number, beta1, kAny)        \
  KEY(Number, beta2, kAny)        \
  KEY(Number, epsilon, kAny)      \
  KEY(Number, weight_decay, kAny) \
  KEY(Flag, amsgrad, kAny)        \
  KEY(Flag, stochastic_rounding, kAny)

// This is `optimizer` of training_config, as files of 2026 have it: it takes the place of the
// single keys. ns_steps is for MuonComposite (5), adamw_modules for MuonWithAdamW.
#define HOWARD_TTML_OPTIMIZER(KEY)                                                  \
  KEY(Text, type,                                                                   \
      one_of("AdamW AdamWComposite AdamWFullPrecision MorehAdamW SGD SGDComposite " \
             "MuonComposite MuonWithAdamW NoOp"))                                   \
  KEY(Number, lr, kAny)                                                             \
  KEY(Number, beta1, kAny)                                                          \
  KEY(Number, beta2, kAny)                                                          \
  KEY(Number, epsilon, kAny)                                                        \
  KEY(Number, weight_decay, kAny)                                                   \
  KEY(Number, momentum, kAny)                                                       \
  KEY(Number, dampening, kAny)                                                      \
  KEY(Flag, nesterov, kAny)                                                         \
  KEY(Flag, amsgrad, kAny)                                                          \
  KEY(Flag, stochastic_rounding, kAny)                                              \
  KEY(Flag, kahan_summation, kAny)                                                  \
  KEY(Count, ns_steps, kAny)                                                        \
  KEY(std::optional<Texts>, adamw_modules, kAny)

// TTML's files may name the model_type here too; the one of transformer_config counts. The run ends
// at whichever comes first, num_epochs or max_steps. batch_size is divided by the devices of DDP;
// half of it, or 1, is the default of validation_batch_size. Without a checkpoint_dir the run is
// not saved, and without eval_every there is no validation; a model_save_interval of 0 saves at the
// end alone. multihost_config is a file, like model_config. With lazy_parameter_init parameters are
// allocated when they are divided already (FSDP).
#define HOWARD_TTML_TRAINING(KEY)                                                                  \
  KEY(std::string, project_name, kAny, "tt_train_nano_gpt")                                        \
  KEY(Text, model_type, kAny)                                                                      \
  KEY(std::int64_t, seed, kAny, 5489)                                                              \
  KEY(std::int64_t, batch_size, kAny, 64)                                                          \
  KEY(Count, validation_batch_size, kCounted)                                                      \
  KEY(std::int64_t, num_epochs, kCounted, 1)                                                       \
  KEY(std::int64_t, max_steps, kAny, 5000)                                                         \
  KEY(std::int64_t, gradient_accumulation_steps, kAny, 1)                                          \
  KEY(float, learning_rate, kAny, 3e-4F)                                                           \
  KEY(float, weight_decay, kAny, 0.01F)                                                            \
  KEY(float, beta1, kAny, 0.9F)                                                                    \
  KEY(float, beta2, kAny, 0.999F)                                                                  \
  KEY(float, eps, kAny, 1e-8F)                                                                     \
  KEY(bool, use_moreh_adamw, kAny, false)                                                          \
  KEY(bool, use_kahan_summation, kAny, false)                                                      \
  KEY(bool, use_no_op, kAny, false)                                                                \
  KEY(bool, use_clip_grad_norm, kAny, false)                                                       \
  KEY(float, clip_grad_norm_max_norm, kAny, 1)                                                     \
  KEY(std::string, scheduler_type, one_of("identity warmup_linear step linear cosine sequential"), \
      "identity")                                                                                  \
  KEY(std::string, tokenizer_type, one_of("char bpe"), "char")                                     \
  KEY(Text, tokenizer_path, kAny)                                                                  \
  KEY(std::string, data_path, kAny, "data/shakespeare.txt")                                        \
  KEY(Text, model_config, kAny)                                                                    \
  KEY(Text, multihost_config, kAny)                                                                \
  KEY(std::int64_t, model_save_interval, kInterval, 500)                                           \
  KEY(bool, lazy_parameter_init, kAny, false)                                                      \
  KEY(Text, checkpoint_dir, kAny)                                                                  \
  KEY(Count, eval_every, kInterval)

// These are of TTML's mnist_mlp, where they stand in mlp_config of training_config; the interval is
// training_config's own there (50). The first three are needed.
#define HOWARD_TTML_MLP(KEY)                         \
  KEY(Count, input_features, kSize)                  \
  KEY(std::optional<Counts>, hidden_features, kSize) \
  KEY(Count, output_features, kSize)                 \
  KEY(Count, logging_interval, kCounted)

// The rate rises linearly from 0 to max_lr, stays constant, and falls linearly to min_lr at the
// last step. Without max_lr there is no such schedule, and min_lr is the least rate of cosine.
// beta1_warmup_steps of 0 means that beta1 is not changed. The keys from step_size on are for
// scheduler_types that TTML's files do not name, but its library has; each is an argument of the
// scheduler there: step_size and gamma (0.1) of step, the factors (1 and 0) of linear, total_steps
// (max_steps) of linear and cosine, and the last two of sequential: which, and for how many steps.
#define HOWARD_TTML_SCHEDULER(KEY)                                            \
  KEY(Number, max_lr, kAny)                                                   \
  KEY(float, min_lr, kAny, 0)                                                 \
  KEY(std::int64_t, warmup_steps, kAny, 100)                                  \
  KEY(std::int64_t, hold_steps, kAny, 0)                                      \
  KEY(float, beta1_start, kAny, 0.85F)                                        \
  KEY(float, beta1_end, kAny, 0.95F)                                          \
  KEY(std::int64_t, beta1_warmup_steps, kAny, 0)                              \
  KEY(Count, step_size, kAny)                                                 \
  KEY(Number, gamma, kAny)                                                    \
  KEY(Number, start_factor, kAny)                                             \
  KEY(Number, end_factor, kAny)                                               \
  KEY(Count, total_steps, kAny)                                               \
  KEY(Texts, schedulers, one_of("identity warmup_linear step linear cosine")) \
  KEY(Counts, milestones, kCounted)

// Says how text is written at the end. A top_k of -1 means all.
#define HOWARD_TTML_EVALUATION(KEY)       \
  KEY(float, repetition_penalty, kAny, 1) \
  KEY(float, temperature, kAny, 1)        \
  KEY(std::int64_t, top_k, kAny, -1)      \
  KEY(float, top_p, kAny, 1)

// If device_ids is empty, all are used.
#define HOWARD_TTML_DEVICES(KEY)        \
  KEY(Counts, mesh_shape, kAny, {1, 1}) \
  KEY(Counts, device_ids, kAny)         \
  KEY(bool, enable_ddp, kAny, false)    \
  KEY(bool, enable_tp, kAny, false)     \
  KEY(bool, enable_fsdp, kAny, false)   \
  KEY(bool, enable_cp, kAny, false)     \
  KEY(bool, enable_sp, kAny, false)     \
  KEY(bool, enable_pp, kAny, false)

// This is pipeline_parallel_config.
#define HOWARD_TTML_PIPELINE(KEY) \
  KEY(Count, num_blocks, kAny)    \
  KEY(CountOfRank, blocks_per_rank, kAny)

#define HOWARD_TTML_MULTIHOST(KEY)        \
  KEY(bool, enabled, kAny, false)         \
  KEY(std::int64_t, num_workers, kAny, 0) \
  KEY(std::string, socket_type, one_of("mpi fabric"), "mpi")

// TTML's adapters are made in Python; this section, with the names of its LoraConfig, is Howard's.
// A rank of 0 means none; target_modules are regular expressions of names with dots.
#define HOWARD_TTML_LORA(KEY)        \
  KEY(std::int64_t, rank, kAny, 0)   \
  KEY(float, alpha, kAny, 16)        \
  KEY(bool, use_rslora, kAny, false) \
  KEY(Texts, target_modules, kAny)

// These are of TTML's GRPOTrainer; all but the last three are needed. micro_batch_size is an older
// name of per_device_train_batch_size, and nothing reads batch_size.
#define HOWARD_TTML_GRPO(KEY)                       \
  KEY(Number, epsilon, kAny)                        \
  KEY(Count, per_device_train_batch_size, kCounted) \
  KEY(Count, num_iterations, kCounted)              \
  KEY(Count, gradient_accumulation_steps, kCounted) \
  KEY(Count, logging_steps, kCounted)               \
  KEY(Flag, checkpointing, kAny)                    \
  KEY(Count, checkpoint_interval, kCounted)         \
  KEY(Count, prompts_to_train, kCounted)            \
  KEY(Number, temperature, kAny)                    \
  KEY(Count, max_completion_length, kCounted)       \
  KEY(Count, num_generations, kCounted)             \
  KEY(Count, warmup_steps, kInterval)               \
  KEY(Text, output_dir, kAny)                       \
  KEY(Count, batch_size, kInterval)                 \
  KEY(Count, micro_batch_size, kCounted)

// There is no scaling when scaling_factor is 0.
#define HOWARD_TTML_ROPE_SCALING(KEY)   \
  KEY(float, scaling_factor, kAny, 0)   \
  KEY(float, high_freq_factor, kAny, 4) \
  KEY(float, low_freq_factor, kAny, 1)  \
  KEY(std::int64_t, original_context_length, kAny, 0)

// Howard adds all but the first: TTML chooses in its code. use_fused_attention is true by default
// in files of 2026, which have an `optimizer`.
#define HOWARD_TTML_EXPERIMENTAL(KEY)             \
  KEY(bool, use_composite_layernorm, kAny, false) \
  KEY(bool, use_composite_rmsnorm, kAny, false)   \
  KEY(bool, use_fused_swiglu, kAny, false)        \
  KEY(Flag, use_fused_attention, kAny)

// These are of a deepseek, and lie in transformer_config. inter_dim is what intermediate_dim is for
// the others. A q_lora_rank of 0 means one product for queries.
#define HOWARD_TTML_DEEPSEEK(KEY)                                    \
  KEY(Count, inter_dim, kSize)                                       \
  KEY(std::int64_t, moe_inter_dim, kSize, 256)                       \
  KEY(std::int64_t, n_dense_layers, kAny, 2)                         \
  KEY(std::int64_t, n_routed_experts, kAny, 8)                       \
  KEY(std::int64_t, n_shared_experts, kAny, 1)                       \
  KEY(std::int64_t, n_activated_experts, kAny, 2)                    \
  KEY(std::int64_t, n_expert_groups, kAny, 2)                        \
  KEY(std::int64_t, n_limited_groups, kAny, 1)                       \
  KEY(std::string, score_func, one_of("sigmoid softmax"), "sigmoid") \
  KEY(float, route_scale, kAny, 2.5F)                                \
  KEY(std::int64_t, q_lora_rank, kRows, 256)                         \
  KEY(std::int64_t, kv_lora_rank, kSize, 128)                        \
  KEY(std::int64_t, qk_nope_head_dim, kSize, 64)                     \
  KEY(std::int64_t, qk_rope_head_dim, kSize, 32)                     \
  KEY(std::int64_t, v_head_dim, kSize, 64)

// The default of dropout_prob is 0.2, or 0 for a llama, a qwen3 or a deepseek; of vocab_size the
// tokenizer's, in whole tiles; of intermediate_dim and inter_dim 8/3 of embedding_dim, up to a
// multiple of 256; of head_dim, which is for qwen3, embedding_dim / num_heads; of theta 10000, or
// 1000000 for a qwen3. The norms of a gpt2 with a bias have a beta.
#define HOWARD_TTML_TRANSFORMER(KEY)                                                         \
  KEY(std::string, model_type, one_of("gpt2 llama qwen3 deepseek"), "gpt2")                  \
  KEY(Text, model_path, kAny)                                                                \
  KEY(std::string, runner_type, one_of("default memory_efficient"), "default")               \
  KEY(std::int64_t, num_heads, kAny, 6)                                                      \
  KEY(std::int64_t, embedding_dim, kAny, 384)                                                \
  KEY(std::int64_t, num_blocks, kAny, 6)                                                     \
  KEY(Number, dropout_prob, kAny)                                                            \
  KEY(Count, vocab_size, kRows)                                                              \
  KEY(std::int64_t, max_sequence_length, kAny, 256)                                          \
  KEY(std::string, weight_tying, one_of("disabled enabled"), "disabled")                     \
  KEY(std::string, positional_embedding_type, one_of("trainable fixed"), "trainable")        \
  KEY(std::int64_t, num_groups, kAny, 3)                                                     \
  KEY(Count, intermediate_dim, kSize)                                                        \
  KEY(Number, theta, kAny)                                                                   \
  KEY(Count, head_dim, kSize)                                                                \
  KEY(bool, attention_bias, kAny, false)                                                     \
  KEY(bool, bias, kAny, true)                                                                \
  KEY(std::string, embedding_placement, one_of("replicated feature_parallel"), "replicated") \
  HOWARD_TTML_DEEPSEEK(KEY)

}  // namespace howard::training
