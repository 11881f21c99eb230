// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/ops/attention/attention.h"
#include "engines/ops/attention/rotary.h"
#include "engines/ops/data_movement/heads.h"
#include "engines/ops/data_movement/slice_pad_permute.h"
#include "engines/ops/data_movement/transpose.h"
#include "engines/ops/elementwise/eltwise.h"
#include "engines/ops/rows/layernorm.h"
#include "engines/ops/rows/reduce.h"
#include "engines/ops/rows/rms_norm.h"
#include "engines/ops/rows/softmax.h"

namespace howard::ops {
namespace {

using Specs = std::span<const TensorSpec>;
using Tensors = std::span<const Tensor>;
using SpecList = std::vector<TensorSpec>;

EltwiseAttributes attributes_of(const OpCall& call) {
  EltwiseAttributes attributes{.function = *call.op->function, .then = call.then};
  for (std::size_t i = 0; i < call.numbers.size(); ++i) {
    attributes.numbers.at(i) = static_cast<float>(call.numbers[i]);
  }
  return attributes;
}

OpEntry eltwise_entry(const EltwiseEntry& entry) {
  constexpr std::array<std::string_view, kMostEltwiseNumbers> kNames{"first", "second"};
  OpEntry op{.name = std::string(entry.name),
             .meaning = std::string(entry.meaning),
             .tensors = static_cast<std::size_t>(entry.values),
             .function = entry.function};
  for (int i = 0; i < entry.numbers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    op.numbers.push_back({kNames.at(at), double{entry.defaults.at(at)}});
  }
  op.results = [](const OpCall& call, Specs in) {
    return SpecList{eltwise_output(attributes_of(call), in)};
  };
  op.program = [](const OpCall& call, Tensors in, Tensors out) {
    return eltwise(attributes_of(call), in, out[0]);
  };
  op.beside = [more = op.tensors - 1](const TensorSpec& first) { return SpecList(more, first); };
  return op;
}

/// Makes the entry of an op of one tensor that gives one of its shape.
OpEntry row_entry(std::string name, std::string meaning,
                  Program (*program)(const Tensor&, const Tensor&)) {
  return {.name = std::move(name),
          .meaning = std::move(meaning),
          .results = [](const OpCall&, Specs in) { return SpecList{in[0]}; },
          .program = [program](const OpCall&, Tensors in,
                               Tensors out) { return program(in[0], out[0]); },
          .beside = [](const TensorSpec&) { return SpecList(); }};
}

constexpr float kEpsilon = 1e-5F;  // ttnn's default is smaller; the value does not change the time.

void add_rows(std::vector<OpEntry>& all) {
  all.push_back(row_entry("softmax", "the softmax along the columns", softmax));
  all.push_back(
      row_entry("layernorm", "x less its mean, by its deviation, along the columns",
                [](const Tensor& x, const Tensor& out) { return layernorm(x, kEpsilon, out); }));
  all.push_back(
      {.name = "rms_norm",
       .meaning = "x by the root of the mean of its squares, along the columns, times a row",
       .tensors = 2,
       .results = [](const OpCall&, Specs in) { return SpecList{in[0]}; },
       .program = [](const OpCall&, Tensors in,
                     Tensors out) { return rms_norm(in[0], in[1], kEpsilon, out[0]); },
       .beside =
           [](const TensorSpec& x) {
             return SpecList{{{x.shape.columns()}, x.dtype}};
           }});
  all.push_back({.name = "softmax_backward",
                 .meaning = "dx of the softmax x and dy",
                 .tensors = 2,
                 .results = [](const OpCall&, Specs in) { return SpecList{in[0]}; },
                 .program = [](const OpCall&, Tensors in,
                               Tensors out) { return softmax_backward(in[0], in[1], out[0]); },
                 .beside = [](const TensorSpec& x) { return SpecList{x}; }});
}

void add_rotations(std::vector<OpEntry>& all) {
  for (const RotaryStyle style : {RotaryStyle::pairs, RotaryStyle::halves}) {
    const bool pairs = style == RotaryStyle::pairs;
    all.push_back({.name = pairs ? "rotary_embedding_llama" : "rotary_embedding",
                   .meaning = pairs ? "points of neighbouring columns turned by tables of cosines "
                                      "and sines"
                                    : "points of columns i and i + d / 2 turned by tables of "
                                      "cosines and sines",
                   .tensors = 3,
                   .results = [](const OpCall&, Specs in) { return SpecList{in[0]}; },
                   .program =
                       [style](const OpCall&, Tensors in, Tensors out) {
                         return rotary_embedding(in[0], in[1], in[2], style, out[0]);
                       },
                   .beside =
                       [](const TensorSpec& x) {
                         return SpecList(2, {{x.shape.rows(), x.shape.columns()}, x.dtype});
                       }});
  }
}

void add_reductions(std::vector<OpEntry>& all) {
  constexpr std::array<std::pair<std::string_view, Dimension>, 3> kAlong{
      {{"columns", Dimension::columns}, {"rows", Dimension::rows}, {"batch", Dimension::batch}}};
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    for (const auto& [word, dimension] : kAlong) {
      all.push_back(
          {.name = fmt::format("{}_{}", name_of(reduction), word),
           .meaning = fmt::format("the {} along the {}", name_of(reduction), word),
           .results = [dimension = dimension](
                          const OpCall&,
                          Specs in) { return SpecList{reduce_output(dimension, in[0])}; },
           .program = [reduction, dimension = dimension](
                          const OpCall&, Tensors in,
                          Tensors out) { return reduce(reduction, dimension, in[0], out[0]); },
           .beside = [](const TensorSpec&) { return SpecList(); }});
    }
  }
}

void add_movement(std::vector<OpEntry>& all) {
  for (const Swap swap : {Swap::rows_columns, Swap::heads_rows}) {
    const bool inner = swap == Swap::rows_columns;
    all.push_back(
        {.name = inner ? "transpose" : "transpose_heads",
         .meaning = inner ? "x with rows and columns swapped" : "x with dimensions 1 and 2 swapped",
         .results = [swap](const OpCall&,
                           Specs in) { return SpecList{transpose_output(in[0], swap)}; },
         .program = [swap](const OpCall&, Tensors in,
                           Tensors out) { return transpose(in[0], out[0], swap); },
         .beside = [](const TensorSpec&) { return SpecList(); }});
  }
  all.push_back(
      {.name = "concat_heads",
       .meaning = "[n, 1, s, heads d] of [n, heads, s, d]",
       .results = [](const OpCall&, Specs in) { return SpecList{concat_heads_output(in[0])}; },
       .program = [](const OpCall&, Tensors in,
                     Tensors out) { return concat_heads(in[0], out[0]); },
       .beside = [](const TensorSpec&) { return SpecList(); }});
}

/// Returns a whole number of a call. Throws Error when it is not whole.
std::int64_t whole(const OpCall& call, std::size_t i) {
  const double value = call.numbers.at(i);
  constexpr double kMost = 1 << 24;
  if (value >= 0 && value < kMost && value == std::floor(value)) {
    return static_cast<std::int64_t>(value);
  }
  throw Error({.attempted = fmt::format("run {}", call.op->name),
               .value = fmt::format("{} = {}", call.op->numbers.at(i).name, value),
               .accepted = "a whole number from 0 on"});
}

std::array<int, 4> order_of(const OpCall& call) {
  std::array<int, 4> order{};
  for (std::size_t i = 0; i < 4; ++i) order.at(i) = static_cast<int>(whole(call, i));
  return order;
}

/// Adds the ops on parts of a tensor and on several tensors.
void add_parts(std::vector<OpEntry>& all) {
  const auto nothing = [](const TensorSpec&) { return SpecList(); };
  all.push_back(
      {.name = "slice",
       .meaning = "the first rows and columns",
       .numbers = {{"rows", 32}, {"columns", 32}},
       .results =
           [](const OpCall& call, Specs in) {
             const Shape& x = in[0].shape;
             return SpecList{{{x.outer(), x.heads(), whole(call, 0), whole(call, 1)},
                              in[0].dtype,
                              in[0].layout}};
           },
       .program = [](const OpCall&, Tensors in, Tensors out) { return slice(in[0], {}, out[0]); },
       .beside = nothing});
  all.push_back(
      {.name = "pad",
       .meaning = "x with so many rows and columns of zeros behind it",
       .numbers = {{"rows", 32}, {"columns", 0}},
       .results =
           [](const OpCall& call, Specs in) {
             const Shape& x = in[0].shape;
             return SpecList{
                 {{x.outer(), x.heads(), x.rows() + whole(call, 0), x.columns() + whole(call, 1)},
                  in[0].dtype,
                  in[0].layout}};
           },
       .program = [](const OpCall&, Tensors in, Tensors out) { return pad(in[0], {}, 0, out[0]); },
       .beside = nothing});
  all.push_back(
      {.name = "permute",
       .meaning = "x with its four dimensions in that order",
       .numbers = {{"first", 0}, {"second", 1}, {"third", 3}, {"fourth", 2}},
       .results = [](const OpCall& call,
                     Specs in) { return SpecList{permute_output(in[0], order_of(call))}; },
       .program = [](const OpCall& call, Tensors in,
                     Tensors out) { return permute(in[0], order_of(call), out[0]); },
       .beside = nothing});
  for (const bool causal : {false, true}) {
    all.push_back(
        {.name = causal ? "causal_attention" : "attention",
         .meaning = causal ? "softmax(q k^T / sqrt(d)) v, each place seeing those up to it"
                           : "softmax(q k^T / sqrt(d)) v",
         .tensors = 3,
         .results = [](const OpCall&, Specs in) { return SpecList{in[0]}; },
         .program =
             [causal](const OpCall&, Tensors in, Tensors out) {
               const auto width = static_cast<float>(in[0].spec().shape.columns());
               return attention({in[0], in[1], in[2]},
                                {.causal = causal, .scale = 1 / std::sqrt(width)}, out[0]);
             },
         .beside = [](const TensorSpec& x) { return SpecList(2, x); }});
  }
}

/// Adds TTML's attention, in which each place sees those up to its own.
void add_ttml_attention(std::vector<OpEntry>& all) {
  const auto scale = [](const Tensor& q) {
    return 1 / std::sqrt(static_cast<float>(q.spec().shape.columns()));
  };
  all.push_back({.name = "sdpa_fw",
                 .meaning = "causal attention that keeps two numbers of each row, by TTML's kernel",
                 .tensors = 3,
                 .results =
                     [](const OpCall&, Specs in) {
                       const TensorSpec row = attention_statistics(in[0]);
                       return SpecList{in[0], row, row};
                     },
                 .program =
                     [scale](const OpCall&, Tensors in, Tensors out) {
                       return attention({in[0], in[1], in[2]},
                                        {.causal = true, .scale = scale(in[0])}, out[0],
                                        {out[1], out[2]});
                     },
                 .beside = [](const TensorSpec& x) { return SpecList(2, x); }});
  for (const bool of_q : {true, false}) {
    all.push_back(
        {.name = of_q ? "sdpa_bw_q" : "sdpa_bw_kv",
         .meaning = of_q ? "dq of causal attention, by TTML's kernel"
                         : "dk and dv of causal attention, by TTML's kernel",
         .tensors = 7,
         .results =
             [of_q](const OpCall&, Specs in) {
               return of_q ? SpecList{in[0]} : SpecList{in[1], in[2]};
             },
         .program =
             [scale, of_q](const OpCall&, Tensors in, Tensors out) {
               const AttentionGradients from{{in[0], in[1], in[2]}, in[3], in[4], {in[5], in[6]}};
               const AttentionAttributes attributes{.causal = true, .scale = scale(in[0])};
               return of_q ? attention_backward_q(from, attributes, out[0])
                           : attention_backward_kv(from, attributes, out[0], out[1]);
             },
         .beside =
             [](const TensorSpec& x) {
               SpecList specs(4, x);
               specs.resize(6, attention_statistics(x));
               return specs;
             }});
  }
}

std::vector<OpEntry> make_catalogue() {
  std::vector<OpEntry> all;
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    if (entry.values > 0 && entry.function != Eltwise::cast) all.push_back(eltwise_entry(entry));
  }
  add_rows(all);
  add_rotations(all);
  add_reductions(all);
  add_movement(all);
  add_parts(all);
  add_ttml_attention(all);
  std::ranges::sort(all, {}, &OpEntry::name);
  return all;
}

