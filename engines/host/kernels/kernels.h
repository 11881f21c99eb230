// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/attributes.h"
#include "engines/host/kernels/kernel.h"

namespace howard::host {

// The kernel of each op but the product of matrices, which MatmulKernel makes. Each: Error when the
// operands are none the host has a kernel for. Results are the same for any number of threads.
// Where it says "in place", a result may lie where an operand of its size does.

Kernel make_kernel(const EltwiseAttributes&, const Call&, const KernelContext&);  ///< In place.
Kernel make_kernel(const ReduceAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const TransposeAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ReshapeAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const LayoutAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ConcatAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SplitHeadsAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const ConcatHeadsAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const SoftmaxAttributes&, const Call&, const KernelContext&);  ///< In place.
Kernel make_kernel(const SoftmaxBackwardAttributes&, const Call&,
                   const KernelContext&);                                           ///< In place.
Kernel make_kernel(const LayernormAttributes&, const Call&, const KernelContext&);  ///< In place.
Kernel make_kernel(const LayernormBackwardAttributes&, const Call&,
                   const KernelContext&);  ///< In place.
Kernel make_kernel(const GeluBackwardAttributes&, const Call&,
                   const KernelContext&);  ///< In place.
/// An index outside the table is an Error when it runs.
Kernel make_kernel(const EmbeddingAttributes&, const Call&, const KernelContext&);
/// As above.
Kernel make_kernel(const EmbeddingBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const RmsNormAttributes&, const Call&, const KernelContext&);  ///< In place.
Kernel make_kernel(const RmsNormBackwardAttributes&, const Call&,
                   const KernelContext&);  ///< In place.
Kernel make_kernel(const RotaryEmbeddingAttributes&, const Call&,
                   const KernelContext&);  ///< In place.
/// A target outside the vocabulary is an Error when it runs.
Kernel make_kernel(const CrossEntropyAttributes&, const Call&, const KernelContext&);
/// As above. In place.
Kernel make_kernel(const CrossEntropyBackwardAttributes&, const Call&, const KernelContext&);
Kernel make_kernel(const DropoutAttributes&, const Call&, const KernelContext&);  ///< In place.
Kernel make_kernel(const AdamWAttributes&, const Call&, const KernelContext&);    ///< In place.

}  // namespace howard::host
