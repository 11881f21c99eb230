# SPDX-License-Identifier: Apache-2.0
"""Runs training steps in PyTorch for another process.

usage: torch_peer.py mlp|gpt2|llama BATCH WIDTH LAYERS fp32|autocast|pure_bf16 THREADS SEED
           eager|compiled [--heads N --groups N --feed-forward N --sequence N --vocabulary N
           --theta F --optimizer adamw|sgd]

mlp is the report's MLP: LAYERS linear layers with biases, a ReLU between two of them, the mean
squared error, and SGD.

gpt2 is the report's nano GPT-2, with LAYERS blocks, heads of 64 columns, 256 tokens and a
vocabulary of 256. It has embeddings, blocks with a layernorm before attention and before the
feed-forward layers, causal attention, exact gelu, an output projection with bias, the mean squared
error, and SGD.

llama is TTML's Llama, with LAYERS blocks and the sizes of its options: RMS norms, rotary positions
of pairs of columns, keys and values that groups of heads share, a gated feed-forward part, a head
without bias, the cross-entropy, and AdamW or SGD.
"""

import argparse
import ctypes
import math
import os
import time

import peer

RATE = 0.01


def build_mlp(torch, width, layers):
    nn = torch.nn
    hidden = [part for _ in range(layers - 1) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(width, width))


