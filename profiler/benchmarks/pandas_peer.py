#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pandas_peer.py FILE...: what `run_experiment analyze` says of ops_perf_results CSVs, by pandas.

The peer that the reader is measured against, written as a user of pandas would: read_csv with the C
engine and its defaults, then columns at a time. Prints seconds for reading alone and for reading and
analysing, after the tables. A file is one run here; damaged rows, resets of the device and wrapped
counters, which `analyze` finds, are not looked for.
"""
import sys
import time

import pandas as pd

NAME, DEVICE = "OP CODE", "DEVICE ID"
START, END = "DEVICE FW START CYCLE", "DEVICE FW END CYCLE"
FIRMWARE, KERNEL = "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"


def lanes(ops):
    """Each device's busy time as the union of its ops' spans, and the gaps between them."""
    clock = ((ops[END] - ops[START]) / ops[FIRMWARE]).groupby(ops[DEVICE]).median()  # GHz
    start = ops[START] / ops[DEVICE].map(clock)
    spans = pd.DataFrame({"device": ops[DEVICE], "op": ops[NAME], "start": start,
                          "end": start + ops[KERNEL]}).sort_values(["device", "start"])
    by_device = spans.groupby("device")
    reached = by_device["end"].cummax().groupby(spans["device"]).shift()
    spans["gap"] = (spans["start"] - reached).clip(lower=0)
    spans["before"] = by_device["op"].shift()
    table = by_device.agg(programs=("op", "size"), first=("start", "min"), last=("end", "max"),
                          idle=("gap", "sum"))
    table["busy"] = table["last"] - table["first"] - table["idle"]
    return table, spans[spans["gap"] > 0]


def analyse(log):
    ops = log[log["OP TYPE"] == "tt_dnn_device"]
    by_device, gaps = lanes(ops)
    by_op = ops.groupby(NAME)[KERNEL].agg(["count", "sum", "mean", "min", "max"])
    by_pair = gaps.groupby(["before", "op"])["gap"].agg(["count", "sum", "mean"])
    edges = [factor * 10**power for power in range(12) for factor in (1, 2, 5)]
    by_length = gaps.groupby(pd.cut(gaps["gap"], edges), observed=True)["gap"].agg(["count", "sum"])
    return [by_device, by_op.sort_values("sum", ascending=False),
            by_pair.sort_values("sum", ascending=False).head(15), by_length]


def main():
    for file in sys.argv[1:]:
        begin = time.perf_counter()
        log = pd.read_csv(file)
        read = time.perf_counter()
        tables = analyse(log)
        end = time.perf_counter()
        print(*tables, sep="\n\n")
        print(f"{file}: read {read - begin:.3f} s, read and analysed {end - begin:.3f} s")


if __name__ == "__main__":
    main()
