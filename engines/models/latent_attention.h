// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/layers.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// The attention of a deepseek. Keys and values come from a latent row, which is narrower than the
/// model, and queries from another one, or from x itself. A head of q and k has columns without
/// positions, and behind them columns that rotary positions turn; the latter are the same for all
/// heads of k, and come from x.
class LatentAttention {
 public:
  LatentAttention(const ParameterMaker& make, const std::string& name, const ModelOptions& options);

  std::vector<autograd::Parameter*> all();

  /// Returns the attention of x [n, 1, s, width]. `tables` are of the columns that are turned, and
  /// `mask` [s, s] is there where the options have no fused attention.
  autograd::Value run(autograd::Tape& tape, autograd::Value x, const ModelOptions& options,
                      const autograd::RotaryTables& tables, std::optional<autograd::Value> mask);

 private:
  autograd::Value query(autograd::Tape& tape, autograd::Value x);

  std::optional<autograd::Parameter> whole_query_;  ///< wq, where there is no row for queries.
  /// wq_a, q_norm and wq_b: from x to the row for queries, its norm, and from there to the heads.
  std::optional<autograd::Parameter> query_in_, query_norm_, query_out_;
  autograd::Parameter latent_in_;  ///< wkv_a: the latent row, and the columns that are turned.
  autograd::Parameter latent_norm_;
  autograd::Parameter latent_out_;  ///< wkv_b: heads of k's columns without positions and of v.
  autograd::Parameter output_;
};

}  // namespace howard::models
