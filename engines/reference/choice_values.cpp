// SPDX-License-Identifier: Apache-2.0
#include "engines/reference/choice_values.h"

#include <algorithm>
#include <numeric>

namespace howard::reference {
namespace {

/// Returns the places of the row that begins at `first` in the order of its numbers.
std::vector<std::int64_t> sorted_places(const Values& x, std::int64_t first, std::int64_t columns,
                                        bool descending) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(columns));
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, [&](std::int64_t a, std::int64_t b) {
    const double left = x[static_cast<std::size_t>(first + a)];
    const double right = x[static_cast<std::size_t>(first + b)];
    return descending ? left > right : left < right;
  });
  return places;
}

}  // namespace

std::vector<Values> choice_values(const ArgmaxAttributes&, const Values& x, std::int64_t columns) {
  return {choice_values(TopkAttributes{.k = 1}, x, columns)[1]};
}

std::vector<Values> choice_values(const PlusOneAttributes&, const Values& x, std::int64_t) {
  Values next = x;
  for (double& number : next) ++number;
  return {next};
}

std::vector<Values> choice_values(const TopkAttributes& op, const Values& x, std::int64_t columns) {
  std::vector<Values> results(2);
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(x.size()); first += columns) {
    const auto places = sorted_places(x, first, columns, op.largest);
    for (std::int64_t i = 0; i < op.k; ++i) {
      const std::int64_t place = places[static_cast<std::size_t>(i)];
      results[0].push_back(x[static_cast<std::size_t>(first + place)]);
      results[1].push_back(static_cast<double>(place));
    }
  }
  return results;
}

void scatter(const Program& program, const std::vector<const Values*>& inputs, Values& result) {
  result = *inputs[0];
  const std::int64_t columns = program.inputs[0].spec.shape.columns();
  const std::int64_t placed = program.inputs[1].spec.shape.columns();
  for (std::size_t i = 0; i < inputs[1]->size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / placed;
    const auto place = static_cast<std::int64_t>((*inputs[1])[i]);
    result[static_cast<std::size_t>(row * columns + place)] = (*inputs[2])[i];
  }
}

}  // namespace howard::reference
