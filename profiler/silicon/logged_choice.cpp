// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

/// Throws Error unless the op goes along the columns. ttnn counts dimensions of the tensor's rank,
/// which a log does not tell, from the first or, below 0, from the last.
void require_columns(const Call& call) {
  const std::string_view dim = call.attributes.find("dim").value_or("-1");
  if (dim != "-1" && dim != "3") refuse(fmt::format("dim '{}'", dim), "the last one");
}

/// Returns the program of an op whose results follow from its operands: those of a log have fewer
/// dimensions, or places of 16 bits.
Program choice(const Attributes& op, const std::vector<TensorSpec>& in) {
  std::vector<Operand> inputs, outputs;
  for (const TensorSpec& spec : in) inputs.push_back(spec);
  for (const TensorSpec& spec : results_of(op, in)) outputs.push_back(spec);
  return make_program(op, std::move(inputs), std::move(outputs));
}

}  // namespace

Program argmax(const Call& call) {
  require_columns(call);
  return choice(
      ArgmaxAttributes{.use_multicore = call.attributes.flag("use_multicore").value_or(true)},
      {call.in(0)});
}

Program topk(const Call& call) {
  require_columns(call);
  const auto k = parse_integer(call.attributes.find("k").value_or(""));
  return choice(
      TopkAttributes{.k = std::max<std::int64_t>(1, k.value_or(call.out().shape.columns())),
                     .largest = call.attributes.flag("largest").value_or(true),
                     .cores = static_cast<int>(call.cores().value_or(0))},
      {call.in(0)});
}

/// The number of candidates is a tensor: it is taken to be 32, which is the most, or a row if that
/// is shorter.
Program sampling(const Call& call) {
  const Shape& shape = call.in(0).shape;
  return choice(SamplingAttributes{.k = std::min(kTileSide, shape.columns())},
                {call.in(0), {shape, DataType::uint32, Layout::row_major}});
}

Program plus_one(const Call& call) { return choice(PlusOneAttributes{}, {call.in(0)}); }

}  // namespace howard::profiler::logged
