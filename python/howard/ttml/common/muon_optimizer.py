# SPDX-License-Identifier: Apache-2.0
"""Implements ttml.common.muon_optimizer: Muon for matrices and AdamW for the rest."""

from ..optimizers import (AdamW, AdamWConfig, MuonComposite, MuonConfig, OptimizerBase,
                          register_optimizer)

ADAMW_MODULES = ["tok_emb", "pos_emb", "fc", "kv_linear", "qkv_linear"]


class MuonWithAdamW(OptimizerBase):
    """Updates weights by Muon, but for those with a part of their name in adamw_modules."""

    def __init__(self, parameters, config):
        super().__init__(parameters)
        skipped = set(config.get("adamw_modules", ADAMW_MODULES))
        muon, adamw = {}, {}
        for name, tensor in parameters.items():
            by_muon = name.endswith("/weight") and not skipped & set(name.split("/"))
            (muon if by_muon else adamw)[name] = tensor
        given = {"lr": 0.02, "momentum": 0.95, "ns_steps": 5, **config.get("muon", {})}
        self.muon = MuonComposite(muon, MuonConfig(**given))
        self.adamw = AdamW(adamw, AdamWConfig(**config.get("adamw", {})))

    def step(self):
        self.muon.step()
        self.adamw.step()
        self._steps += 1

    def zero_grad(self):
        self.muon.zero_grad()
        self.adamw.zero_grad()

    def get_lr(self):
        return self.muon.get_lr()

    def set_lr(self, lr):
        self.muon.set_lr(lr)

    def get_adamw_lr(self):
        return self.adamw.get_lr()

    def set_adamw_lr(self, lr):
        self.adamw.set_lr(lr)

    def get_state_dict(self):
        return {"steps": self._steps, "muon": self.muon.get_state_dict(),
                "adamw": self.adamw.get_state_dict()}

    def set_state_dict(self, state):
        self._steps = state["steps"]
        self.muon.set_state_dict(state["muon"])
        self.adamw.set_state_dict(state["adamw"])


def register():
    """Makes create_optimizer know MuonWithAdamW."""
    register_optimizer("MuonWithAdamW", lambda config, parameters: MuonWithAdamW(parameters, config))
