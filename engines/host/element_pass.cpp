// SPDX-License-Identifier: Apache-2.0
#include "engines/host/element_pass.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engines/host/eltwise_functions.h"

namespace howard::host {
namespace {

/// Elements at a time: twelve results in float32 fill 24 of the 32 KiB of a first cache.
constexpr std::int64_t kPiece = 512;
/// Pieces of kRowPiece that are worth another thread.
constexpr std::int64_t kGrain = 2;

/// What becomes of a result besides its place in `out`.
enum class Rounding : std::uint8_t { none, bfloat16, stored };

template <Rounding kRounding>
HOWARD_INLINE inline void put(float value, float* out, [[maybe_unused]] Half* stored,
                              std::int64_t i) {
  if constexpr (kRounding == Rounding::none) {
    out[i] = value;
  } else {
    const Half half = to_bfloat16(value);
    out[i] = from_bfloat16(half);
    if constexpr (kRounding == Rounding::stored) stored[i] = half;
  }
}

template <class Function, Rounding kRounding>
void unary_loop(const float* x, const float*, float* out, Half* stored, std::int64_t count) {
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE {
      put<kRounding>(Function()(x[i]), out, stored, i);
    });
  });
}

template <class Function, Rounding kRounding>
void binary_loop(const float* x, const float* y, float* out, Half* stored, std::int64_t count) {
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE {
      put<kRounding>(Function()(x[i], y[i]), out, stored, i);
    });
  });
}

template <class Function, Rounding kRounding>
void scalar_loop(const float* x, const float* y, float* out, Half* stored, std::int64_t count) {
  const float scalar = *y;
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE {
      put<kRounding>(Function()(x[i], scalar), out, stored, i);
    });
  });
}

void widen(const Half* from, float* to, std::int64_t count) {
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { to[i] = load(from, i); });
  });
}

/// choose(std::integral_constant<Rounding, ...>()) for what the step says.
template <class Choose>
auto with_rounding(const ElementStep& step, const Choose& choose) {
  if (step.result == DataType::float32) {
    return choose(std::integral_constant<Rounding, Rounding::none>());
  }
  if (step.stored == nullptr) return choose(std::integral_constant<Rounding, Rounding::bfloat16>());
  return choose(std::integral_constant<Rounding, Rounding::stored>());
}

/// Where an operand's values lie from `first` on, as float32; `wide` is room for them.
const float* values_at(const ElementOperand& operand, std::int64_t first, float* wide,
                       std::int64_t count) {
  if (operand.dtype == DataType::float32) {
    return reinterpret_cast<const float*>(operand.values) + first;
  }
  widen(reinterpret_cast<const Half*>(operand.values) + first, wide, count);
  return wide;
}

}  // namespace

ElementPass::ElementPass(std::vector<ElementStep> steps, std::int64_t elements,
                         std::int64_t columns, const std::optional<ElementSum>& sum)
    : elements_(elements), columns_(columns), sum_(sum) {
  HOWARD_CHECK(!steps.empty() && steps.size() <= kMostSteps, "as many steps as there is room for");
  for (const ElementStep& step : steps) {
    for (const ElementOperand& operand : {step.x, step.y}) {
      has_rows_ = has_rows_ || operand.kind == ElementOperand::Kind::row;
    }
    steps_.push_back({step, loop_of(step)});
  }
  if (sum_) partial_.resize(static_cast<std::size_t>(ceil_div(elements, kRowPiece)));
}

ElementPass::Loop ElementPass::loop_of(const ElementStep& step) {
  return with_rounding(step, [&](auto rounding) -> Loop {
    constexpr Rounding kRounding = decltype(rounding)::value;
    const bool scalar = step.y.kind == ElementOperand::Kind::scalar;
    switch (step.function) {
      case ElementFunction::add:
        return scalar ? scalar_loop<Add, kRounding> : binary_loop<Add, kRounding>;
      case ElementFunction::subtract:
        return scalar ? scalar_loop<Subtract, kRounding> : binary_loop<Subtract, kRounding>;
      case ElementFunction::multiply:
        return scalar ? scalar_loop<Multiply, kRounding> : binary_loop<Multiply, kRounding>;
      case ElementFunction::gelu_backward:
        return binary_loop<GeluBackward, kRounding>;
      case ElementFunction::relu:
        return unary_loop<Relu, kRounding>;
      case ElementFunction::gtz:
        return unary_loop<Gtz, kRounding>;
      case ElementFunction::square:
        return unary_loop<Square, kRounding>;
      case ElementFunction::gelu:
        return unary_loop<Gelu, kRounding>;
      case ElementFunction::copy:
        break;
    }
    return unary_loop<Identity, kRounding>;
  });
}

