// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/program_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/ops/catalogue.h"
#include "engines/ops/data_movement/reshape.h"
#include "engines/ops/elementwise/eltwise.h"
#include "engines/ops/matmul/matmul.h"
#include "engines/ops/matmul/minimal_matmul.h"

namespace howard::calibration {
namespace {

/// The words of a program's text. The builder of an op removes the words that it understands.
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
               .accepted = std::move(accepted)});
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

/// Allocates the operands as tensors. There must be `count` of them.
std::vector<ops::Tensor> allocate(const Words& words, std::size_t count, Device& device) {
  if (words.operands.size() != count) fail(words.text, std::to_string(count) + " operands");
  std::vector<ops::Tensor> tensors;
  for (const TensorSpec& spec : words.operands) tensors.emplace_back(device, spec);
  return tensors;
}

/// Takes words such as "HiFi4" and "fp32".
ComputeConfig take_compute(Words& words) {
  ComputeConfig compute;
  for (const char* const fidelity : {"LoFi", "HiFi2", "HiFi3", "HiFi4"}) {
    if (words.take(fidelity)) compute.fidelity = parse_math_fidelity(fidelity);
  }
  if (words.take("fp32")) compute.fp32_accumulation = true;
  return compute;
}

/// Returns 2 for "m2" with the letter m, or `otherwise` if there is no such word.
std::int64_t take_size(Words& words, char letter, std::int64_t otherwise) {
  for (const std::string& option : words.options) {
    if (option.size() < 2 || option[0] != letter) continue;
    const auto size = parse_integer(std::string_view(option).substr(1));
    if (!size) continue;
    words.take(std::string(option));
    return *size;
  }
  return otherwise;
}

/// Reads blocks of m, k, n tiles and sub-blocks of h, w, and perhaps a bias.
std::optional<Program> parse_minimal_matmul(Words& words, Device& device) {
  if (words.op != "minimal_matmul") return std::nullopt;
  MinimalMatmulAttributes attributes{.block_m = take_size(words, 'm', 8),
                                     .block_k = take_size(words, 'k', 8),
                                     .block_n = take_size(words, 'n', 8),
                                     .subblock_h = take_size(words, 'h', 1),
                                     .subblock_w = take_size(words, 'w', 1),
                                     .core_grid = {},
                                     .compute = take_compute(words)};
  const bool bias = words.operands.size() == 3;
  const auto in = allocate(words, bias ? 3 : 2, device);
  const ops::Tensor out(device, ops::matmul_output(in[0].spec(), in[1].spec()));
  if (bias) return ops::minimal_matmul(in[0], in[1], in[2], attributes, out);
  return ops::minimal_matmul(in[0], in[1], attributes, out);
}

std::optional<Program> parse_matmul(Words& words, Device& device) {
  if (words.op != "matmul") return std::nullopt;
  MatmulAttributes attributes;
  attributes.transpose_a = words.take("ta");
  attributes.transpose_b = words.take("tb");
  attributes.compute = take_compute(words);
  const auto in = allocate(words, 2, device);
  const ops::Tensor out(device, ops::matmul_output(in[0].spec(), in[1].spec(), attributes));
  return ops::matmul(in[0], in[1], out, attributes);
}

/// Makes an elementwise op of two or three values, the last of which is a number.
Program with_scalar(const Words& words, const ops::OpCall& call, Device& device) {
  if (call.op->tensors < 2) fail(words.text, "an op of two values or more with a scalar");
  EltwiseAttributes attributes{.function = *call.op->function, .scalar = 1.0F, .then = call.then};
  const auto in = allocate(words, call.op->tensors - 1, device);
  std::vector<TensorSpec> specs;
  for (const ops::Tensor& tensor : in) specs.push_back(tensor.spec());
  const ops::Tensor out(device, ops::eltwise_output(attributes, specs));
  return ops::eltwise(attributes, in, out);
}

/// Makes any op of the catalogue.
std::optional<Program> parse_listed(Words& words, Device& device) {
  const auto call = ops::parse_op_call(words.op);
  if (!call) return std::nullopt;
  if (call->op->function && words.take("scalar")) return with_scalar(words, *call, device);
  const auto in = allocate(words, call->op->tensors, device);
  std::vector<TensorSpec> specs;
  for (const ops::Tensor& tensor : in) specs.push_back(tensor.spec());
  std::vector<ops::Tensor> out;
  for (const TensorSpec& spec : call->results(specs)) out.emplace_back(device, spec);
  return call->program(in, out);
}

/// Reads a reshape, whose operands are the shape before and the shape after.
std::optional<Program> parse_reshape(Words& words, Device& device) {
  if (words.op != "reshape") return std::nullopt;
  const auto tensors = allocate(words, 2, device);
  return ops::reshape(tensors[0], tensors[1]);
}

std::optional<Program> parse_cast(Words& words, Device& device) {
  if (words.op != "cast") return std::nullopt;
  const auto in = allocate(words, 1, device);
  return ops::cast(in[0], ops::Tensor(device, in[0].spec()));
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
  // Ops whose text says more than the catalogue's texts have their own builders.
  constexpr std::array kBuilders{&parse_matmul, &parse_minimal_matmul, &parse_reshape,
                                 &parse_cast,   &parse_tilize,         &parse_listed};
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