[[noreturn]] void refuse_call(std::string_view text, std::string value, std::string accepted) {
  throw Error({.attempted = fmt::format("read the op '{}'", text),
               .value = std::move(value),
               .accepted = std::move(accepted)});
}

[[noreturn]] void refuse_numbers(std::string_view text, std::string_view name, std::size_t most,
                                 std::string accepted) {
  const std::string takes = most == 0   ? "no number"
                            : most == 1 ? "one number"
                                        : fmt::format("at most {} numbers", most);
  refuse_call(text, fmt::format("{} takes {}", name, takes), std::move(accepted));
}

/// Parses "clamp:0:6" as a function and its numbers.
EltwiseStep parse_step(std::string_view whole, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const auto function = find_eltwise(parts[0]);
  if (!function || arity_of(*function) != 1 || *function == Eltwise::cast) {
    refuse_call(whole, fmt::format("'{}' after a +", parts[0]),
                "elementwise functions of one value: relu, gelu, silu, ...");
  }
  EltwiseStep step = step_of(*function);
  const auto most = static_cast<std::size_t>(entry_of(*function).numbers);
  if (parts.size() - 1 > most) refuse_numbers(whole, parts[0], most, "its own numbers");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto number = parse_number(parts[i]);
    if (!number) refuse_call(whole, fmt::format("'{}'", parts[i]), "a number");
    step.numbers.at(i - 1) = static_cast<float>(*number);
  }
  return step;
}

