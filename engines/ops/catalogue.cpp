// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/program/fields.h"
#include "engines/program/spec_text.h"

namespace howard::ops {
namespace {

OpEntry eltwise_entry(const EltwiseEntry& entry, const EltwiseAttributes& attributes) {
  constexpr std::array<std::string_view, kMostEltwiseNumbers> kNames{"first", "second"};
  OpEntry op{.name = std::string(entry.name),
             .meaning = std::string(entry.meaning),
             .attributes = attributes,
             .tensors = static_cast<std::size_t>(entry.values)};
  for (std::size_t i = 0; std::cmp_less(i, entry.numbers); ++i) {
    op.numbers.push_back({kNames.at(i), double{entry.defaults.at(i)}});
  }
  op.apply = [](const OpCall& call, Attributes& to) {
    auto& eltwise = std::get<EltwiseAttributes>(to);
    eltwise.then.insert(eltwise.then.end(), call.then.begin(), call.then.end());
    for (std::size_t i = 0; i < call.numbers.size(); ++i) {
      eltwise.numbers.at(i) = static_cast<float>(call.numbers[i]);
    }
  };
  return op;
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

/// Returns the first operand with other rows and columns.
SpecList resized(Specs in, std::int64_t rows, std::int64_t columns) {
  return {{in[0].shape.with_rows(rows).with_columns(columns), in[0].dtype, in[0].layout}};
}

void apply_order(const OpCall& call, Attributes& to) {
  std::array<int, 4>& order = std::get<PermuteAttributes>(to).order;
  for (std::size_t i = 0; i < 4; ++i) order.at(i) = static_cast<int>(whole(call, i));
}

/// Returns the entry of an op with all that the op says of itself.
OpEntry entry_of_op(const Attributes& op) {
  const auto roles = input_roles(op);
  const auto needed = std::ranges::count(roles, false, &OperandRole::is_optional);
  return {.name = std::string(name_of(op)),
          .meaning = std::string(meaning_of(op)),
          .attributes = op,
          .tensors = static_cast<std::size_t>(needed)};
}

void add_rows(std::vector<OpEntry>& all) {
  all.push_back({.name = "rms_norm",
                 .meaning = "x by the root of the mean of its squares, along the columns, times a "
                            "row",
                 .attributes = RmsNormAttributes{},
                 .tensors = 2,
                 .beside = [](const TensorSpec& x) -> SpecList {
                   return {{{x.shape.columns()}, x.dtype}};
                 }});
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    for (const Dimension along : {Dimension::columns, Dimension::rows, Dimension::batch}) {
      const std::string_view word = kDimensions.at(static_cast<std::size_t>(along));
      all.push_back({fmt::format("{}_{}", name_of(reduction), word),
                     fmt::format("the {} along the {}", name_of(reduction), word),
                     ReduceAttributes{.reduction = reduction, .dimension = along}});
    }
  }
}

void add_movement(std::vector<OpEntry>& all) {
  all.push_back({"transpose", "x with rows and columns swapped", TransposeAttributes{}});
  all.push_back({"transpose_heads", "x with dimensions 1 and 2 swapped",
                 TransposeAttributes{.swap = Swap::heads_rows}});
  all.push_back({.name = "slice",
                 .meaning = "the first rows and columns",
                 .attributes = SliceAttributes{},
                 .numbers = {{"rows", 32}, {"columns", 32}},
                 .results = [](const OpCall& call, Specs in) {
                   return resized(in, whole(call, 0), whole(call, 1));
                 }});
  all.push_back({.name = "pad",
                 .meaning = "x with so many rows and columns of zeros behind it",
                 .attributes = PadAttributes{},
                 .numbers = {{"rows", 32}, {"columns", 0}},
                 .results = [](const OpCall& call, Specs in) {
                   const Shape& x = in[0].shape;
                   return resized(in, x.rows() + whole(call, 0), x.columns() + whole(call, 1));
                 }});
  all.push_back({.name = "permute",
                 .meaning = "x with its four dimensions in that order",
                 .attributes = PermuteAttributes{},
                 .numbers = {{"first", 0}, {"second", 1}, {"third", 3}, {"fourth", 2}},
                 .apply = apply_order});
}

void add_attention(std::vector<OpEntry>& all) {
  const auto tables = [](const TensorSpec& x) -> SpecList {
    return SpecList(2, {{x.shape.rows(), x.shape.columns()}, x.dtype});
  };
  all.push_back({.name = "rotary_embedding_llama",
                 .meaning = "points of neighbouring columns turned by tables of cosines and sines",
                 .attributes = RotaryEmbeddingAttributes{.style = RotaryStyle::pairs},
                 .tensors = 3,
                 .beside = tables});
  all.push_back(
      {.name = "rotary_embedding",
       .meaning = "points of columns i and i + d / 2 turned by tables of cosines and sines",
       .attributes = RotaryEmbeddingAttributes{.style = RotaryStyle::halves},
       .tensors = 3,
       .beside = tables});
  all.push_back({"attention", "softmax(q k^T / sqrt(d)) v", AttentionAttributes{}, 3});
  all.push_back({"causal_attention", "softmax(q k^T / sqrt(d)) v, each place seeing those up to it",
                 AttentionAttributes{.causal = true}, 3});
  all.push_back({"sdpa_fw", "causal attention that keeps two numbers of each row, by TTML's kernel",
                 TtmlAttentionAttributes{.causal = true}, 3});
  const auto gradients = [](const TensorSpec& x) -> SpecList {
    SpecList specs(4, x);
    specs.resize(6, attention_statistics(x));
    return specs;
  };
  all.push_back({.name = "sdpa_bw_q",
                 .meaning = "dq of causal attention, by TTML's kernel",
                 .attributes = AttentionBackwardQAttributes{.causal = true},
                 .tensors = 7,
                 .beside = gradients});
  all.push_back({.name = "sdpa_bw_kv",
                 .meaning = "dk and dv of causal attention, by TTML's kernel",
                 .attributes = AttentionBackwardKvAttributes{.causal = true},
                 .tensors = 7,
                 .beside = gradients});
}

/// Returns the ops that lists do not have.
std::vector<OpEntry> make_others() {
  std::vector<OpEntry> others;
  for (const Attributes& op : all_ops()) {
    if (find_op(name_of(op)) == nullptr) others.push_back(entry_of_op(op));
  }
  return others;
}

std::vector<OpEntry> make_catalogue() {
  std::vector<OpEntry> all;
  for (const EltwiseAttributes& op : EltwiseAttributes::all()) {
    const EltwiseEntry& entry = entry_of(op.function);
    if (entry.values > 0 && op.function != Eltwise::cast) all.push_back(eltwise_entry(entry, op));
  }
  for (const Attributes& op : all_ops()) {
    if (!meaning_of(op).empty()) all.push_back(entry_of_op(op));
  }
  add_rows(all);
  add_movement(all);
  add_attention(all);
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

/// Returns the scale of an attention.
float* scale_of(Attributes& op) {
  return std::visit(
      [](auto& kind) -> float* {
        if constexpr (requires { kind.causal; }) return &kind.scale;
        return nullptr;
      },
      op.variant());
}

std::string form_of(const OpEntry& op) {
  std::string form = op.name;
  for (const OpNumber& number : op.numbers) form += fmt::format(":{}", number.name);
  return form;
}

}  // namespace

Attributes OpCall::attributes(Specs inputs) const {
  Attributes made = given;
  if (float* const scale = scale_of(made); scale != nullptr && std::isnan(*scale)) {
    *scale = 1 / std::sqrt(static_cast<float>(inputs[0].shape.columns()));
  }
  return made;
}

SpecList OpCall::beside(const TensorSpec& first) const {
  return op->beside != nullptr ? op->beside(first) : SpecList(op->tensors - 1, first);
}

SpecList OpCall::results(Specs inputs) const {
  return op->results != nullptr ? op->results(*this, inputs)
                                : results_of(attributes(inputs), inputs);
}

Program OpCall::program(std::vector<Operand> inputs, std::vector<Operand> outputs) const {
  const Attributes made = attributes(specs_of(inputs));
  return make_program(made, std::move(inputs), std::move(outputs));
}

std::span<const OpEntry> op_catalogue() {
  static const std::vector<OpEntry> kAll = make_catalogue();
  return kAll;
}

const OpEntry* find_op(std::string_view name) {
  const auto all = op_catalogue();
  const auto found = std::ranges::lower_bound(all, name, {}, &OpEntry::name);
  return found == all.end() || found->name != name ? nullptr : &*found;
}

namespace {

const OpEntry* find_any(const std::string& name) {
  static const std::vector<OpEntry> kOthers = make_others();
  if (const OpEntry* const listed = find_op(name)) return listed;
  const auto other = std::ranges::find(kOthers, name, &OpEntry::name);
  return other == kOthers.end() ? nullptr : &*other;
}

/// Takes the fields, which begin with a letter, out of the parts of a text.
std::string take_fields(std::vector<std::string>& parts) {
  const auto first = std::find_if(parts.begin() + 1, parts.end(), [](const std::string& part) {
    return !part.empty() && part[0] >= 'a' && part[0] <= 'z';
  });
  const std::string fields = join({first, parts.end()}, ":");
  parts.erase(first, parts.end());
  return fields;
}

/// Says whether a word of a program is a field, as in "config=...".
bool is_field(const std::string& word) {
  return !word.empty() && word[0] >= 'a' && word[0] <= 'z' && word.find('=') != std::string::npos;
}

/// Reads "config=2d:grid=8x8", whose value may have colons, or "on_a=[\"silu\"]", which is JSON.
void read_field(Attributes& attributes, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string value = word.substr(equals + 1);
  const bool is_json = value.starts_with('[') || parse_number(value);
  const JsonDocument document(
      fmt::format("{{\"{}\":{}}}", word.substr(0, equals),
                  is_json ? value : fmt::format("\"{}\"", value)),
      {.attempted = fmt::format("read the field '{}'", word), .accepted = "NAME=VALUE"});
  read_fields(attributes, document.root());
}

}  // namespace

std::optional<OpCall> parse_op_call(std::string_view text) {
  const std::vector<std::string> steps = split(text, '+');
  std::vector<std::string> parts = split(steps[0], ':');
  const OpEntry* const op = find_any(parts[0]);
  if (op == nullptr) return std::nullopt;
  OpCall call{.op = op, .given = op->attributes, .numbers = {}, .then = {}};
  const std::string fields = take_fields(parts);
  if (parts.size() - 1 > op->numbers.size()) {
    refuse_numbers(text, parts[0], op->numbers.size(), form_of(*op));
  }
  for (std::size_t i = 0; i < op->numbers.size(); ++i) {
    const bool given = i + 1 < parts.size();
    const auto number = given ? parse_number(parts[i + 1]) : op->numbers[i].otherwise;
    if (!number) refuse_call(text, parts[i + 1], form_of(*op));
    call.numbers.push_back(*number);
  }
  if (steps.size() > 1 && !std::holds_alternative<EltwiseAttributes>(op->attributes)) {
    refuse_call(text, fmt::format("{} and what follows it", op->name),
                "functions that follow an elementwise op");
  }
  for (std::size_t i = 1; i < steps.size(); ++i) call.then.push_back(parse_step(text, steps[i]));
  // What a field says stands; numbers that are left out, and the scale, are those of the op.
  if (op->apply != nullptr) op->apply(call, call.given);
  if (float* const scale = scale_of(call.given)) *scale = std::numeric_limits<float>::quiet_NaN();
  read_fields(call.given, fields);
  return call;
}

Program parse_program(std::string_view text, DataType dtype) {
  const auto fail = [&](std::string accepted) {
    throw Error({.attempted = "read a program",
                 .value = "'" + std::string(text) + "'",
                 .accepted = std::move(accepted)});
  };
  const std::vector<std::string> words = split(text, ' ');
  auto call = parse_op_call(words[0]);
  if (!call) fail("an op that the emulator has");
  std::vector<SpecWords> said;
  std::optional<std::size_t> operands;  // how many come before the arrow
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto shape = parse_shape(words[i])) {
      said.emplace_back(*shape, dtype);
    } else if (words[i] == "->" && !operands) {
      operands = said.size();
    } else if (is_field(words[i])) {
      read_field(call->given, words[i]);
    } else if (said.empty() || !said.back().refuse(words[i]).empty()) {
      fail(
          "shapes of one to four dimensions like 32x1280, each perhaps row_major, bfloat8_b, l1 or "
          "width:8x1:32x160, and after -> the results");
    }
  }
  SpecList specs;
  for (const SpecWords& one : said) specs.push_back(one.spec());
  const std::size_t count =
      operands.value_or(std::min(specs.size(), input_roles(call->given).size()));
  const Specs inputs = Specs(specs).first(count);
  const SpecList results =
      count < specs.size()
          ? SpecList(specs.begin() + static_cast<std::ptrdiff_t>(count), specs.end())
          : call->results(inputs);
  return call->program({inputs.begin(), inputs.end()}, {results.begin(), results.end()});
}

}  // namespace howard::ops
