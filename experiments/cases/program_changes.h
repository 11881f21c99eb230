// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "engines/workload/workload.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/work.h"
#include "harness/what_if.h"

namespace howard::experiments {

// Scripts, logs, recorded and served models can run with other programs than they ask for.

/// Says how the programs that run differ from those that are asked for.
struct ProgramChanges {
  std::optional<MathFidelity> fidelity = {};  ///< The one of products.
  std::optional<DataType> weights = {};       ///< Of products' second operands of 16 bits and more.
  bool movements = true;  ///< Programs that put elements elsewhere and compute nothing run.

  /// Changes a program. Returns false if it is left out.
  bool apply(Program& program) const;
  Work applied_to(Work work) const;
};

/// Adds the axes of changes: fidelity, weights and movements, which points lack that ask for none.
void add_change_axes(std::vector<harness::Axis>& axes);
/// Returns what these axes say.
ProgramChanges changes_of(const Point& point);

/// Finds out which changes would change anything.
class ChangeablePrograms {
 public:
  explicit ChangeablePrograms(const Work& work);
  explicit ChangeablePrograms(const workload::Workload& workload);
  ChangeablePrograms() = default;

  /// `second` is the specification of the second operand; null if there is none.
  void add(const Attributes& attributes, const TensorSpec* second);
  void add(const Program& program);

  /// Returns the changes, to be tried on a point with these axes.
  std::vector<harness::WhatIf> what_ifs(const Point& point) const;

 private:
  std::set<std::optional<MathFidelity>> fidelities_;  ///< Those of products.
  bool wide_weights_ = false;
  bool movements_ = false;
};

}  // namespace howard::experiments
