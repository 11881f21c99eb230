// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/minimizer.h"

#include <nlopt.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/check.h"

namespace howard::calibration {
namespace {

/// The state passed through NLopt's C interface: the best point seen, and an exception, which must
/// not pass through C.
struct Search {
  const Objective& objective;
  std::vector<double> best;
  double best_value;
  nlopt_opt minimizer = nullptr;
  std::exception_ptr failure = nullptr;
};

double evaluate(unsigned size, const double* point, double* /*gradient*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  try {
    std::vector<double> values(point, point + size);
    const double value = search.objective(values);
    if (value < search.best_value) {
      search.best_value = value;
      search.best = std::move(values);
    }
    return value;
  } catch (...) {
    search.failure = std::current_exception();
    nlopt_force_stop(search.minimizer);
    return search.best_value;
  }
}

void run(nlopt_algorithm algorithm, double step, int evaluations, Search& search) {
  if (evaluations < 1) return;  // NLopt takes zero for no limit
  const auto size = static_cast<unsigned>(search.best.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> minimizer(
      nlopt_create(algorithm, size), &nlopt_destroy);
  HOWARD_CHECK(minimizer != nullptr, "NLopt has memory");
  search.minimizer = minimizer.get();
  nlopt_set_min_objective(minimizer.get(), &evaluate, &search);
  nlopt_set_lower_bounds1(minimizer.get(), 0.0);
  nlopt_set_upper_bounds1(minimizer.get(), 1.0);
  nlopt_set_initial_step1(minimizer.get(), step);
  nlopt_set_maxeval(minimizer.get(), evaluations);
  nlopt_set_xtol_abs1(minimizer.get(), 1e-5);
  std::vector<double> point = search.best;
  double value = search.best_value;
  // Whatever NLopt returns (converged, out of evaluations, rounding), the best point seen counts.
  static_cast<void>(nlopt_optimize(minimizer.get(), point.data(), &value));
  if (search.failure) std::rethrow_exception(search.failure);
}

}  // namespace

std::vector<double> minimise_in_unit_box(const Objective& objective, std::vector<double> start,
                                         double step, int evaluations) {
  if (start.empty() || evaluations < 1) return start;
  for (double& value : start) value = std::clamp(value, 0.0, 1.0);
  const double first = objective(start);
  Search search{.objective = objective, .best = std::move(start), .best_value = first};
  // BOBYQA interpolates between at least as many points as there are numbers, and needs two
  // numbers.
  if (search.best.size() > 1) run(NLOPT_LN_BOBYQA, step, evaluations / 2, search);
  run(NLOPT_LN_SBPLX, step / 4, evaluations - evaluations / 2, search);
  return search.best;
}

}  // namespace howard::calibration
