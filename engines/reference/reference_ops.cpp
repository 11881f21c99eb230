// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/reference_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "engines/device/attention_programs.h"
#include "engines/device/cache_programs.h"
#include "engines/device/eltwise_value.h"
#include "engines/reference/operand_index.h"
#include "engines/reference/parameter_updates.h"

namespace howard::reference {
namespace {

using Inputs = std::vector<const Values*>;

double gelu_slope(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
}

double applied(const EltwiseStep& step, double value) {
  const auto [one, two] = step.numbers;
  return eltwise_function<double>(step.function)({value, 0, 0, double{one}, double{two}});
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
      return attributes.activation ? applied(*attributes.activation, sum) : sum;
    });
  }

  void operator()(const EltwiseAttributes& attributes) {
    const EltwiseFunction<double> function = eltwise_function<double>(attributes.function);
    const double first = attributes.numbers[0];
    const double second = attributes.numbers[1];
    each_output([&](Index at) {
      std::array<double, 3> values{};
      for (std::size_t i = 0; i < inputs_.size(); ++i) values.at(i) = input(i, at);
      if (attributes.scalar) values.at(inputs_.size()) = double{*attributes.scalar};
      for (const EltwiseStep& step : attributes.on_a) values[0] = applied(step, values[0]);
      for (const EltwiseStep& step : attributes.on_b) values[1] = applied(step, values[1]);
      double result = function({values[0], values[1], values[2], first, second});
      for (const EltwiseStep& step : attributes.then) result = applied(step, result);
      return result;
    });
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

  /// If the result has more heads, each one is repeated as often as needed.
  void operator()(const ReshapeAttributes&) {
    if (outputs_[0].size() == inputs_[0]->size()) {
      outputs_[0] = *inputs_[0];
      return;
    }
    const std::int64_t count = size_of_output(0)[1] / size_of(0)[1];
    each_output([&](Index at) { return input(0, {at[0], at[1] / count, at[2], at[3]}); });
  }
  void operator()(const LayoutAttributes&) { outputs_[0] = *inputs_[0]; }

  void operator()(const ConcatAttributes& attributes) {
    const auto along = static_cast<std::size_t>(attributes.dimension);
    each_output([&](Index at) {
      std::size_t part = 0;
      for (; at.at(along) >= size_of(part).at(along); ++part)
        at.at(along) -= size_of(part).at(along);
      return input(part, at);
    });
  }

  /// If there are two operands, the first is written into the second from a row on, to which the
  /// third operand adds.
  void operator()(const SliceAttributes& attributes) {
    if (writes_rows(program_)) return write_rows(attributes.begins[2]);
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
    if (is_attention_backward(program_)) return attention_backward(attributes);
    const Index q = size_of(0), k = size_of(1);
    each_output([&](Index at) {
      const Index pair{at[0], at[1] / (q[1] / k[1]), 0, 0};
      const bool decodes = has_position(program_);
      const std::int64_t seen = attributes.causal ? at[2] + 1
                                : decodes ? static_cast<std::int64_t>(input(3, {0, 0, 0, 0})) + 1
                                          : k[2];
      double sum = 0, weighted = 0;
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t j = 0; j < seen; ++j) {
        double score = attention_score(at, pair, j, double{attributes.scale});
        if (inputs_.size() > 3 && !decodes) score += input(3, {at[0], 0, at[2], j});
        const double weight = std::exp(score);
        largest = std::max(largest, score);
        sum += weight;
        weighted += weight * input(2, {pair[0], pair[1], j, at[3]});
      }
      if (outputs_.size() > 1) {
        const std::size_t row = offset({q[0], q[1], q[2], 1}, at);
        outputs_[1][row] = largest;
        outputs_[2][row] = std::exp(largest) / sum;
      }
      return weighted / sum;
    });
  }

  /// The inputs are q, k, v, the result, its gradient and the two numbers of each row.
  void attention_backward(const AttentionAttributes& attributes) {
    const Index q = size_of(0), k = size_of(1);
    for_each({q[0], q[1], q[2], k[2]}, [&](const Index& places) {
      const auto [batch, head, row, place] = places;
      if (attributes.causal && place > row) return;
      const Index at{batch, head, row, 0}, pair{batch, head / (q[1] / k[1]), 0, 0};
      const double probability =
          std::exp(attention_score(at, pair, place, double{attributes.scale}) - input(5, at)) *
          input(6, at);
      double slope = 0;  // of the probability, less what all of the row have in common
      for (std::int64_t i = 0; i < q[3]; ++i) {
        const Index column{batch, head, row, i};
        slope += input(4, column) * (input(2, {batch, pair[1], place, i}) - input(3, column));
      }
      const double score_slope = double{attributes.scale} * probability * slope;
      const bool is_q = outputs_.size() == 1;
      for (std::int64_t i = 0; i < q[3]; ++i) {
        const Index of_q{batch, head, row, i}, of_k{batch, pair[1], place, i};
        outputs_[0][is_q ? offset(q, of_q) : offset(k, of_k)] +=
            score_slope * (is_q ? input(1, of_k) : input(0, of_q));
        if (!is_q) outputs_[1][offset(k, of_k)] += probability * input(4, of_q);
      }
    });
  }

  void operator()(const MinimalMatmulAttributes& attributes) {
    (*this)(MatmulAttributes{.activation = attributes.activation});
  }

  void operator()(const SplitHeadsAttributes&) {
    if (inputs_.size() == 2) return split_groups();
    const Index to = size_of_output(0);
    for (std::int64_t i = 0; i < 3; ++i) {
      for_each(to, [&](const Index& at) {
        outputs_[static_cast<std::size_t>(i)][offset(to, at)] =
            input(0, {at[0], 0, at[2], (i * to[1] + at[1]) * to[3] + at[3]});
      });
    }
  }

  void operator()(const ConcatHeadsAttributes&) {
    const Index a = size_of(0);
    each_output([&](Index at) { return input(0, {at[0], at[3] / a[3], at[2], at[3] % a[3]}); });
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

  void operator()(const LayernormAttributes& attributes) {
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
      const double rstd = 1 / std::sqrt(variance + double{attributes.epsilon});
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

  /// The inputs are x and perhaps gamma; the outputs are y and perhaps the root.
  void operator()(const RmsNormAttributes& attributes) {
    const Index x = size_of(0);
    for_each(x, [&](const Index& at) {
      double squares = 0;
      for (std::int64_t i = 0; i < x[3]; ++i) {
        squares += std::pow(input(0, {at[0], at[1], at[2], i}), 2);
      }
      const double root =
          std::sqrt(squares / static_cast<double>(x[3]) + double{attributes.epsilon});
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

 private:
  /// Returns the scaled product of row `at` of q with place `j` of the keys `pair`.
  double attention_score(const Index& at, const Index& pair, std::int64_t j, double scale) const {
    double score = 0;
    for (std::int64_t i = 0; i < size_of(0)[3]; ++i) {
      score += input(0, {at[0], at[1], at[2], i}) * input(1, {pair[0], pair[1], j, i});
    }
    return scale * score;
  }
  /// Writes the rows of the first operand into the second from `first` on.
  void write_rows(std::int64_t first) {
    outputs_[0] = *inputs_[1];
    if (has_position(program_)) first += static_cast<std::int64_t>(input(2, {0, 0, 0, 0}));
    for_each(size_of(0), [&](const Index& at) {
      const Index to{at[0], at[1], first + at[2], at[3]};
      outputs_[0][offset(size_of_output(0), to)] = input(0, at);
    });
  }

  /// Splits q off the first operand, and k and v off the second.
  void split_groups() {
    for (std::size_t i = 0; i < 3; ++i) {
      const Index to = size_of_output(i);
      const std::int64_t first = i == 2 ? to[1] : 0;
      for_each(to, [&](const Index& at) {
        outputs_[i][offset(to, at)] =
            input(i == 0 ? 0 : 1, {at[0], 0, at[2], (first + at[1]) * to[3] + at[3]});
      });
    }
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
  std::visit(computation, program.attributes);
  return std::move(computation).take();
}

}  // namespace howard::reference
