# SPDX-License-Identifier: Apache-2.0
"""Every function of the Python module, with arguments that make no sense.

usage: hostile_arguments_test.py FOLDER-OF-THE-MODULE [CALLS [SEED]]

Whatever is asked of the module, it answers with a value or an exception; it never ends the
interpreter. The calls run in processes of their own, so that one that does is found and named.
"""

import array
import os
import random
import subprocess
import sys

NUMBERS = [0, 1, -1, 2, 7, 31, 32, 33, 64, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**62,
           2**63 - 1, -(2**63), 2**64, 1431655765, 0.0, -0.0, 0.5, 1.0, 1.5, -1e-45, 1e38, -1e38,
           1e308, float("nan"), float("inf"), float("-inf")]
WORDS = ["", "bfloat16", "float32", "bfloat8_b", "bfloat4_b", "uint32", "uint8", "tile",
         "row_major", "columns", "rows", "batch", "all", "rows_columns", "heads_rows", "LoFi",
         "HiFi2", "HiFi3", "HiFi4", "worker", "eth", "\0", "a" * 1000, "\udcff"]
SHAPES = [[], [0], [1], [-1, 4], [32], [7, 5], [32, 32], [2, 3, 4], [1, 0, 4], [2, 2, 32, 32],
          [4, 1, 8, 96], [1, 64], [64, 1], [33, 31], [2**31, 2**33], [2**62, 2**62, 2, 2],
          [1] * 5, [2**40, 1], ["a"], None]
SETTINGS = [[], [""], ["dram.bandwidth=0GB/s"], ["host.op_call=-1us"], ["host.op_call=1e300us"],
            ["noc.link=0B/cycle"], ["nonsense=1"], ["a" * 100]]

def buffers():
    yield array.array("f", range(64))
    yield array.array("d", [float("nan")] * 64)
    yield array.array("i", [-1, 2**31 - 1, 0, 5])
    yield array.array("q", [2**40, 1])
    yield array.array("b", [1, 2])
    yield array.array("f")
    yield b""
    yield b"bytes"
    floats = memoryview(array.array("f", range(64)))
    yield floats[::2]
    yield floats[::-1]
    for shape in ([8, 8], [2, 2, 4, 4], [1, 1, 1, 1, 64], [64, 1]):
        yield floats.cast("B").cast("f", shape)


def devices(howard):
    return [howard.open_host(threads=1), howard.open_emulated(), howard.open_emulated("eth", False)]


def tensors(howard, device):
    made = []
    for shape in ([32, 32], [7, 5], [1, 32], [32, 1], [1, 1], [2, 3, 32, 64], [4, 1, 8, 96], [64, 32]):
        for dtype in ("bfloat16", "float32", "bfloat8_b"):
            try:
                made.append(device.full(shape, 0.5, dtype))
            except howard.Error:
                pass
    indices = memoryview(array.array("i", [0, 1, 2, 3])).cast("B").cast("i", [1, 4])
    wild = memoryview(array.array("I", [0, 2**32 - 1, 31, 32])).cast("B").cast("I", [1, 4])
    for values in (indices, wild):
        made.append(device.tensor(values, "uint32", "row_major"))
    table = memoryview(array.array("f", range(64))).cast("B").cast("f", [8, 8])
    made.append(device.tensor(table, "bfloat16", "row_major"))
    return made