std::string form_of(const OpEntry& op) {
  std::string form = op.name;
  for (const OpNumber& number : op.numbers) form += fmt::format(":{}", number.name);
  return form;
}

}  // namespace

std::span<const OpEntry> op_catalogue() {
  static const std::vector<OpEntry> kAll = make_catalogue();
  return kAll;
}

const OpEntry* find_op(std::string_view name) {
  const auto all = op_catalogue();
  const auto found = std::ranges::lower_bound(all, name, {}, &OpEntry::name);
  return found == all.end() || found->name != name ? nullptr : &*found;
}

std::optional<OpCall> parse_op_call(std::string_view text) {
  const std::vector<std::string> steps = split(text, '+');
  const std::vector<std::string> parts = split(steps[0], ':');
  const OpEntry* const op = find_op(parts[0]);
  if (op == nullptr) return std::nullopt;
  OpCall call{.op = op, .numbers = {}, .then = {}};
  if (parts.size() - 1 > op->numbers.size()) {
    refuse_numbers(text, parts[0], op->numbers.size(), form_of(*op));
  }
  for (std::size_t i = 0; i < op->numbers.size(); ++i) {
    const bool given = i + 1 < parts.size();
    const auto number = given ? parse_number(parts[i + 1]) : op->numbers[i].otherwise;
    if (!number) refuse_call(text, given ? parts[i + 1] : "a number is missing", form_of(*op));
    call.numbers.push_back(*number);
  }
  if (steps.size() > 1 && !op->function) {
    refuse_call(text, fmt::format("{} and what follows it", op->name),
                "functions that follow an elementwise op");
  }
  for (std::size_t i = 1; i < steps.size(); ++i) call.then.push_back(parse_step(text, steps[i]));
  return call;
}

}  // namespace howard::ops
