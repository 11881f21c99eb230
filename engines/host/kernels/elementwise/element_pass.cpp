// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/elementwise/element_pass.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "engines/host/kernels/elementwise/eltwise_functions.h"

namespace howard::host {
namespace {

/// This many elements are computed at a time: twelve results in float32 fill 24 of the 32 KiB of a
/// first-level cache.
constexpr std::int64_t kPiece = 512;
/// This many pieces of kRowPiece are worth another thread.
constexpr std::int64_t kGrain = 2;

/// A float32 that is read as the bfloat16 it rounds to.
struct Unrounded {
  float value;
};
using howard::host::load;  // needed beside the overload that follows
HOWARD_INLINE inline float load(const Unrounded* values, std::int64_t i) {
  return rounded_to_bfloat16(values[i].value);
}

/// Says what is done with a result besides storing it in `out`. "Exact" results are bfloat16
/// numbers already.
enum class Rounding : std::uint8_t { none, bfloat16, stored, exact_stored };

template <Rounding kRounding>
HOWARD_INLINE inline void put(float value, float* out, [[maybe_unused]] Half* stored,
                              std::int64_t i) {
  constexpr bool kRounds = kRounding == Rounding::bfloat16 || kRounding == Rounding::stored;
  constexpr bool kStores = kRounding == Rounding::stored || kRounding == Rounding::exact_stored;
  out[i] = kRounds ? rounded_to_bfloat16(value) : value;
  if constexpr (kStores) stored[i] = exact_bfloat16(out[i]);
}

template <class Function, class X, Rounding kRounding>
void unary_loop(const void* values, const void*, float* out, Half* stored, std::int64_t count) {
  const auto* x = static_cast<const X*>(values);
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i)
                        HOWARD_INLINE { put<kRounding>(Function()(load(x, i)), out, stored, i); });
  });
}

template <class Function, class X, class Y, Rounding kRounding>
void binary_loop(const void* left, const void* right, float* out, Half* stored,
                 std::int64_t count) {
  const auto* x = static_cast<const X*>(left);
  const auto* y = static_cast<const Y*>(right);
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE {
      put<kRounding>(Function()(load(x, i), load(y, i)), out, stored, i);
    });
  });
}

template <class Function, class X, Rounding kRounding>
void scalar_loop(const void* left, const void* right, float* out, Half* stored,
                 std::int64_t count) {
  const auto* x = static_cast<const X*>(left);
  const float y = *static_cast<const float*>(right);
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE {
      put<kRounding>(Function()(load(x, i), y), out, stored, i);
    });
  });
}

/// Calls choose(std::integral_constant<Rounding, ...>()).
template <class Choose>
auto with_rounding(Rounding rounding, const Choose& choose) {
  switch (rounding) {
    case Rounding::bfloat16:
      return choose(std::integral_constant<Rounding, Rounding::bfloat16>());
    case Rounding::stored:
      return choose(std::integral_constant<Rounding, Rounding::stored>());
    case Rounding::exact_stored:
      return choose(std::integral_constant<Rounding, Rounding::exact_stored>());
    case Rounding::none:
      break;
  }
  return choose(std::integral_constant<Rounding, Rounding::none>());
}

using Kind = ElementOperand::Kind;

/// Calls choose(std::type_identity<T>()) with the type T in which a loop reads x.
template <class Choose>
auto with_x_type(const ElementOperand& x, const Choose& choose) {
  if (x.rounds) return choose(std::type_identity<Unrounded>());
  return with_type(x.kind == Kind::step ? DataType::float32 : x.dtype, choose);
}

/// Returns the type that a loop reads. Results of steps are float32.
DataType read_type(const ElementOperand& operand) {
  return operand.kind == Kind::step ? DataType::float32 : operand.dtype;
}

bool gives_one_of_its_operands(ElementFunction function) {
  return function == ElementFunction::relu || function == ElementFunction::gtz ||
         function == ElementFunction::copy;
}

/// Returns how the step rounds; `steps` are the steps before it.
Rounding rounding_of(const ElementStep& step, std::span<const ElementStep> steps) {
  if (step.result == DataType::float32) return Rounding::none;
  const bool exact = gives_one_of_its_operands(step.function) && step.x.kind == Kind::step &&
                     steps[step.x.step].result == DataType::bfloat16;
  if (exact) return step.stores_half() ? Rounding::exact_stored : Rounding::none;
  return step.stores_half() ? Rounding::stored : Rounding::bfloat16;
}

using Loop = void (*)(const void*, const void*, float*, Half*, std::int64_t);

template <class Function>
Loop unary(const ElementStep& step, Rounding rounding) {
  return with_x_type(step.x, [&](auto x) {
    return with_rounding(rounding, [&](auto chosen) -> Loop {
      return unary_loop<Function, typename decltype(x)::type, decltype(chosen)::value>;
    });
  });
}