class Caller:
    def __init__(self, howard, seed):
        self.howard = howard
        self.draw = random.Random(seed)
        self.devices = devices(howard)
        self.tensors = [tensors(howard, device) for device in self.devices]
        self.buffers = list(buffers())
        self.names = sorted(name for name in dir(howard) if callable(getattr(howard, name)))
        self.methods = sorted(name for name in dir(self.devices[0]) if not name.startswith("_"))

    def value(self, device):
        draw = self.draw
        kind = draw.randrange(16)
        if kind < 8:
            return draw.choice(self.tensors[device])
        if kind < 10:
            return draw.choice(NUMBERS)
        if kind == 10:
            return draw.choice(WORDS)
        if kind == 11:
            return draw.choice(SHAPES)
        if kind == 12:
            return draw.choice(self.buffers)
        if kind == 13:
            return draw.choice([True, False, None, [], {}, object(), SETTINGS])
        if kind == 14:
            return draw.choice(draw.choice(self.tensors))
        return self.devices[draw.randrange(len(self.devices))]

    def likely_call(self):
        """Arguments of the right kinds; only what they say is odd."""
        howard, draw = self.howard, self.draw
        device = draw.randrange(len(self.devices))
        number, word = lambda: draw.choice(NUMBERS), lambda: draw.choice(WORDS)
        tensor = lambda: draw.choice(self.tensors[device])
        same = tensor()
        return draw.choice([
            lambda: howard.adamw(same, same, same, same, step=number(), learning_rate=number(),
                                 beta1=number(), beta2=number(), epsilon=number()),
            lambda: howard.adamw(tensor(), tensor(), same, same, step=1),
            lambda: howard.split_heads(tensor(), number()),
            lambda: howard.concat_heads(tensor()),
            lambda: howard.reshape(tensor(), draw.choice(SHAPES)),
            lambda: howard.matmul(tensor(), tensor(), transpose_a=draw.random() < 0.5,
                                  transpose_b=draw.random() < 0.5, fidelity=word()),
            lambda: howard.matmul(same, same, bias=tensor()),
            lambda: howard.add(tensor(), tensor()),
            lambda: howard.multiply(tensor(), number()),
            lambda: howard.dropout(tensor(), number(), number()),
            lambda: howard.embedding(tensor(), tensor()),
            lambda: howard.embedding_backward(tensor(), tensor(), number()),
            lambda: howard.cross_entropy(tensor(), tensor()),
            lambda: howard.cross_entropy_backward(tensor(), tensor(), number()),
            lambda: howard.ttml_layernorm(tensor(), tensor(), tensor(), number()),
            lambda: howard.layernorm_backward(same, tensor(), tensor(), tensor(), same),
            lambda: howard.softmax_backward(tensor(), tensor()),
            lambda: howard.gelu_backward(same, tensor(), draw.random() < 0.5),
            lambda: howard.sum(tensor(), word()),
            lambda: howard.mean(tensor(), draw.choice(["columns", "rows", "batch", "all"])),
            lambda: howard.transpose(tensor(), draw.choice(["rows_columns", "heads_rows"])),
            lambda: howard.call(draw.choice(["tilize", "untilize"]), tensor()),
            lambda: howard.cast(tensor(), dtype=draw.choice(WORDS[1:7])),
            lambda: howard.full_like(tensor(), number()),
            lambda: self.devices[device].full(draw.choice(SHAPES), number(), word()),
            lambda: self.devices[device].tensor(draw.choice(self.buffers), word(), word()),
            lambda: tensor().write(draw.choice(self.buffers)),
            lambda: tensor().read(),
            lambda: self.devices[device].execute_trace(number()),
            lambda: self.devices[device].release_trace(number()),
            lambda: self.devices[device].begin_trace_capture(),
            lambda: self.devices[device].end_trace_capture(),
            lambda: self.devices[device].execute_trace(self.devices[device].end_trace_capture()),
            lambda: self.devices[device].start_recording(),
            lambda: self.devices[device].stop_recording(),
            lambda: howard.open_emulated(word(), True, [word()], draw.choice(SETTINGS)),
            lambda: howard.open_host(number()),
        ])

    def wild_call(self):
        draw = self.draw
        device = draw.randrange(len(self.devices))
        values = [self.value(device) for _ in range(draw.randrange(5))]
        if draw.random() < 0.2:
            name = draw.choice(self.methods)
            return lambda: getattr(self.devices[device], name)(*values)
        name = draw.choice(self.names)
        return lambda: getattr(self.howard, name)(*values)

    def run(self, calls):
        tensor = self.tensors[0][0]
        try:
            self.howard.adamw(tensor, tensor, tensor, tensor, step=0)
            raise AssertionError("adamw takes step 0")
        except self.howard.Error as failure:
            assert "/step: 0; accepted: a whole number from 1" in str(failure), failure
        done = 0
        for number in range(calls):
            call = self.likely_call() if self.draw.random() < 0.7 else self.wild_call()
            # The last line that is there names the call that has ended the interpreter.
            sys.stdout.write(f"call {number}\n")
            sys.stdout.flush()
            try:
                call()
                done += 1
            except BaseException as failure:  # noqa: BLE001
                if not str(failure) and not isinstance(failure, MemoryError):
                    raise
        print(f"{done} of {calls} calls gave a value")


def main():
    folder = sys.argv[1]
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if os.environ.get("HOSTILE_CHILD"):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.path.insert(0, folder)
        import howard

        Caller(howard, seed).run(calls)
        return 0
    failures = 0
    share = 500
    for begin in range(0, calls, share):
        child = subprocess.run(
            [sys.executable, __file__, folder, str(min(share, calls - begin)), str(seed + begin)],
            env={**os.environ, "HOSTILE_CHILD": "1"}, capture_output=True, text=True, check=False)
        last = child.stdout.strip().splitlines()[-1:]
        if child.returncode != 0:
            failures += 1
            print(f"seed {seed + begin}: status {child.returncode} after {last}: "
                  f"{child.stderr[-2000:]}", file=sys.stderr)
    print(f"{calls} calls, {failures} of {-(-calls // share)} interpreters lost")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
