// SPDX-License-Identifier: Apache-2.0
#include "engines/models/feed_forward.h"

#include "engines/autograd/functions/elementwise/activation.h"
#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/functions/matmul/linear.h"

namespace howard::models {

using autograd::Value;

FeedForward::FeedForward(const ParameterMaker& make, const std::string& name, std::int64_t width,
                         std::int64_t wide)
    : w1(make.matrix(name + "/w1/weight", wide, width)),
      w2(make.matrix(name + "/w2/weight", width, wide)),
      w3(make.matrix(name + "/w3/weight", wide, width)) {}

Value FeedForward::run(autograd::Tape& tape, Value x, const ModelOptions& options) {
  const Value gate = autograd::project(tape, x, tape.parameter(w1));
  const Value up = autograd::project(tape, x, tape.parameter(w3));
  const Value hidden = options.joins_swiglu()
                           ? autograd::gated(tape, gate, up)
                           : autograd::multiply(tape, autograd::silu(tape, gate), up);
  return autograd::project(tape, hidden, tape.parameter(w2));
}

}  // namespace howard::models
