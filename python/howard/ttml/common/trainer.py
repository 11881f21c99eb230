# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.trainer: the training loop of TTML's Python examples."""

import numpy

from howard.ttnn import Layout

from .. import core, ops
from .._graph import context as _context
from ..autograd import Tensor
from .data import build_causal_mask, get_batch


def get_batch_ttml(ids, seq_len, batch_size, mapper=None):
    """Returns tokens [B, 1, 1, S] and targets [B, S] on the device."""
    inputs, targets = get_batch(ids, seq_len, batch_size)
    return tuple(Tensor.from_numpy(numpy.ascontiguousarray(part, numpy.uint32),
                                   layout=Layout.ROW_MAJOR, mapper=mapper)
                 for part in (inputs.reshape(batch_size, 1, 1, seq_len), targets))


def _loss(cfg, model, ids, batch_size, mask):
    inputs, targets = get_batch_ttml(ids, cfg.seq_len, batch_size)
    return ops.loss.cross_entropy_loss(model(inputs, mask), targets)


def train(cfg, model, optim, train_ids, val_ids=(), use_ddp=False, use_tp=False):
    """Makes cfg.steps updates of the parameters with random windows of train_ids. Returns the loss
    of each step, and that of val_ids after every cfg.eval_every steps."""
    if use_ddp or use_tp:
        raise RuntimeError("train: it has one device here; run_experiment train knows meshes")
    context = _context()
    mask = Tensor.from_numpy(build_causal_mask(cfg.seq_len))
    accumulation = cfg.gradient_accumulation_steps
    losses, validation = [], []
    model.train()
    for step in range(1, cfg.steps + 1):
        optim.zero_grad()
        total = 0.0
        for _ in range(accumulation):
            loss = _loss(cfg, model, train_ids, cfg.batch_size, mask)
            total += loss.get_value().item() / accumulation
            ops.binary.mul(loss, 1.0 / accumulation).backward(False)
            context.reset_graph()
        if cfg.use_clip_grad_norm:
            core.clip_grad_norm(model.parameters(), cfg.clip_grad_norm_max_norm)
        optim.step()
        losses.append(total)
        if step % cfg.eval_every == 0 and len(val_ids) > cfg.seq_len:
            model.eval()
            loss = _loss(cfg, model, val_ids, cfg.validation_batch_size, mask)
            validation.append(loss.get_value().item())
            context.reset_graph()
            model.train()
    return losses, validation
