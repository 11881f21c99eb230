// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/reference_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "base/error.h"
#include "engines/program/program.h"
#include "engines/program/whole_numbers.h"
#include "engines/reference/attention_values.h"
#include "engines/reference/choice_values.h"
#include "engines/reference/elementwise_values.h"
#include "engines/reference/image_values.h"
#include "engines/reference/operand_index.h"
#include "engines/reference/parameter_updates.h"
#include "engines/reference/sparse_values.h"
#include "engines/reference/swiglu_slopes.h"

namespace howard::reference {
namespace {

using Inputs = std::vector<const Values*>;

double gelu_slope(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
}

/// Computes one call; each overload knows the operands of its op.
class Computation {
 public:
  Computation(const Program& program, const Inputs& inputs) : program_(program), inputs_(inputs) {
    for (const Operand& output : program.outputs) {
      outputs_.emplace_back(static_cast<std::size_t>(output.spec.shape.elements()));
    }
  }

  std::vector<Values> take() && { return std::move(outputs_); }

  void operator()(const MatmulAttributes& attributes) {
    const Index a = size_of(0);
    const std::int64_t inner = attributes.transpose_a ? a[2] : a[3];
    each_output([&](Index at) {
      double sum = inputs_.size() == 3 ? input(2, {0, 0, 0, at[3]}) : 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        const Index left{at[0], at[1], attributes.transpose_a ? k : at[2],
                         attributes.transpose_a ? at[2] : k};
        const Index right{at[0], at[1], attributes.transpose_b ? at[3] : k,
                          attributes.transpose_b ? k : at[3]};
        sum += input(0, left) * input(1, right);
      }
      return attributes.activation ? applied<double>(*attributes.activation, sum) : sum;
    });
  }

  void operator()(const EltwiseAttributes& attributes) {
    outputs_[0] = elementwise_values(attributes, program_, inputs_);
  }

  void operator()(const ReduceAttributes& attributes) {
    const Index from = size_of(0), to = size_of_output(0);
    const bool max = attributes.reduction == Reduction::max;
    std::ranges::fill(outputs_[0], max ? -std::numeric_limits<double>::infinity() : 0);
    for_each(from, [&](const Index& at) {
      double& total = outputs_[0][offset(to, at)];
      total = max ? std::max(total, input(0, at)) : total + input(0, at);
    });
    if (attributes.reduction != Reduction::mean) return;
    const auto share =
        static_cast<double>(outputs_[0].size()) / static_cast<double>(inputs_[0]->size());
    for (double& value : outputs_[0]) value *= share;
  }

  void operator()(const TransposeAttributes& attributes) {
    each_output([&](Index at) {
      if (attributes.swap == Swap::rows_columns) return input(0, {at[0], at[1], at[3], at[2]});
      return input(0, {at[0], at[2], at[1], at[3]});
    });
  }

  void operator()(const ReshapeAttributes&) { outputs_[0] = *inputs_[0]; }
  void operator()(const RepeatAttributes&) {
    const std::int64_t count = size_of_output(0)[1] / size_of(0)[1];
    each_output([&](Index at) { return input(0, {at[0], at[1] / count, at[2], at[3]}); });
  }
  void operator()(const LayoutAttributes&) { outputs_[0] = *inputs_[0]; }
  void operator()(const MemoryMoveAttributes&) { outputs_[0] = *inputs_[0]; }
  void operator()(const ConcatAttributes& attributes) {
    const auto along = static_cast<std::size_t>(attributes.dimension);
    each_output([&](Index at) {
      std::size_t part = 0;
      for (; at.at(along) >= size_of(part).at(along); ++part)
        at.at(along) -= size_of(part).at(along);
      return input(part, at);
    });
  }

  void operator()(const WriteRowsAttributes& attributes) { write_rows(attributes.row); }
  void operator()(const UpdateCacheAttributes&) {
    write_rows(static_cast<std::int64_t>(input(2, {0, 0, 0, 0})));
  }

  void operator()(const SliceAttributes& attributes) {
    each_output([&](Index at) {
      for (std::size_t i = 0; i < 4; ++i) {
        at[i] = attributes.begins[i] + at[i] * attributes.steps[i];
      }
      return input(0, at);
    });
  }