void ElementPass::run(WorkerPool& pool) {
  share(pool, ceil_div(elements_, kRowPiece), kGrain,
        [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t unit = begin; unit < end; ++unit) {
            LaneSums sums;
            const std::int64_t first = unit * kRowPiece;
            walk(first, std::min(first + kRowPiece, elements_), sum_ ? &sums : nullptr);
            if (!sum_) continue;
            partial_[static_cast<std::size_t>(unit)] =
                sum_of(kLanes, [&](std::int64_t i) { return sums.lanes[static_cast<std::size_t>(i)]; });
          }
        });
  if (!sum_) return;
  float total = partial_[0];
  for (std::size_t i = 1; i < partial_.size(); ++i) total += partial_[i];
  with_type(sum_->result, [&](auto type) {
    store(reinterpret_cast<typename decltype(type)::type*>(sum_->stored), 0,
          total / sum_->divisor);
  });
}

void ElementPass::walk(std::int64_t begin, std::int64_t end, LaneSums* sums) const {
  std::int64_t column = has_rows_ ? begin % columns_ : 0;
  while (begin < end) {
    std::int64_t count = std::min(kPiece, end - begin);
    if (has_rows_) count = std::min(count, columns_ - column);
    run_piece(begin, column, count, sums);
    begin += count;
    column += count;
    if (column == columns_) column = 0;
  }
}

void ElementPass::add_to(LaneSums& sums, const float* values, std::int64_t count) {
  float* lanes = sums.lanes.data();
  std::int64_t i = 0;
  const auto add_one = [&] { lanes[sums.count++ % kLanes] += values[i++]; };
  while (i < count && sums.count % kLanes != 0) add_one();
  const std::int64_t whole = (count - i) / kLanes * kLanes;
  vectorised([=, from = values + i]() HOWARD_INLINE {
    float own[kLanes];
    std::copy(lanes, lanes + kLanes, own);
    for (std::int64_t k = 0; k < whole; k += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) own[lane] += from[k + lane];
    }
    std::copy(own, own + kLanes, lanes);
  });
  sums.count += whole;
  i += whole;
  while (i < count) add_one();
}

void ElementPass::run_piece(std::int64_t first, std::int64_t column, std::int64_t count,
                            LaneSums* sums) const {
  alignas(64) float results[kMostSteps][kPiece];
  alignas(64) float wide[2][kPiece];
  const float* result_of[kMostSteps];
  const auto values_of = [&](const ElementOperand& operand, float* room) -> const float* {
    switch (operand.kind) {
      case ElementOperand::Kind::tensor:
        return values_at(operand, first, room, count);
      case ElementOperand::Kind::row:
        return values_at(operand, column, room, count);
      case ElementOperand::Kind::step:
        return result_of[operand.step];
      case ElementOperand::Kind::scalar:
        return &operand.scalar;
      case ElementOperand::Kind::none:
        break;
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& [step, loop] = steps_[i];
    const float* x = values_of(step.x, wide[0]);
    const float* y = values_of(step.y, wide[1]);
    float* out = results[i];
    Half* half = nullptr;
    if (step.stored != nullptr) {
      if (step.result == DataType::float32) {
        out = reinterpret_cast<float*>(step.stored) + first;
      } else {
        half = reinterpret_cast<Half*>(step.stored) + first;
      }
    }
    loop(x, y, out, half, count);
    result_of[i] = out;
    if (sums == nullptr || sum_->step != i) continue;
    add_to(*sums, out, count);
  }
}

}  // namespace howard::host