template <class Function>
Loop binary(const ElementStep& step, Rounding rounding) {
  return with_x_type(step.x, [&](auto x) {
    return with_rounding(rounding, [&](auto chosen) -> Loop {
      using X = typename decltype(x)::type;
      if (step.y.kind == Kind::scalar) return scalar_loop<Function, X, decltype(chosen)::value>;
      if (read_type(step.y) == DataType::float32) {
        return binary_loop<Function, X, float, decltype(chosen)::value>;
      }
      return binary_loop<Function, X, Half, decltype(chosen)::value>;
    });
  });
}

Loop loop_of(const ElementStep& step, Rounding rounding) {
  switch (step.function) {
    case ElementFunction::add:
      return binary<Add>(step, rounding);
    case ElementFunction::subtract:
      return binary<Subtract>(step, rounding);
    case ElementFunction::multiply:
      return binary<Multiply>(step, rounding);
    case ElementFunction::gelu_backward:
      return binary<GeluBackward>(step, rounding);
    case ElementFunction::relu:
      return unary<Relu>(step, rounding);
    case ElementFunction::gtz:
      return unary<Gtz>(step, rounding);
    case ElementFunction::square:
      return unary<Square>(step, rounding);
    case ElementFunction::gelu:
      return unary<Gelu>(step, rounding);
    case ElementFunction::copy:
      break;
  }
  return unary<Identity>(step, rounding);
}

}  // namespace

ElementPass::ElementPass(const std::vector<ElementStep>& steps, std::int64_t elements,
                         std::int64_t columns, const std::optional<ElementSum>& sum)
    : elements_(elements), columns_(columns), sum_(sum) {
  HOWARD_CHECK(!steps.empty() && steps.size() <= kMostSteps, "as many steps as there is room for");
  for (const ElementStep& step : steps) {
    has_rows_ = has_rows_ || step.x.kind == Kind::row || step.y.kind == Kind::row;
    steps_.push_back({step, loop_of(step, rounding_of(step, steps))});
  }
  if (sum_) partial_.resize(static_cast<std::size_t>(ceil_div(elements, kRowPiece)));
}

void ElementPass::run(WorkerPool& pool) {
  share(pool, ceil_div(elements_, kRowPiece), kGrain,
        [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t unit = begin; unit < end; ++unit) {
            LaneSums sums;
            const std::int64_t first = unit * kRowPiece;
            walk({first, std::min(first + kRowPiece, elements_)}, {}, sum_ ? &sums : nullptr);
            if (!sum_) continue;
            partial_[static_cast<std::size_t>(unit)] = sum_of(
                kLanes, [&](std::int64_t i) { return sums.lanes[static_cast<std::size_t>(i)]; });
          }
        });
  if (!sum_) return;
  float total = partial_[0];
  for (std::size_t i = 1; i < partial_.size(); ++i) total += partial_[i];
  with_type(sum_->result, [&](auto type) {
    store(reinterpret_cast<typename decltype(type)::type*>(sum_->stored), 0, total / sum_->divisor);
  });
}

void ElementPass::walk(Range range, const Product& product, LaneSums* sums) const {
  auto [begin, end] = range;
  std::int64_t column = has_rows_ ? begin % columns_ : 0;
  while (begin < end) {
    std::int64_t count = std::min(kPiece, end - begin);
    if (has_rows_) count = std::min(count, columns_ - column);
    run_piece({begin, begin + count}, column, product, sums);
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

void ElementPass::run_piece(Range piece, std::int64_t column, const Product& product,
                            LaneSums* sums) const {
  const std::int64_t first = piece.begin;
  const std::int64_t count = piece.end - piece.begin;
  alignas(64) float results[kMostSteps][kPiece];
  const float* result_of[kMostSteps];
  const auto values_of = [&](const ElementOperand& operand) -> const void* {
    const std::int64_t bytes = operand.dtype == DataType::float32 ? 4 : 2;
    switch (operand.kind) {
      case Kind::tensor:
        return operand.values + first * bytes;
      case Kind::row:
        return operand.values + column * bytes;
      case Kind::step:
        return result_of[operand.step];
      case Kind::product:
        return product.values + (first - product.first) * bytes;
      case Kind::scalar:
        return &operand.scalar;
      case Kind::none:
        break;
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& [step, loop] = steps_[i];
    float* out = results[i];
    Half* half = nullptr;
    if (step.stores_half()) {
      half = reinterpret_cast<Half*>(step.stored) + first;
    } else if (step.stored != nullptr) {
      out = reinterpret_cast<float*>(step.stored) + first;
    }
    loop(values_of(step.x), values_of(step.y), out, half, count);
    result_of[i] = out;
    if (sums == nullptr || sum_->step != i) continue;
    add_to(*sums, out, count);
  }
}

}  // namespace howard::host
