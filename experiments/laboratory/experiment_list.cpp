// SPDX-License-Identifier: Apache-2.0
#include "experiments/laboratory/experiment_list.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "experiments/experiment.h"

namespace howard::experiments {

// The build writes a line for each file of `experiments` and of `experiments/tools`.
#define HOWARD_QUESTION(name) Experiment name(const Box& box);
#define HOWARD_TOOL(name) Experiment name(const Box& box);
#include <experiment_names.inc>
#undef HOWARD_QUESTION
#undef HOWARD_TOOL

namespace {

struct NamedMaker {
  std::string_view name;
  ExperimentMaker make;
  bool is_tool;
};

constexpr std::array kMakers{
#define HOWARD_QUESTION(name) NamedMaker{#name, &name, false},
#define HOWARD_TOOL(name) NamedMaker{#name, &name, true},
#include <experiment_names.inc>
#undef HOWARD_QUESTION
#undef HOWARD_TOOL
};

/// The experiments of the report, in its order. Others follow by name.
constexpr std::string_view kOrder[] = {
    "matmul_sweep",   "mlp_engines",     "shape_sweep",  "mlp_depth",  "gpt2_full", "gpt2_trace",
    "llama_step",     "llama_inference", "inference",    "vision",     "core_grid", "dispatch_gaps",
    "two_queues",     "dispatch_cores",  "multi_device", "all_reduce", "parallel",  "fidelity",
    "gradient_check", "calibrate",       "op_list",      "workload"};
static_assert(std::ranges::all_of(kOrder, [](std::string_view name) {
  return std::ranges::find(kMakers, name, &NamedMaker::name) != kMakers.end();
}));

/// Returns the questions in the order of the report, and the tools if they are wanted.
ExperimentList listed(const Box& box, bool with_tools) {
  std::vector<Experiment> some;
  for (const NamedMaker& maker : kMakers) {
    if (maker.is_tool && !with_tools) continue;
    const Experiment& made = some.emplace_back(maker.make(box));
    HOWARD_CHECK(made.name == maker.name && made.is_tool == maker.is_tool,
                 "an experiment has the name of its file, and a tool lies in the folder of tools");
  }
  std::ranges::stable_sort(some, {}, [](const Experiment& one) {
    return std::ranges::find(kOrder, one.name) - std::begin(kOrder);
  });
  ExperimentList list;
  for (Experiment& one : some) list.push_back(runnable(std::move(one), box));
  return list;
}

}  // namespace

ExperimentMaker maker_of(std::string_view name) {
  const auto found = std::ranges::find(kMakers, name, &NamedMaker::name);
  HOWARD_CHECK(found != kMakers.end(), "a file has the name of the experiment");
  return found->make;
}

ExperimentList emulated_experiments(const Box& box) {
  ExperimentList list = listed(box, false);
  std::erase_if(list,
                [](const auto& one) { return one->axes(harness::Backend::emulated).empty(); });
  return list;
}

ExperimentList all_experiments(const Box& box) { return listed(box, true); }

}  // namespace howard::experiments
