# SPDX-License-Identifier: Apache-2.0
"""Holds the ops of ttnn: a module for each of ttnn's families. To import them defines the ops."""

from . import (
    ccl,
    complex,
    conv,
    core,
    creation,
    data_movement,
    eltwise,
    eltwise_backward,
    embedding,
    heads,
    indexing,
    kv_cache,
    layout,
    loss,
    matmul,
    moreh,
    normalization,
    padding,
    pool,
    quantization,
    reduction,
    sampling,
    ssm,
    transformer,
)

MODULES = (ccl, complex, conv, core, creation, data_movement, eltwise, eltwise_backward, embedding,
           heads, indexing, kv_cache, layout, loss, matmul, moreh, normalization, padding, pool,
           quantization, reduction, sampling, ssm, transformer)