  void operator()(const PadAttributes& attributes) {
    const Index inner = size_of(0);
    each_output([&](Index at) {
      for (std::size_t i = 0; i < 4; ++i) {
        at[i] -= attributes.before[i];
        if (at[i] < 0 || at[i] >= inner[i]) return double{attributes.value};
      }
      return input(0, at);
    });
  }

  void operator()(const PermuteAttributes& attributes) {
    each_output([&](Index at) {
      Index from{};
      for (std::size_t i = 0; i < 4; ++i) {
        from.at(static_cast<std::size_t>(attributes.order[i])) = at[i];
      }
      return input(0, from);
    });
  }

  void operator()(const AttentionAttributes& attributes) {
    attend(program_, inputs_, attributes, outputs_);
  }
  void operator()(const DecodeAttentionAttributes& attributes) {
    const auto position = static_cast<std::int64_t>(input(3, {0, 0, 0, 0}));
    attend(program_, inputs_, attributes, position, outputs_);
  }
  void operator()(const TtmlAttentionAttributes& attributes) {
    (*this)(AttentionAttributes{.causal = attributes.causal, .scale = attributes.scale});
  }
  void operator()(const AttentionBackwardQAttributes& attributes) {
    attention_backward(program_, inputs_, attributes.causal, double{attributes.scale}, outputs_);
  }
  void operator()(const AttentionBackwardKvAttributes& attributes) {
    attention_backward(program_, inputs_, attributes.causal, double{attributes.scale}, outputs_);
  }

  void operator()(const MinimalMatmulAttributes& attributes) {
    (*this)(MatmulAttributes{.activation = attributes.activation});
  }
  void operator()(const SparseMatmulAttributes& attributes) {
    sparse_product(program_, inputs_, attributes, outputs_);
  }

  void operator()(const SplitHeadsAttributes& attributes) {
    const std::int64_t q = size_of_output(0)[1];
    const std::int64_t kv = size_of_output(1)[1];
    split_heads(0, 0, 0, false);
    split_heads(1, 0, q, attributes.transpose_k);
    split_heads(2, 0, q + kv, false);
  }
  void operator()(const SplitGroupsAttributes& attributes) {
    split_heads(0, 0, 0, false);
    split_heads(1, 1, 0, attributes.transpose_k);
    split_heads(2, 1, size_of_output(1)[1], false);
  }

  void operator()(const ConcatHeadsAttributes&) {
    const Index a = size_of(0);
    each_output([&](Index at) { return input(0, {at[0], at[3] / a[3], at[2], at[3] % a[3]}); });
  }

  void operator()(const CumsumAttributes& attributes) {
    const auto along = static_cast<std::size_t>(attributes.dim);
    const Index size = size_of(0);
    each_output([&](Index at) {
      double sum = 0;
      Index other = at;
      const std::int64_t place = at.at(along);
      const std::int64_t first = attributes.flip ? place : 0;
      const std::int64_t end = attributes.flip ? size.at(along) : place + 1;
      for (other.at(along) = first; other.at(along) < end; ++other.at(along))
        sum += input(0, other);
      return sum;
    });
  }

  void operator()(const SoftmaxAttributes&) {
    const std::int64_t width = size_of(0)[3];
    each_output([&](Index at) {
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        sum += std::exp(input(0, {at[0], at[1], at[2], i}) - input(0, at));
      }
      return 1 / sum;
    });
  }

