// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/training/config/ttml_config.h"

namespace howard::training {

template <class Optimizer, class Visit>
void for_each_optimizer_key(Optimizer& from, Visit&& visit) {
  const auto optimizer = [&](const char* name, auto& field) {
    visit("training_config.optimizer", name, field);
  };
  optimizer("type", from.type);
  optimizer("lr", from.lr);
  optimizer("beta1", from.beta1);
  optimizer("beta2", from.beta2);
  optimizer("epsilon", from.epsilon);
  optimizer("weight_decay", from.weight_decay);
  optimizer("momentum", from.momentum);
  optimizer("dampening", from.dampening);
  optimizer("nesterov", from.nesterov);
  optimizer("amsgrad", from.amsgrad);
  optimizer("stochastic_rounding", from.stochastic_rounding);
  optimizer("kahan_summation", from.kahan_summation);
  optimizer("ns_steps", from.ns_steps);
  optimizer("adamw_modules", from.adamw_modules);
  const auto muon = [&](const char* name, auto& field) {
    visit("training_config.optimizer.muon", name, field);
  };
  muon("lr", from.muon.lr);
  muon("momentum", from.muon.momentum);
  muon("ns_steps", from.muon.ns_steps);
  const auto adamw = [&](const char* name, auto& field) {
    visit("training_config.optimizer.adamw", name, field);
  };
  adamw("lr", from.adamw.lr);
  adamw("beta1", from.adamw.beta1);
  adamw("beta2", from.adamw.beta2);
  adamw("epsilon", from.adamw.epsilon);
  adamw("weight_decay", from.adamw.weight_decay);
  adamw("amsgrad", from.adamw.amsgrad);
  adamw("stochastic_rounding", from.adamw.stochastic_rounding);
}

template <class Training, class Visit>
void for_each_training_key(Training& training, Visit&& visit) {
  const auto key = [&](const char* name, auto& field) { visit("training_config", name, field); };
  key("project_name", training.project_name);
  key("model_type", training.model_type);
  key("seed", training.seed);
  key("batch_size", training.batch_size);
  key("validation_batch_size", training.validation_batch_size);
  key("num_epochs", training.num_epochs);
  key("max_steps", training.max_steps);
  key("gradient_accumulation_steps", training.gradient_accumulation_steps);
  key("learning_rate", training.learning_rate);
  key("weight_decay", training.weight_decay);
  key("beta1", training.beta1);
  key("beta2", training.beta2);
  key("eps", training.eps);
  key("use_moreh_adamw", training.use_moreh_adamw);
  key("use_kahan_summation", training.use_kahan_summation);
  key("use_no_op", training.use_no_op);
  key("use_clip_grad_norm", training.use_clip_grad_norm);
  key("clip_grad_norm_max_norm", training.clip_grad_norm_max_norm);
  key("scheduler_type", training.scheduler_type);
  key("tokenizer_type", training.tokenizer_type);
  key("tokenizer_path", training.tokenizer_path);
  key("data_path", training.data_path);
  key("model_config", training.model_config);
  key("multihost_config", training.multihost_config);
  key("model_save_interval", training.model_save_interval);
  key("lazy_parameter_init", training.lazy_parameter_init);
  key("checkpoint_dir", training.checkpoint_dir);
  key("eval_every", training.eval_every);
  for_each_optimizer_key(training.optimizer, visit);
}

template <class Transformer, class Visit>
void for_each_transformer_key(Transformer& model, Visit&& visit) {
  const auto key = [&](const char* name, auto& field) { visit("transformer_config", name, field); };
  key("model_type", model.model_type);
  key("model_path", model.model_path);
  key("runner_type", model.runner_type);
  key("num_heads", model.num_heads);
  key("embedding_dim", model.embedding_dim);
  key("num_blocks", model.num_blocks);
  key("dropout_prob", model.dropout_prob);
  key("vocab_size", model.vocab_size);
  key("max_sequence_length", model.max_sequence_length);
  key("weight_tying", model.weight_tying);
  key("positional_embedding_type", model.positional_embedding_type);
  key("num_groups", model.num_groups);
  key("intermediate_dim", model.intermediate_dim);
  key("theta", model.theta);
  key("head_dim", model.head_dim);
  key("attention_bias", model.attention_bias);
  key("bias", model.bias);
  key("embedding_placement", model.embedding_placement);
  const auto experimental = [&](const char* name, auto& field) {
    visit("transformer_config.experimental", name, field);
  };
  experimental("use_composite_layernorm", model.use_composite_layernorm);
  experimental("use_composite_rmsnorm", model.use_composite_rmsnorm);
  experimental("use_fused_swiglu", model.use_fused_swiglu);
  experimental("use_fused_attention", model.use_fused_attention);
  const auto scaling = [&](const char* name, auto& field) {
    visit("transformer_config.rope_scaling", name, field);
  };
  scaling("scaling_factor", model.rope_scaling.scaling_factor);
  scaling("high_freq_factor", model.rope_scaling.high_freq_factor);
  scaling("low_freq_factor", model.rope_scaling.low_freq_factor);
  scaling("original_context_length", model.rope_scaling.original_context_length);
}

template <class Config, class Visit>
void for_each_ttml_key(Config& config, Visit&& visit) {
  for_each_training_key(config.training, visit);
  const auto scheduler = [&](const char* name, auto& field) {
    visit("scheduler_config", name, field);
  };
  scheduler("max_lr", config.scheduler.max_lr);
  scheduler("min_lr", config.scheduler.min_lr);
  scheduler("warmup_steps", config.scheduler.warmup_steps);
  scheduler("hold_steps", config.scheduler.hold_steps);
  scheduler("beta1_start", config.scheduler.beta1_start);
  scheduler("beta1_end", config.scheduler.beta1_end);
  scheduler("beta1_warmup_steps", config.scheduler.beta1_warmup_steps);
  scheduler("step_size", config.scheduler.step_size);
  scheduler("gamma", config.scheduler.gamma);
  scheduler("start_factor", config.scheduler.start_factor);
  scheduler("end_factor", config.scheduler.end_factor);
  scheduler("total_steps", config.scheduler.total_steps);
  scheduler("schedulers", config.scheduler.schedulers);
  scheduler("milestones", config.scheduler.milestones);
  visit("eval_config", "repetition_penalty", config.evaluation.repetition_penalty);
  visit("eval_config", "temperature", config.evaluation.temperature);
  visit("eval_config", "top_k", config.evaluation.top_k);
  visit("eval_config", "top_p", config.evaluation.top_p);
  const auto device = [&](const char* name, auto& field) { visit("device_config", name, field); };
  device("mesh_shape", config.devices.mesh_shape);
  device("device_ids", config.devices.device_ids);
  device("enable_ddp", config.devices.enable_ddp);
  device("enable_tp", config.devices.enable_tp);
  device("enable_fsdp", config.devices.enable_fsdp);
  device("enable_cp", config.devices.enable_cp);
  device("enable_sp", config.devices.enable_sp);
  device("enable_pp", config.devices.enable_pp);
  visit("multihost_config", "enabled", config.multihost.enabled);
  visit("multihost_config", "num_workers", config.multihost.num_workers);
  visit("multihost_config", "socket_type", config.multihost.socket_type);
  const char* const pipeline = "multihost_config.pipeline_parallel_config";
  visit(pipeline, "num_blocks", config.multihost.num_blocks);
  visit(pipeline, "blocks_per_rank", config.multihost.blocks_per_rank);
  for_each_transformer_key(config.transformer, visit);
}

}  // namespace howard::training
