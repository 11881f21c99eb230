// SPDX-License-Identifier: Apache-2.0
#include "engines/models/benchmarks/onednn_mlp.h"

#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "engines/host/host_memory.h"
#include "engines/host/vector_loops.h"

namespace howard::benchmarks {
namespace {

using dnnl::memory;
using host::Half;

/// Aligned as oneDNN likes it.
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
  Impl(std::int64_t batch, std::int64_t width, float rate, int threads)
      : batch_(batch), width_(width), rate_(rate), threads_(threads) {
    omp_set_num_threads(threads_);
    using Tag = memory::format_tag;
    const auto half = memory::data_type::bf16;
    const auto full = memory::data_type::f32;
    const memory::desc rows({batch_, width_}, half, Tag::ab);
    const memory::desc columns({width_, batch_}, half, Tag::ba);
    const memory::desc weight({width_, width_}, half, Tag::ab);
    const memory::desc turned({width_, width_}, half, Tag::ba);
    const memory::desc gradient({width_, width_}, full, Tag::ab);
    for (int i = 0; i < 2; ++i) {
      Layer& layer = layers_[i];
      Half* in = i == 0 ? input_.data() : hidden_.data();
      Half* out = i == 0 ? hidden_.data() : output_.data();
      Half* slope = i == 0 ? hidden_slope_.data() : output_slope_.data();
      layer.forward =
          product(rows, in, weight, layer.half.data(), rows, out, layer.bias.data(), i == 0);
      layer.gradient_product = product(columns, in, rows, slope, gradient, layer.gradient.data());
    }
    back_ = product(rows, output_slope_.data(), turned, layers_[1].half.data(), rows,
                    hidden_slope_.data());
  }

  void step() {
    omp_set_num_threads(threads_);
    run(layers_[0].forward);
    run(layers_[1].forward);
    differentiate_loss();
    run(layers_[1].gradient_product);
    run(back_);
    mask();
    run(layers_[0].gradient_product);
    for (Layer& layer : layers_) update(layer);
    stream_.wait();
  }

  float loss() const { return loss_; }

 private:
  struct Layer {
    explicit Layer(std::int64_t width)
        : weight(width * width, 0.01F),
          half(width * width, 0.01F),
          bias(width, 0),
          gradient(width * width, 0),
          bias_gradient(width, 0) {}
    Array<float> weight;
    Array<Half> half;  ///< The same as bfloat16. [in, out]
    Array<float> bias, gradient, bias_gradient;
    Product forward, gradient_product;
  };

  template <class C>
  Product product(const memory::desc& a_desc, Half* a, const memory::desc& b_desc, Half* b,
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

  /// value(row, sums) for each row; the sums of all threads go to `total`.
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
      const Half* y = output_.data() + first;
      const float* target = target_.data() + first;
      Half* dy = output_slope_.data() + first;
      const std::int64_t width = width_;
      losses_[static_cast<std::size_t>(omp_get_thread_num() * 16)] +=
          host::vectorised([=]() HOWARD_INLINE {
            host::for_each(width, [=](std::int64_t i) HOWARD_INLINE {
              const float slope = scale * (host::load(y, i) - target[i]);
              sums[i] += slope;
              host::store(dy, i, slope);
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
      const Half* h = hidden_.data() + first;
      Half* dh = hidden_slope_.data() + first;
      const std::int64_t width = width_;
      host::vectorised([=]() HOWARD_INLINE {
        host::for_each(width, [=](std::int64_t i) HOWARD_INLINE {
          const Half masked = h[i] != 0 ? dh[i] : Half{0};
          dh[i] = masked;
          sums[i] += from_bits(masked);
        });
      });
    });
  }

  HOWARD_INLINE static float from_bits(Half bits) { return from_bfloat16(bits); }

  void update(Layer& layer) {
    const float* gradient = layer.gradient.data();
    float* weight = layer.weight.data();
    Half* half = layer.half.data();
    const float rate = rate_;
    const std::int64_t width = width_;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < width; ++row) {
      host::vectorised([=]() HOWARD_INLINE {
        host::for_each(width, [=, first = row * width](std::int64_t i) HOWARD_INLINE {
          weight[first + i] -= rate * gradient[first + i];
          host::store(half, first + i, weight[first + i]);
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
  Array<Half> input_{batch_ * width_, 0.1F}, hidden_{batch_ * width_, 0},
      output_{batch_ * width_, 0}, hidden_slope_{batch_ * width_, 0},
      output_slope_{batch_ * width_, 0};
  Array<float> target_{batch_ * width_, 0.5F};
  Layer layers_[2]{Layer(width_), Layer(width_)};
  Product back_;
  std::vector<float> sums_ = std::vector<float>(static_cast<std::size_t>(threads_ * width_));
  std::vector<float> losses_ = std::vector<float>(static_cast<std::size_t>(threads_ * 16));
  float loss_ = 0;
};

OnednnMlp::OnednnMlp(std::int64_t batch, std::int64_t width, float rate, int threads)
    : impl_(std::make_unique<Impl>(batch, width, rate, threads)) {}

OnednnMlp::~OnednnMlp() = default;

void OnednnMlp::step() { impl_->step(); }

float OnednnMlp::loss() const { return impl_->loss(); }

}  // namespace howard::benchmarks
