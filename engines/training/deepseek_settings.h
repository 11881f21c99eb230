// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "engines/training/setting.h"
#include "engines/training/setting_conditions.h"

namespace howard::training::settings {

template <class RecipeType, class Visit>
void visit_experts(RecipeType& recipe, Visit& visit) {
  constexpr Range kExperts{.least = 1, .most = 256};  // TTML's limit
  auto& own = recipe.model.deepseek;
  visit({"experts", "transformer_config.n_routed_experts", kExperts, {}, kDeepSeek}, own.experts);
  visit({"shared-experts", "transformer_config.n_shared_experts", kExperts, {}, kDeepSeek},
        own.shared);
  visit({"expert-groups",
         "transformer_config.n_expert_groups",
         kExperts,
         {[](const Recipe& r) {
            return !is_deepseek(r) || r.model.deepseek.experts % r.model.deepseek.groups == 0;
          },
          "a divisor of the experts"},
         kDeepSeek},
        own.groups);
  visit({"limited-groups",
         "transformer_config.n_limited_groups",
         kExperts,
         {[](const Recipe& r) {
            return !is_deepseek(r) || r.model.deepseek.limited <= r.model.deepseek.groups;
          },
          "1 up to the number of groups of experts"},
         kDeepSeek},
        own.limited);
  visit({"chosen-experts",
         "transformer_config.n_activated_experts",
         kExperts,
         {[](const Recipe& r) {
            return !is_deepseek(r) || r.model.deepseek.chosen <= r.model.deepseek.available();
          },
          "1 up to the experts of the groups that a token may choose among"},
         kDeepSeek},
        own.chosen);
  visit({"expert-width", "transformer_config.moe_inter_dim", kColumns, {}, kDeepSeek},
        own.expert_width);
  visit({"score-function", "", {}, {}, kDeepSeek}, own.scores);
  visit({"route-scale", "transformer_config.route_scale", kPositive, {}, kDeepSeek},
        own.route_scale);
}

/// Visits the settings of models of the kind deepseek alone.
template <class RecipeType, class Visit>
void visit_deepseek(RecipeType& recipe, Visit& visit) {
  constexpr Range kRank{.least = 0, .most = 1 << 24};
  auto& own = recipe.model.deepseek;
  // The usual 2 stand for all blocks of a smaller model, too.
  visit({"dense-layers",
         "transformer_config.n_dense_layers",
         kFromZero,
         {[](const Recipe& r) {
            return !is_deepseek(r) || r.model.deepseek.dense_layers <= std::max(r.model.layers, 2);
          },
          "no more than num_blocks"},
         kDeepSeek},
        own.dense_layers);
  visit_experts(recipe, visit);
  visit({"query-rank", "transformer_config.q_lora_rank", kRank, {}, kDeepSeek}, own.query_rank);
  visit({"latent-rank", "transformer_config.kv_lora_rank", kColumns, {}, kDeepSeek},
        own.latent_rank);
  visit({"plain-width", "transformer_config.qk_nope_head_dim", kColumns, {}, kDeepSeek},
        own.plain_width);
  visit({"turned-width",
         "transformer_config.qk_rope_head_dim",
         kColumns,
         {[](const Recipe& r) { return !is_deepseek(r) || r.model.deepseek.turned_width % 2 == 0; },
          "an even number"},
         kDeepSeek},
        own.turned_width);
  visit({"value-width", "transformer_config.v_head_dim", kColumns, {}, kDeepSeek}, own.value_width);
}

}  // namespace howard::training::settings
