# SPDX-License-Identifier: Apache-2.0
"""How a typed program uses the package; checked by mypy, never run."""

import pathlib
from typing import List

import howard
from howard.results import Point, Result


def times(result: Result) -> List[float]:
    points: List[Point] = [point for point in result["points"] if point["skipped"] is None]
    return [point["metrics"]["time"]["value"] for point in points]


def exact(point: Point) -> int:
    return point["metrics"]["time"]["picoseconds"]


def runs() -> List[Result]:
    results = [
        howard.run("matmul_sweep", axes={"shape": [1024, "512x1024x2048"], "trace": True}),
        howard.run("mlp_engines", backend="host", set={"host.op_call": "1us"}, threads=2),
        howard.explain(axes={"m": 1024, "k": 512, "n": 512}, chip="wormhole_b0_n150"),
    ]
    return results + howard.analyze("ops.csv", pathlib.Path("trace.json"), compare_emulated=True)


def planned() -> float:
    plan = howard.fit("training.yaml", keys={"batch_size": 4, "mesh_shape": [1, 8]}, tiers=2)
    return float(plan["run"]["step_ps"])


def ops(device: howard.Device) -> howard.Tensor:
    a = device.full((32, 32), 1.0, "float32")
    out, mean, rstd = howard.ttml_layernorm(a, a, a)
    product = howard.matmul(howard.add(a, 2.0), howard.add(out, mean), transpose_b=True)
    shape: int = product.shape[0]
    return howard.reshape(product, (1, shape * shape))


def failure(error: howard.Error) -> str:
    return error.attempted + error.value + error.accepted + error.hint + howard.__version__
