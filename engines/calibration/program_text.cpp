// SPDX-License-Identifier: Apache-2.0
#include "engines/calibration/program_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/ops/eltwise.h"
#include "engines/ops/layernorm.h"
#include "engines/ops/matmul.h"
#include "engines/ops/reduce.h"
#include "engines/ops/reshape.h"
#include "engines/ops/softmax.h"
#include "engines/ops/transpose.h"

namespace howard::calibration {
namespace {

/// A program's text, taken apart. A builder of an op uses up the words it understands.
struct Words {
  std::string_view text;
  std::string op;
  std::vector<TensorSpec> operands;
  std::vector<std::string> options;

  bool take(std::string_view option) {
    const auto found = std::ranges::find(options, option);
    if (found == options.end()) return false;
    options.erase(found);
    return true;
  }
};

[[noreturn]] void fail(std::string_view text, std::string accepted) {
  throw Error({.attempted = "read a program",
               .value = "'" + std::string(text) + "'",
               .accepted = std::move(accepted),
               .hint = ""});
}

Shape parse_shape(std::string_view word, std::string_view text) {
  std::vector<std::int64_t> sides;
  for (const std::string& part : split(word, 'x')) {
    const auto side = parse_integer(part);
    if (!side || *side < 1) fail(text, "shapes like 32x1280");
    sides.push_back(*side);
  }
  switch (sides.size()) {
    case 2:
      return {sides[0], sides[1]};
    case 3:
      return {sides[0], sides[1], sides[2]};
    case 4:
      return {sides[0], sides[1], sides[2], sides[3]};
    default:
      fail(text, "shapes of two to four dimensions");
  }
}

Words take_apart(std::string_view text, DataType dtype) {
  Words words{.text = text};
  for (const std::string& word : split(text, ' ')) {
    if (words.op.empty()) {
      words.op = word;
    } else if (!word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
      words.operands.push_back({parse_shape(word, text), dtype});
    } else {
      words.options.push_back(word);
    }
  }
  return words;
}

/// The operands as tensors, of which there must be `count`.
std::vector<ops::Tensor> allocate(const Words& words, std::size_t count, Device& device) {
  if (words.operands.size() != count) fail(words.text, std::to_string(count) + " operands");
  std::vector<ops::Tensor> tensors;
  for (const TensorSpec& spec : words.operands) tensors.emplace_back(device, spec);
  return tensors;
}

std::optional<Program> parse_matmul(Words& words, Device& device) {
  if (words.op != "matmul") return std::nullopt;
  MatmulAttributes attributes;
  attributes.transpose_a = words.take("ta");
  attributes.transpose_b = words.take("tb");
  for (const char* const fidelity : {"LoFi", "HiFi2", "HiFi3", "HiFi4"}) {
    if (words.take(fidelity)) attributes.compute.fidelity = parse_math_fidelity(fidelity);
  }
  if (words.take("fp32")) attributes.compute.fp32_accumulation = true;
  const auto in = allocate(words, 2, device);
  const ops::Tensor out(device, ops::matmul_output(in[0].spec(), in[1].spec(), attributes));
  return ops::matmul(in[0], in[1], out, attributes);
}

std::optional<Program> parse_eltwise(Words& words, Device& device) {
  constexpr std::array kFunctions{
      Eltwise::add,    Eltwise::subtract,   Eltwise::multiply, Eltwise::relu, Eltwise::gtz,
      Eltwise::square, Eltwise::exp,        Eltwise::erf,      Eltwise::gelu, Eltwise::sqrt,
      Eltwise::rsqrt,  Eltwise::reciprocal, Eltwise::cast};
  const auto function =
      std::ranges::find(kFunctions, words.op, [](Eltwise f) { return name_of(f); });
  if (function == kFunctions.end()) return std::nullopt;
  if (arity_of(*function) == 1 || words.take("scalar")) {
    const auto in = allocate(words, 1, device);
    const ops::Tensor out(device, in[0].spec());
    if (*function == Eltwise::cast) return ops::cast(in[0], out);
    if (arity_of(*function) == 1) return ops::eltwise(*function, in[0], out);
    return ops::eltwise(*function, in[0], 1.0F, out);
  }
  const auto in = allocate(words, 2, device);
  const ops::Tensor out(device, ops::eltwise_output(*function, in[0].spec(), in[1].spec()));
  return ops::eltwise(*function, in[0], in[1], out);
}

std::optional<Program> parse_reduce(Words& words, Device& device) {
  struct Along {
    std::string_view suffix;
    Dimension dimension;
  };
  constexpr std::array kDimensions{Along{"_columns", Dimension::columns},
                                   Along{"_rows", Dimension::rows},
                                   Along{"_batch", Dimension::batch}};
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    for (const auto& [suffix, dimension] : kDimensions) {
      if (words.op != std::string(name_of(reduction)) + std::string(suffix)) continue;
      const auto in = allocate(words, 1, device);
      const ops::Tensor out(device, ops::reduce_output(dimension, in[0].spec()));
      return ops::reduce(reduction, dimension, in[0], out);
    }
  }
  return std::nullopt;
}

std::optional<Program> parse_transpose(Words& words, Device& device) {
  if (words.op != "transpose" && words.op != "transpose_heads") return std::nullopt;
  const Swap swap = words.op == "transpose" ? Swap::rows_columns : Swap::heads_rows;
  const auto in = allocate(words, 1, device);
  const ops::Tensor out(device, ops::transpose_output(in[0].spec(), swap));
  return ops::transpose(in[0], out, swap);
}

std::optional<Program> parse_row_op(Words& words, Device& device) {
  if (words.op != "softmax" && words.op != "layernorm") return std::nullopt;
  const auto in = allocate(words, 1, device);
  const ops::Tensor out(device, in[0].spec());
  constexpr float kEpsilon = 1e-5F;  // takes no time
  return words.op == "softmax" ? ops::softmax(in[0], out) : ops::layernorm(in[0], kEpsilon, out);
}

/// Of the shape before and the shape after.
std::optional<Program> parse_reshape(Words& words, Device& device) {
  if (words.op != "reshape") return std::nullopt;
  const auto tensors = allocate(words, 2, device);
  return ops::reshape(tensors[0], tensors[1]);
}

std::optional<Program> parse_tilize(Words& words, Device& device) {
  if (words.op != "tilize") return std::nullopt;
  const auto out = allocate(words, 1, device);
  TensorSpec rows = out[0].spec();
  rows.layout = Layout::row_major;
  return ops::to_layout(ops::Tensor(device, rows), out[0]);
}

}  // namespace

Program parse_program(std::string_view text, DataType dtype, Device& device) {
  // One builder an op, and nothing else to change for a new one.
  constexpr std::array kBuilders{&parse_matmul, &parse_eltwise, &parse_reduce, &parse_transpose,
                                 &parse_row_op, &parse_reshape, &parse_tilize};
  Words words = take_apart(text, dtype);
  for (const auto builder : kBuilders) {
    std::optional<Program> program = builder(words, device);
    if (!program) continue;
    if (!words.options.empty()) fail(text, "no word '" + words.options.front() + "' for this op");
    return *std::move(program);
  }
  fail(text, "an op that the emulator has");
}

}  // namespace howard::calibration
