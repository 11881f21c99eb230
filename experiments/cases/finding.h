// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/experiment.h"

namespace howard::experiments {

/// Works a point out without timing it: run() fills `found_`. It is for experiments without timed
/// iterations.
class Finding : public harness::Case {
 public:
  void finish() override {}
  SimTime now() const override { return {}; }
  void set_trace_sink(EventSink* /*sink*/) override {}
  void describe(double /*seconds*/, harness::PointResult& point) const override {
    point.metrics = found_.metrics;
    point.details = found_.details;
    point.warnings = found_.warnings;
    point.reference = found_.reference;
  }

 protected:
  harness::PointResult found_;
};

}  // namespace howard::experiments
