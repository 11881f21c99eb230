// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/attention_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engines/reference/operand_index.h"

namespace howard::reference {
namespace {

/// The operands of attention.
class Operands {
 public:
  Operands(const Program& program, const std::vector<const Values*>& inputs)
      : program_(program), inputs_(inputs) {}

  Index size(std::size_t i) const { return dimensions(program_.inputs[i].spec.shape); }
  double at(std::size_t i, const Index& place) const {
    return get(program_.inputs[i], *inputs_[i], place);
  }
  /// Returns the head of keys that row `row` of q belongs to.
  Index pair(const Index& row) const { return {row[0], row[1] / (size(0)[1] / size(1)[1]), 0, 0}; }
  /// Returns the product of row `row` of q with place `j` of its keys.
  double score(const Index& row, std::int64_t j) const {
    const Index head = pair(row);
    double score = 0;
    for (std::int64_t i = 0; i < size(0)[3]; ++i) {
      score += at(0, {row[0], row[1], row[2], i}) * at(1, {head[0], head[1], j, i});
    }
    return score;
  }

 private:
  const Program& program_;
  const std::vector<const Values*>& inputs_;
};

/// The places from `first` up to `end`, which is none of them.
struct SeenPlaces {
  std::int64_t first = 0, end = 0;
};

/// Returns a score under TTML's mask, which is 1 where a place is seen.
double masked_score(double score, double mask) { return mask * score + (mask - 1) * 1e9; }

/// Row i of a head sees the places of seen(i).
void attend_seen(const Program& program, const std::vector<const Values*>& inputs, double scale,
                 const std::function<SeenPlaces(std::int64_t)>& seen,
                 std::vector<Values>& outputs) {
  const Operands in(program, inputs);
  const Index q = in.size(0);
  const bool of_ttml = std::holds_alternative<TtmlAttentionAttributes>(program.attributes);
  const bool masked = inputs.size() > 3 &&
                      (of_ttml || std::holds_alternative<AttentionAttributes>(program.attributes));
  const auto score_of = [&](const Index& at, std::int64_t j) {
    const double score = scale * in.score(at, j);
    if (!masked) return score;
    const double mask = in.at(3, {at[0], at[1], at[2], j});
    return of_ttml ? masked_score(score, mask) : score + mask;
  };
  const Index out{q[0], q[1], q[2], in.size(2)[3]};
  for_each(out, [&](const Index& at) {
    const Index pair = in.pair(at);
    double sum = 0, weighted = 0;
    double largest = -std::numeric_limits<double>::infinity();
    const auto [first, end] = seen(at[2]);
    for (std::int64_t j = first; j < end; ++j) largest = std::max(largest, score_of(at, j));
    for (std::int64_t j = first; j < end; ++j) {
      const double weight = std::exp(score_of(at, j) - largest);
      sum += weight;
      weighted += weight * in.at(2, {pair[0], pair[1], j, at[3]});
    }
    outputs[0][offset(out, at)] = weighted / sum;
    if (outputs.size() == 1) return;
    const std::size_t row = offset({q[0], q[1], q[2], 1}, at);
    outputs[1][row] = largest;
    outputs[2][row] = 1 / sum;
  });
}

}  // namespace

void attend(const Program& program, const std::vector<const Values*>& inputs,
            const AttentionAttributes& attributes, std::vector<Values>& outputs) {
  const std::int64_t places = program.inputs[1].spec.shape.rows(), window = attributes.window;
  const std::int64_t before = attributes.causal ? window - 1 : window / 2;
  const auto seen = [&](std::int64_t row) -> SeenPlaces {
    const std::int64_t last = attributes.causal ? row : window > 0 ? row + before : places - 1;
    return {window > 0 ? std::max<std::int64_t>(0, row - before) : 0, std::min(places, last + 1)};
  };
  attend_seen(program, inputs, double{attributes.scale}, seen, outputs);
}

void attend(const Program& program, const std::vector<const Values*>& inputs,
            const DecodeAttentionAttributes& attributes, std::int64_t position,
            std::vector<Values>& outputs) {
  const std::int64_t end = position + 1, window = attributes.window;
  const SeenPlaces seen{window > 0 ? std::max<std::int64_t>(0, end - window) : 0, end};
  attend_seen(
      program, inputs, double{attributes.scale}, [&](std::int64_t) { return seen; }, outputs);
}

void attention_backward(const Program& program, const std::vector<const Values*>& inputs,
                        bool causal, double scale, std::vector<Values>& outputs) {
  const Operands in(program, inputs);
  const Index q = in.size(0), k = in.size(1), v = in.size(2);
  const bool of_q = std::holds_alternative<AttentionBackwardQAttributes>(program.attributes);
  for_each({q[0], q[1], q[2], k[2]}, [&](const Index& places) {
    const auto [batch, head, row, place] = places;
    if (causal && place > row) return;
    const Index at{batch, head, row, 0}, pair = in.pair(at);
    const double mask = inputs.size() > 7 ? in.at(7, {batch, head, row, place}) : 1;
    const double score = masked_score(scale * in.score(at, place), mask);
    const double probability = std::exp(score - in.at(5, at)) * in.at(6, at);
    double slope = 0;  // of the probability, less what all of the row have in common
    for (std::int64_t i = 0; i < v[3]; ++i) {
      const Index column{batch, head, row, i};
      slope += in.at(4, column) * (in.at(2, {batch, pair[1], place, i}) - in.at(3, column));
    }
    const double score_slope = mask * scale * probability * slope;
    for (std::int64_t i = 0; i < q[3]; ++i) {
      const Index of_row{batch, head, row, i}, of_place{batch, pair[1], place, i};
      if (of_q) {
        outputs[0][offset(q, of_row)] += score_slope * in.at(1, of_place);
      } else {
        outputs[0][offset(k, of_place)] += score_slope * in.at(0, of_row);
      }
    }
    if (of_q) return;
    for (std::int64_t i = 0; i < v[3]; ++i) {
      const Index of_row{batch, head, row, i}, of_place{batch, pair[1], place, i};
      outputs[1][offset(v, of_place)] += probability * in.at(4, of_row);
    }
  });
}

}  // namespace howard::reference
