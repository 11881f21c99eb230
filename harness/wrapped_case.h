// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "harness/experiment.h"

namespace howard::harness {

/// Runs another case. A class that derives from it overrides what it does otherwise; most say more
/// about the point than the case that they wrap.
class WrappedCase : public Case {
 public:
  explicit WrappedCase(std::unique_ptr<Case> wrapped) : wrapped_(std::move(wrapped)) {}

  void run() override { wrapped_->run(); }
  void finish() override { wrapped_->finish(); }
  SimTime now() const override { return wrapped_->now(); }
  void set_trace_sink(EventSink* sink) override { wrapped_->set_trace_sink(sink); }
  void describe(double seconds, PointResult& point) const override {
    wrapped_->describe(seconds, point);
  }

 private:
  std::unique_ptr<Case> wrapped_;
};

}  // namespace howard::harness
