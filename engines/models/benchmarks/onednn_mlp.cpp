// SPDX-License-Identifier: Apache-2.0
#include "engines/models/benchmarks/onednn_mlp.h"

#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "engines/host/host_memory.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::benchmarks {
namespace {

using dnnl::memory;
using host::Half;

/// An array with the alignment that oneDNN prefers.
template <class T>
class Array {
 public:
  Array(std::int64_t size, float value)
      : bytes_(host::allocate_aligned(Bytes(size * static_cast<std::int64_t>(sizeof(T))))) {
    for (std::int64_t i = 0; i < size; ++i) host::store(data(), i, value);
  }
  T* data() const { return reinterpret_cast<T*>(bytes_.get()); }

 private:
  host::AlignedBytes bytes_;
};

struct Product {
  dnnl::matmul primitive;
  std::unordered_map<int, memory> operands;
};

}  // namespace

class OnednnMlp::Impl {
 public:
  virtual ~Impl() = default;
  virtual void step() = 0;
  virtual float loss() const = 0;
};

/// Factors are stored as `E`. If `kRounds`, they are float32 rounded to bfloat16.
template <class E, bool kRounds>
class OnednnMlp::Step final : public Impl {
 public:
  explicit Step(const OnednnMlpOptions& options)
      : batch_(options.batch),
        width_(options.width),
        rate_(options.rate),
        threads_(options.threads) {
    omp_set_num_threads(threads_);
    using Tag = memory::format_tag;
    const auto full = memory::data_type::f32;
    const auto half = std::is_same_v<E, Half> ? memory::data_type::bf16 : full;
    const memory::desc rows({batch_, width_}, half, Tag::ab);
    const memory::desc columns({width_, batch_}, half, Tag::ba);
    const memory::desc weight({width_, width_}, half, Tag::ab);
    const memory::desc turned({width_, width_}, half, Tag::ba);
    const memory::desc gradient({width_, width_}, full, Tag::ab);
    for (int i = 0; i < 2; ++i) {
      Layer& layer = layers_[i];
      E* in = i == 0 ? input_.data() : hidden_.data();
      E* out = i == 0 ? hidden_.data() : output_.data();
      E* slope = i == 0 ? hidden_slope_.data() : output_slope_.data();
      layer.forward =
          product(rows, in, weight, factor(layer), rows, out, layer.bias.data(), i == 0);
      layer.gradient_product = product(columns, in, rows, slope, gradient, layer.gradient.data());
    }
    back_ =
        product(rows, output_slope_.data(), turned, factor(layers_[1]), rows, hidden_slope_.data());
  }

  void step() override {
    omp_set_num_threads(threads_);
    run(layers_[0].forward);
    if (std::is_same_v<E, float> && kRounds) round(hidden_.data());
    run(layers_[1].forward);
    differentiate_loss();
    run(layers_[1].gradient_product);
    run(back_);
    mask();
    run(layers_[0].gradient_product);
    for (Layer& layer : layers_) update(layer);
    stream_.wait();
  }

  float loss() const override { return loss_; }

 private:
  static constexpr bool kCopies = kRounds;
  struct Layer {
    explicit Layer(std::int64_t width)
        : weight(width * width, 0.01F),
          half(kCopies ? width * width : 1, 0.01F),
          bias(width, 0),
          gradient(width * width, 0),
          bias_gradient(width, 0) {}
    Array<float> weight;
    Array<E> half;  ///< the weight as a factor, rounded if factors are; [in, out]
    Array<float> bias, gradient, bias_gradient;
    Product forward, gradient_product;
  };

  static E* factor(Layer& layer) {
    if constexpr (kCopies)
      return layer.half.data();
    else
      return layer.weight.data();
  }

  HOWARD_INLINE static void put(E* values, std::int64_t i, float value) {
    if constexpr (std::is_same_v<E, float> && kRounds) {
      values[i] = rounded_to_bfloat16(value);
    } else {
      host::store(values, i, value);
    }
  }