def build_gpt2(torch, width, layers, sequence=256, vocabulary=256):
    nn = torch.nn
    heads = width // 64

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            future = torch.ones(sequence, sequence, dtype=torch.bool).triu(1)
            self.register_buffer("future", future)

        def forward(self, x):
            shape = (x.shape[0], sequence, 3, heads, width // heads)
            query, key, value = self.qkv(x).view(shape).permute(2, 0, 3, 1, 4).unbind(0)
            scores = (query @ key.transpose(-2, -1)) / math.sqrt(width // heads)
            weights = scores.masked_fill(self.future, -math.inf).softmax(-1)
            return self.out((weights @ value).transpose(1, 2).reshape(x.shape))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attend = nn.Sequential(nn.LayerNorm(width), Attention())
            self.feed = nn.Sequential(
                nn.LayerNorm(width),
                nn.Linear(width, 4 * width),
                nn.GELU(),
                nn.Linear(4 * width, width),
            )

        def forward(self, x):
            x = x + self.attend(x)
            return x + self.feed(x)

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.positions = nn.Embedding(sequence, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.head = nn.Linear(width, vocabulary)
            self.register_buffer("counted", torch.arange(sequence))

        def forward(self, tokens):
            return self.head(self.blocks(self.tokens(tokens) + self.positions(self.counted)))

    return Gpt2()


def build_llama(torch, width, layers, sizes):
    nn = torch.nn
    heads, groups = sizes.heads, sizes.groups
    columns = width // heads

    class RmsNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.gamma = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return self.gamma * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)

    def rotated(x, cosines, sines):
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = (even * cosines - odd * sines, even * sines + odd * cosines)
        return torch.stack(turned, -1).flatten(-2)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Linear(width, width, bias=False)
            self.kv = nn.Linear(width, 2 * groups * columns, bias=False)
            self.out = nn.Linear(width, width, bias=False)

        def forward(self, x, cosines, sines, future):
            batch, sequence = x.shape[:2]
            query = self.q(x).view(batch, sequence, heads, columns).transpose(1, 2)
            pairs = self.kv(x).view(batch, sequence, 2, groups, columns)
            key, value = pairs.permute(2, 0, 3, 1, 4).unbind(0)
            query, key = rotated(query, cosines, sines), rotated(key, cosines, sines)
            key = key.repeat_interleave(heads // groups, 1)
            value = value.repeat_interleave(heads // groups, 1)
            scores = (query @ key.transpose(-2, -1)) / math.sqrt(columns)
            weights = scores.masked_fill(future, -math.inf).softmax(-1)
            return self.out((weights @ value).transpose(1, 2).reshape(x.shape))

    class FeedForward(nn.Module):
        def __init__(self):
            super().__init__()
            self.w1 = nn.Linear(width, sizes.feed_forward, bias=False)
            self.w2 = nn.Linear(sizes.feed_forward, width, bias=False)
            self.w3 = nn.Linear(width, sizes.feed_forward, bias=False)

        def forward(self, x):
            return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_norm, self.attention = RmsNorm(), Attention()
            self.mlp_norm, self.mlp = RmsNorm(), FeedForward()

        def forward(self, x, *tables):
            x = x + self.attention(self.attention_norm(x), *tables)
            return x + self.mlp(self.mlp_norm(x))

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(sizes.vocabulary, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = RmsNorm()
            self.head = nn.Linear(width, sizes.vocabulary, bias=False)
            places = torch.arange(sizes.sequence, dtype=torch.float64)[:, None]
            steps = torch.arange(0, columns, 2, dtype=torch.float64) / columns
            angles = places * sizes.theta ** (-steps)
            self.register_buffer("cosines", angles.cos().float())
            self.register_buffer("sines", angles.sin().float())
            future = torch.ones(sizes.sequence, sizes.sequence, dtype=torch.bool).triu(1)
            self.register_buffer("future", future)
            for name, parameter in self.named_parameters():
                if not name.endswith("gamma"):
                    nn.init.normal_(parameter, 0, 0.02)

        def forward(self, tokens):
            x = self.tokens(tokens)
            for block in self.blocks:
                x = block(x, self.cosines, self.sines, self.future)
            return self.head(self.norm(x))

    return Llama()


def loaded_blas():
    """Returns the path of this process's BLAS, or None if it is not known."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/" in line}
    for library in ("libopenblas", "libblis", "libmkl", "libblas"):
        for path in sorted(paths):
            if os.path.basename(path).startswith(library):
                return path
    return None


def kernels_of(blas):
    """Returns the CPU for which OpenBLAS has chosen its kernels, or None for another library."""
    try:
        core = ctypes.CDLL(blas).openblas_get_corename
    except (OSError, AttributeError):
        return None
    core.restype = ctypes.c_char_p
    return core().decode()


class TorchSteps:
    def __init__(self, torch, options):
        self._torch = torch
        self._setting = options.setting
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        if options.model == "mlp":
            self._model = build_mlp(torch, options.width, options.layers)
            self._input = torch.randn(options.batch, options.width)
            self._target = torch.randn(options.batch, options.width)
        elif options.model == "llama":
            self._model = build_llama(torch, options.width, options.layers, options)
            size = (options.batch, options.sequence)
            self._input = torch.randint(options.vocabulary, size)
            self._target = torch.roll(self._input, -1, 1)
        else:
            self._model = build_gpt2(torch, options.width, options.layers)
            self._input = torch.randint(256, (options.batch, 256))
            self._target = torch.zeros(options.batch, 256, 256)
        if self._setting == "pure_bf16":
            self._model = self._model.bfloat16()
            if options.model == "mlp":
                self._input = self._input.bfloat16()
        # What is compiled computes with the model's own parameters; the first step compiles it.
        self._forward = torch.compile(self._model) if options.mode == "compiled" else self._model
        if options.optimizer == "adamw":
            self._optimizer = torch.optim.AdamW(self._model.parameters(), lr=1e-3)
        else:
            self._optimizer = torch.optim.SGD(self._model.parameters(), lr=RATE)
        self._classifies = options.model == "llama"
        self._last = None
        self.facts = {
            "implementation": f"PyTorch {torch.__version__}",
            "threads": str(torch.get_num_threads()),
            "parameters": str(sum(p.numel() for p in self._model.parameters())),
        }
        # One product makes PyTorch load the library.
        torch.ones(2, 2) @ torch.ones(2, 2)
        path = loaded_blas()
        blas = os.path.basename(path) if path is not None else "unknown"
        kernels = kernels_of(path) if path is not None else None
        self.facts["blas"] = f"{blas}, kernels for {kernels}" if kernels is not None else blas
        if blas.startswith("libblas"):
            self.facts["warning"] = (
                f"PyTorch multiplies with {blas}, the reference BLAS, and is many times slower than "
                "with OpenBLAS: install libopenblas0-openmp"
            )

    def step(self):
        start = time.perf_counter_ns()
        self._optimizer.zero_grad(set_to_none=True)
        with self._torch.autocast(
            "cpu", dtype=self._torch.bfloat16, enabled=self._setting == "autocast"
        ):
            prediction = self._forward(self._input)
        # The loss is in float32: PyTorch 1.13 has no mean squared error of bfloat16 on CPUs.
        functions = self._torch.nn.functional
        if self._classifies:
            loss = functions.cross_entropy(prediction.float().flatten(0, 1), self._target.flatten())
        else:
            loss = functions.mse_loss(prediction.float(), self._target)
        loss.backward()
        self._optimizer.step()
        self._last = loss
        return (time.perf_counter_ns() - start) * 1000

    def finish(self):
        return 0

    def loss(self):
        return self._last.item()


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["mlp", "gpt2", "llama"])
    parser.add_argument("batch", type=int)
    parser.add_argument("width", type=int)
    parser.add_argument("layers", type=int)
    parser.add_argument("setting", choices=["fp32", "autocast", "pure_bf16"])
    parser.add_argument("threads", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("mode", choices=["eager", "compiled"])
    for size in ("heads", "groups", "feed-forward", "sequence", "vocabulary"):
        parser.add_argument(f"--{size}", type=int, default=0)
    parser.add_argument("--theta", type=float, default=10000.0)
    parser.add_argument("--optimizer", choices=["adamw", "sgd"], default="sgd")
    return parser.parse_args()


def check_compile(torch):
    """Compiles a small function, because what torch.compile needs is looked for when it is used."""
    if not hasattr(torch, "compile"):
        raise peer.Skip(
            f"PyTorch {torch.__version__} has no torch.compile: it wants PyTorch 2 or later, in the "
            "Python that HOWARD_PYTHON names"
        )
    try:
        torch.compile(lambda x: x + 1)(torch.ones(2))
    except Exception as failure:
        cause = getattr(failure, "inner_exception", failure)
        first = str(cause).partition("\n")[0]
        raise peer.Skip(
            f"torch.compile of PyTorch {torch.__version__} does not work here "
            f"({type(cause).__name__}: {first}): install g++, python3-dev, python3-setuptools and "
            "libtorch-dev"
        ) from failure


def set_up():
    options = read_arguments()
    try:
        import torch  # It may be missing: then it is skipped.
    except ImportError as failure:
        raise peer.Skip(f"PyTorch is not there ({failure}): install python3-torch") from failure
    if options.mode == "compiled":
        check_compile(torch)
    return TorchSteps(torch, options)


if __name__ == "__main__":
    peer.serve(set_up)
