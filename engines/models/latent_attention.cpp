// SPDX-License-Identifier: Apache-2.0
#include "engines/models/latent_attention.h"

#include "engines/autograd/functions/attention/attention.h"
#include "engines/autograd/functions/attention/grouped_attention.h"
#include "engines/autograd/functions/attention/latent_parts.h"
#include "engines/autograd/functions/attention/model_parts.h"
#include "engines/autograd/functions/data_movement/columns.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"
#include "engines/models/llama.h"

namespace howard::models {

using autograd::Parameter;
using autograd::Tape;
using autograd::Value;

LatentAttention::LatentAttention(const ParameterMaker& make, const std::string& name,
                                 const ModelOptions& options)
    : latent_in_(make.matrix(name + "/wkv_a/weight",
                             options.deepseek.latent_rank + options.deepseek.turned_width,
                             options.width)),
      latent_norm_(make.matrix(name + "/kv_norm/gamma", 1, options.deepseek.latent_rank)),
      latent_out_(
          make.matrix(name + "/wkv_b/weight",
                      options.heads * (options.deepseek.plain_width + options.deepseek.value_width),
                      options.deepseek.latent_rank)),
      output_(make.matrix(name + "/wo/weight", options.width,
                          options.heads * options.deepseek.value_width)) {
  const std::int64_t rank = options.deepseek.query_rank;
  const std::int64_t queries = options.heads * options.deepseek.head_columns();
  if (rank == 0) {
    whole_query_ = make.matrix(name + "/wq/weight", queries, options.width);
  } else {
    query_in_ = make.matrix(name + "/wq_a/weight", rank, options.width);
    query_norm_ = make.matrix(name + "/q_norm/gamma", 1, rank);
    query_out_ = make.matrix(name + "/wq_b/weight", queries, rank);
  }
}

std::vector<Parameter*> LatentAttention::all() {
  std::vector<Parameter*> all;
  for (auto* const parameter : {&whole_query_, &query_in_, &query_norm_, &query_out_}) {
    if (*parameter) all.push_back(&**parameter);
  }
  for (Parameter* parameter : {&latent_in_, &latent_norm_, &latent_out_, &output_}) {
    all.push_back(parameter);
  }
  return all;
}

Value LatentAttention::query(Tape& tape, Value x) {
  if (whole_query_) return autograd::project(tape, x, tape.parameter(*whole_query_));
  const Value row = autograd::project(tape, x, tape.parameter(*query_in_));
  const Value normalized = autograd::rms_norm(tape, row, tape.parameter(*query_norm_), kRmsEpsilon);
  return autograd::project(tape, normalized, tape.parameter(*query_out_));
}

Value LatentAttention::run(Tape& tape, Value x, const ModelOptions& options,
                           const autograd::RotaryTables& tables, std::optional<Value> mask) {
  const DeepSeekOptions& own = options.deepseek;
  const auto turned = [&](Value heads) {
    return autograd::rotary_embedding(tape, heads, tables, RotaryStyle::pairs);
  };
  const Value heads = autograd::separate_heads(tape, query(tape, x), options.heads);
  const Value plain = autograd::columns_of(tape, heads, 0, own.plain_width);
  const Value places = autograd::columns_of(tape, heads, own.plain_width, own.turned_width);
  const Value queries = autograd::side_by_side(tape, plain, turned(places));

  const Value both = autograd::project(tape, x, tape.parameter(latent_in_));
  const Value latent = autograd::columns_of(tape, both, 0, own.latent_rank);
  const Value place = autograd::columns_of(tape, both, own.latent_rank, own.turned_width);
  const Value shared = autograd::repeated_head(tape, turned(place), options.heads);
  const Value row = autograd::rms_norm(tape, latent, tape.parameter(latent_norm_), kRmsEpsilon);
  const Value pairs = autograd::separate_heads(
      tape, autograd::project(tape, row, tape.parameter(latent_out_)), options.heads);
  const Value own_keys = autograd::columns_of(tape, pairs, 0, own.plain_width);
  const Value values = autograd::columns_of(tape, pairs, own.plain_width, own.value_width);
  const Value keys = autograd::side_by_side(tape, own_keys, shared);

  const Value attended =
      mask ? autograd::grouped_attention(tape, {.q = queries, .k = keys, .v = values}, *mask)
           : autograd::fused_attention(tape, queries, keys, values);
  return autograd::project(tape, autograd::join_heads(tape, attended), tape.parameter(output_));
}

}  // namespace howard::models