  void round(E* values) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < batch_; ++row) {
      host::vectorised([own = values + row * width_, width = width_]() HOWARD_INLINE {
        host::for_each(width,
                       [=](std::int64_t i) HOWARD_INLINE { put(own, i, host::load(own, i)); });
      });
    }
  }

  template <class C>
  Product product(const memory::desc& a_desc, E* a, const memory::desc& b_desc, E* b,
                  const memory::desc& c_desc, C* c, float* bias = nullptr, bool relu = false) {
    dnnl::primitive_attr attributes;
    if (relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
      attributes.set_post_ops(after);
    }
    const memory::desc bias_desc({1, width_}, memory::data_type::f32, memory::format_tag::ab);
    const auto wanted = bias == nullptr ? dnnl::matmul::desc(a_desc, b_desc, c_desc)
                                        : dnnl::matmul::desc(a_desc, b_desc, bias_desc, c_desc);
    Product made{dnnl::matmul({wanted, attributes, engine_}),
                 {{DNNL_ARG_SRC, memory(a_desc, engine_, a)},
                  {DNNL_ARG_WEIGHTS, memory(b_desc, engine_, b)},
                  {DNNL_ARG_DST, memory(c_desc, engine_, c)}}};
    if (bias != nullptr) made.operands[DNNL_ARG_BIAS] = memory(bias_desc, engine_, bias);
    return made;
  }

  void run(const Product& product) { product.primitive.execute(stream_, product.operands); }

  /// Calls value(row, sums) for each row and adds up the sums of all threads in `total`.
  template <class Row>
  void for_rows(float* total, const Row& row) {
#pragma omp parallel
    {
      float* sums = sums_.data() + omp_get_thread_num() * width_;
      std::fill(sums, sums + width_, 0.0F);
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < batch_; ++i) row(i * width_, sums);
    }
    for (std::int64_t i = 0; i < width_; ++i) {
      total[i] = 0;
      for (int thread = 0; thread < threads_; ++thread)
        total[i] += sums_[static_cast<std::size_t>(thread * width_ + i)];
    }
  }

  void differentiate_loss() {
    const float scale = 2.0F / static_cast<float>(batch_ * width_);
    std::fill(losses_.begin(), losses_.end(), 0.0F);
    for_rows(layers_[1].bias_gradient.data(), [&](std::int64_t first, float* sums) {
      E* y = output_.data() + first;
      const float* target = target_.data() + first;
      E* dy = output_slope_.data() + first;
      const std::int64_t width = width_;
      losses_[static_cast<std::size_t>(omp_get_thread_num() * 16)] +=
          host::vectorised([=]() HOWARD_INLINE {
            host::for_each(width, [=](std::int64_t i) HOWARD_INLINE {
              put(y, i, host::load(y, i));
              const float slope = scale * (host::load(y, i) - target[i]);
              sums[i] += slope;
              put(dy, i, slope);
            });
            return host::sum_of(width, [=](std::int64_t i) HOWARD_INLINE {
              const float difference = host::load(y, i) - target[i];
              return difference * difference;
            });
          });
    });
    loss_ = 0;
    for (const float loss : losses_) loss_ += loss;
    loss_ /= static_cast<float>(batch_ * width_);
  }

  void mask() {
    for_rows(layers_[0].bias_gradient.data(), [&](std::int64_t first, float* sums) {
      const E* h = hidden_.data() + first;
      E* dh = hidden_slope_.data() + first;
      const std::int64_t width = width_;
      host::vectorised([=]() HOWARD_INLINE {
        host::for_each(width, [=](std::int64_t i) HOWARD_INLINE {
          const float masked = h[i] != 0 ? host::load(dh, i) : 0.0F;
          put(dh, i, masked);
          sums[i] += masked;
        });
      });
    });
  }

  void update(Layer& layer) {
    const float* gradient = layer.gradient.data();
    float* weight = layer.weight.data();
    E* half = layer.half.data();
    const float rate = rate_;
    const std::int64_t width = width_;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < width; ++row) {
      host::vectorised([=]() HOWARD_INLINE {
        host::for_each(width, [=, first = row * width](std::int64_t i) HOWARD_INLINE {
          weight[first + i] -= rate * gradient[first + i];
          if constexpr (kCopies) put(half, first + i, weight[first + i]);
        });
      });
    }
    float* bias = layer.bias.data();
    for (std::int64_t i = 0; i < width_; ++i) bias[i] -= rate_ * layer.bias_gradient.data()[i];
  }

  std::int64_t batch_, width_;
  float rate_;
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Array<E> input_{batch_ * width_, 0.1F}, hidden_{batch_ * width_, 0}, output_{batch_ * width_, 0},
      hidden_slope_{batch_ * width_, 0}, output_slope_{batch_ * width_, 0};
  Array<float> target_{batch_ * width_, 0.5F};
  Layer layers_[2]{Layer(width_), Layer(width_)};
  Product back_;
  std::vector<float> sums_ = std::vector<float>(static_cast<std::size_t>(threads_ * width_));
  std::vector<float> losses_ = std::vector<float>(static_cast<std::size_t>(threads_ * 16));
  float loss_ = 0;
};

OnednnMlp::OnednnMlp(const OnednnMlpOptions& options) {
  if (options.compute == DataType::float32) {
    impl_ = std::make_unique<Step<float, false>>(options);
  } else if (options.products == DataType::float32) {
    impl_ = std::make_unique<Step<float, true>>(options);
  } else {
    impl_ = std::make_unique<Step<Half, true>>(options);
  }
}

OnednnMlp::~OnednnMlp() = default;

void OnednnMlp::step() { impl_->step(); }

float OnednnMlp::loss() const { return impl_->loss(); }

}  // namespace howard::benchmarks