  void operator()(const SoftmaxBackwardAttributes&) {
    const std::int64_t width = size_of(0)[3];
    each_output([&](Index at) {
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        const Index other{at[0], at[1], at[2], i};
        sum += input(0, other) * input(1, other);
      }
      return input(0, at) * (input(1, at) - sum);
    });
  }

  void operator()(const LayernormAttributes& attributes) { layernorm(double{attributes.epsilon}); }
  void operator()(const TtmlLayernormAttributes& attributes) {
    layernorm(double{attributes.epsilon});
  }
  void layernorm(double epsilon) {
    const Index x = size_of(0);
    const auto width = static_cast<double>(x[3]);
    for_each({x[0], x[1], x[2], 1}, [&](const Index& row) {
      const auto along = [&](auto&& visit) {
        for (std::int64_t i = 0; i < x[3]; ++i) visit(Index{row[0], row[1], row[2], i});
      };
      double mean = 0;
      along([&](const Index& at) { mean += input(0, at) / width; });
      double variance = 0;
      along([&](const Index& at) { variance += std::pow(input(0, at) - mean, 2) / width; });
      const double rstd = 1 / std::sqrt(variance + epsilon);
      along([&](const Index& at) {
        const double scaled = (input(0, at) - mean) * rstd;
        outputs_[0][offset(x, at)] =
            inputs_.size() == 1 ? scaled : scaled * input(1, at) + input(2, at);
      });
      if (outputs_.size() == 1) return;
      outputs_[1][offset({x[0], x[1], x[2], 1}, row)] = mean;
      outputs_[2][offset({x[0], x[1], x[2], 1}, row)] = rstd;
    });
  }

  /// The inputs are x, gamma, mean, rstd and dy; the outputs are dx and the parts of dgamma and
  /// dbeta.
  void operator()(const LayernormBackwardAttributes&) {
    const Index x = size_of(0);
    const auto width = static_cast<double>(x[3]);
    const auto scaled = [&](const Index& at) {
      return (input(0, at) - input(2, at)) * input(3, at);
    };
    for_each(x, [&](const Index& at) {
      double mean = 0;
      double slope = 0;
      for (std::int64_t i = 0; i < x[3]; ++i) {
        const Index other{at[0], at[1], at[2], i};
        const double part = input(4, other) * input(1, other) / width;
        mean += part;
        slope += part * scaled(other);
      }
      const std::size_t to = offset(x, at);
      outputs_[0][to] = (input(4, at) * input(1, at) - mean - scaled(at) * slope) * input(3, at);
      outputs_[1][to] = input(4, at) * scaled(at);
      outputs_[2][to] = input(4, at);
    });
  }

  void operator()(const RmsNormAttributes& attributes) { rms_norm(double{attributes.epsilon}); }
  void operator()(const TtmlRmsNormAttributes& attributes) { rms_norm(double{attributes.epsilon}); }
  /// The inputs are x and perhaps gamma; the outputs are y and perhaps the root.
  void rms_norm(double epsilon) {
    const Index x = size_of(0);
    for_each(x, [&](const Index& at) {
      double squares = 0;
      for (std::int64_t i = 0; i < x[3]; ++i) {
        squares += std::pow(input(0, {at[0], at[1], at[2], i}), 2);
      }
      const double root = std::sqrt(squares / static_cast<double>(x[3]) + epsilon);
      const double scale = inputs_.size() > 1 ? input(1, at) : 1;
      outputs_[0][offset(x, at)] = input(0, at) * scale / root;
      if (outputs_.size() > 1) outputs_[1][offset({x[0], x[1], x[2], 1}, at)] = root;
    });
  }

  /// The inputs are x, gamma, the root and dy; the outputs are dx and the parts of dgamma.
  void operator()(const RmsNormBackwardAttributes&) {
    const Index x = size_of(0);
    for_each(x, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t i = 0; i < x[3]; ++i) {
        const Index other{at[0], at[1], at[2], i};
        sum += input(3, other) * input(1, other) * input(0, other);
      }
      const double root = input(2, at);
      const double share = sum / (static_cast<double>(x[3]) * root * root);
      const std::size_t to = offset(x, at);
      outputs_[0][to] = (input(3, at) * input(1, at) - input(0, at) * share) / root;
      outputs_[1][to] = input(3, at) * input(0, at) / root;
    });
  }

  void operator()(const RotaryEmbeddingAttributes& attributes) {
    const std::int64_t width = size_of(0)[3];
    each_output([&](Index at) {
      const bool pairs = attributes.style == RotaryStyle::pairs;
      const bool is_first = pairs ? at[3] % 2 == 0 : at[3] < width / 2;
      const std::int64_t step = pairs ? 1 : width / 2;
      Index other = at;
      other[3] += is_first ? step : -step;
      const Index angle{0, 0, at[2], at[3]};
      const double turned = (is_first ? -1 : 1) * input(0, other);
      return input(0, at) * input(1, angle) + turned * input(2, angle);
    });
  }

  void operator()(const GeluBackwardAttributes&) {
    each_output([&](Index at) { return gelu_slope(input(0, at)) * input(1, at); });
  }

  void operator()(const EmbeddingAttributes&) {
    each_output([&](Index at) { return input(1, {0, 0, index(0, at[1], at[2]), at[3]}); });
  }

  void operator()(const EmbeddingBackwardAttributes&) {
    for_each(size_of(1), [&](const Index& at) {
      const Index row{0, 0, index(0, at[1], at[2]), at[3]};
      outputs_[0][offset(size_of_output(0), row)] += input(1, at);
    });
  }

  void operator()(const CrossEntropyAttributes& attributes) {
    const Index size = size_of(0);
    each_output([&](Index at) {
      const std::int64_t target = target_of(at);
      if (attributes.of_logarithms) return -input(0, {at[0], at[1], at[2], target});
      double sum = 0;
      for (std::int64_t i = 0; i < size[3]; ++i) {
        sum += std::exp(input(0, {at[0], at[1], at[2], i}));
      }
      return std::log(sum) - input(0, {at[0], at[1], at[2], target});
    });
  }

  void operator()(const CrossEntropyBackwardAttributes& attributes) {
    const Index size = size_of(0);
    each_output([&](Index at) {
      const double hit = at[3] == target_of(at) ? 1 : 0;
      if (attributes.of_logarithms) return -double{attributes.scale} * hit;
      double sum = 0;
      for (std::int64_t i = 0; i < size[3]; ++i) {
        sum += std::exp(input(0, {at[0], at[1], at[2], i}));
      }
      return double{attributes.scale} * (std::exp(input(0, at)) / sum - hit);
    });
  }

  /// Each device decides by itself which elements are dropped; here a linear congruence of seed and
  /// place decides.
  void operator()(const DropoutAttributes& attributes) {
    const auto offset =
        inputs_.size() > 1 ? static_cast<std::uint32_t>((*inputs_[1])[0]) : std::uint32_t{0};
    for (std::size_t i = 0; i < outputs_[0].size(); ++i) {
      const std::uint32_t mixed =
          (static_cast<std::uint32_t>(i) + 977U * (attributes.seed + offset)) * 2654435761U;
      const double drawn = static_cast<double>(mixed >> 8) / 16777216.0;
      const double kept = 1 - double{attributes.probability};
      outputs_[0][i] = drawn < double{attributes.probability} ? 0 : (*inputs_[0])[i] / kept;
    }
  }

  void operator()(const AdamWAttributes& attributes) { update(attributes, inputs_, outputs_); }
  void operator()(const SgdAttributes& attributes) { update(attributes, inputs_, outputs_); }
  void operator()(const SwigluBackwardAttributes&) { swiglu_slopes(inputs_, outputs_); }

  /// The inputs are x and the weights of the gate, of the way down and of the way up.
  void operator()(const SwigluAttributes&) {
    const Index x = size_of(0);
    const std::int64_t hidden = size_of(1)[2];
    for_each({x[0], x[1], x[2], 1}, [&](const Index& row) {
      for (std::int64_t j = 0; j < hidden; ++j) {
        double gate = 0, up = 0;
        for (std::int64_t i = 0; i < x[3]; ++i) {
          const double value = input(0, {row[0], row[1], row[2], i});
          gate += value * input(1, {0, 0, j, i});
          up += value * input(3, {0, 0, j, i});
        }
        const double gated = gate / (1 + std::exp(-gate)) * up;
        for (std::int64_t i = 0; i < x[3]; ++i) {
          outputs_[0][offset(x, {row[0], row[1], row[2], i})] += gated * input(2, {0, 0, i, j});
        }
      }
    });
  }

  /// Ops that choose among numbers of rows, and ops on images, have functions of their own.
  template <class Op>
  requires requires(const Op& op, const Values& x) { choice_values(op, x, 0); }
  void operator()(const Op& op) { outputs_ = choice_values(op, *inputs_[0], size_of(0)[3]); }
  template <class Op>
  requires requires(const Op& op, const Program& call) { image_values(op, call, {}); }
  void operator()(const Op& op) { outputs_[0] = image_values(op, program_, inputs_); }

  void operator()(const SortAttributes& op) {
    (*this)(TopkAttributes{.k = size_of(0)[3], .largest = op.descending});
  }
  void operator()(const ScatterAttributes&) { scatter(program_, inputs_, outputs_[0]); }
  void operator()(const HaloAttributes&) { outputs_[0] = *inputs_[0]; }

  /// These bring data from elsewhere: only those who connect devices, or nobody, can compute them.
  void operator()(const MoveTilesAttributes&) { refuse(); }
  void operator()(const SplitHeadsDecodeAttributes&) { refuse(); }
  void operator()(const ConcatHeadsDecodeAttributes&) { refuse(); }
  void operator()(const PagedUpdateCacheAttributes&) { refuse(); }
  void operator()(const PagedFillCacheAttributes&) { refuse(); }
  void operator()(const AllGatherAttributes&) { refuse(); }
  void operator()(const ReduceScatterAttributes&) { refuse(); }
  void operator()(const AllGatherMatmulAttributes&) { refuse(); }
  void operator()(const MatmulReduceScatterAttributes&) { refuse(); }
  void operator()(const AllToAllDispatchAttributes&) { refuse(); }
  void operator()(const AllToAllCombineAttributes&) { refuse(); }
  void operator()(const SendAttributes&) { refuse(); }
  void operator()(const ReceiveAttributes&) { refuse(); }
  void operator()(const SamplingAttributes&) { refuse(); }

 private:
  void refuse() const {
    throw Error({.attempted = "compute " + std::string(name_of(program_.attributes)),
                 .value = "on one device",
                 .accepted = "ops whose results follow from their operands"});
  }
  /// Writes the rows of the first operand into the second from `first` on.
  void write_rows(std::int64_t first) {
    outputs_[0] = *inputs_[1];
    for_each(size_of(0), [&](const Index& at) {
      const Index to{at[0], at[1], first + at[2], at[3]};
      outputs_[0][offset(size_of_output(0), to)] = input(0, at);
    });
  }

  /// Takes result `i` out of the columns of an operand, from a head on.
  void split_heads(std::size_t i, std::size_t from, std::int64_t first, bool transposed) {
    const Index to = size_of_output(i);
    const std::int64_t width = transposed ? to[2] : to[3];
    for_each(to, [&](const Index& at) {
      const auto [row, column] = transposed ? std::pair(at[3], at[2]) : std::pair(at[2], at[3]);
      outputs_[i][offset(to, at)] = input(from, {at[0], 0, row, (first + at[1]) * width + column});
    });
  }

  Index size_of(std::size_t i) const { return dimensions(program_.inputs[i].spec.shape); }
  Index size_of_output(std::size_t i) const { return dimensions(program_.outputs[i].spec.shape); }
  double input(std::size_t i, const Index& at) const {
    return get(program_.inputs[i], *inputs_[i], at);
  }
  std::int64_t index(std::size_t i, std::int64_t row, std::int64_t column) const {
    return std::llround(input(i, {0, 0, row, column}));
  }
  /// Returns the target at a position. Targets are [n, s]; logits are [n, s, v] or [n, 1, s, v].
  std::int64_t target_of(const Index& at) const {
    return index(1, at[0] * size_of(0)[1] + at[1], at[2]);
  }

  template <class Element>
  void each_output(const Element& element) {
    const Index size = size_of_output(0);
    for_each(size, [&](const Index& at) { outputs_[0][offset(size, at)] = element(at); });
  }

  const Program& program_;
  const Inputs& inputs_;
  std::vector<Values> outputs_;
};

}  // namespace

std::vector<Values> compute(const Program& program, const Inputs& inputs) {
  Computation computation(program, inputs);
  std::visit(computation, program.attributes.variant());
  std::vector<Values> results = std::move(computation).take();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DataType dtype = program.outputs[i].spec.dtype;
    if (!is_whole(dtype)) continue;
    for (double& value : results[i]) {  // Sums wrap; what no program has written stays NaN.
      if (value == value) value = static_cast<double>(wrapped(dtype, std::llround(value)));
    }
  }
  return results;
}

}  // namespace howard::reference
