# SPDX-License-Identifier: Apache-2.0
"""Holds the run of a script: its chips, its clock, what it has said of itself."""

import os
import pathlib
import sys

from howard import _native


class Session:
    """Holds what all devices of a process share."""

    def __init__(self):
        self.values = True
        self.profiles = []
        self.settings = []
        self.calls_as_report = False  # Calls cost what they do in the report's Python engine.
        self.cold_kernels = False  # First calls of programs compile their kernels.
        self.source = pathlib.Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
        self.chips = {}  # by dispatch and number of queues
        self.default_device = None
        self.open_devices = {}
        self.regions = []
        self.process, self.forked = os.getpid(), False
        # Each call asks whether it is in a fork, and asking the system takes long.
        os.register_at_fork(after_in_child=self._fork)
        self.last_chip = None
        self.interrupted = False
        self._chips_of_mesh = 0
        self._facts = {}  # by profiles and settings

    def interrupt(self, *_):
        """Raises a Ctrl-C now."""
        raise KeyboardInterrupt

    def dropped(self, report, otherwise=sys.__unraisablehook__):
        """Keeps a Ctrl-C for the next op where Python drops it, as it does in destructors; `otherwise` is
        told of other errors."""
        if report.exc_type is KeyboardInterrupt:
            self.interrupted = True
        else:
            otherwise(report)

    def chip(self, eth, queues):
        """Returns the chip for these, whose clock goes on when it was open before."""
        self.require_process()
        key = (eth, queues)
        if key not in self.chips:
            self.chips[key] = _native._ttnn.Chip(
                self.profiles, self.settings, eth, queues, self.source
            )
        self.last_chip = self.chips[key]
        return self.last_chip

    def _fork(self):
        self.forked = True

    def require_process(self):
        if self.forked:
            raise RuntimeError(
                "this process was forked from the one that opened the device: devices do not "
                "outlive a fork; open them in one process"
            )

    def now_ps(self):
        return sum(chip.now_ps() for chip in self.chips.values())

    @property
    def facts(self):
        """Returns the name, the architecture, and the banks and bytes of DRAM of the chip."""
        chosen = (tuple(self.profiles), tuple(self.settings))
        if chosen not in self._facts:
            self._facts[chosen] = _native._ttnn.chip_facts(self.profiles, self.settings)
        return self._facts[chosen]

    @property
    def dram_banks(self):
        return self.facts["dram_banks"]

    @property
    def bank_bytes(self):
        return self.facts["dram_bytes"] // self.dram_banks

    @property
    def is_blackhole(self):
        return self.facts["architecture"] == "blackhole"

    @property
    def chip_name(self):
        """Returns the name of the card, by that of its profile."""
        names = [*self.profiles, self.facts["name"]]
        cards = ["p100", "p300", "p150"] if self.is_blackhole else ["n150", "n300"]
        found = (card for name in names for card in cards if card in name)
        return next(found, cards[-1])

    @property
    def is_2026(self):
        """Says whether the software is ttnn of 2026, by the name of its profile."""
        return any("2026" in profile for profile in self.profiles)

    def devices(self):
        """Returns how many chips the box has: those of the card, or of the mesh that was opened."""
        return max(self._chips_of_mesh, 2 if self.chip_name in ("n300", "p300") else 1)

    def set_box(self, chips):
        """Makes the box one that is sold with so many chips; which these are, their profile says."""
        self._chips_of_mesh = chips

    def widen(self, chips):
        """Makes the box one that has a mesh of so many chips: a T3000 of 8, a Galaxy of 32."""
        most = 32
        if chips > most:
            raise RuntimeError(f"a mesh of {chips} devices is more than any emulated box has: "
                               f"a Galaxy has {most}")
        if chips <= self.devices():
            return
        self._chips_of_mesh = 8 if chips <= 8 else most
        eight = "a box of eight cards" if self.is_blackhole else "a T3000"
        box = eight if chips <= 8 else "a Galaxy"
        print(f"howard: a mesh of {chips} devices: the emulated box is {box} of "
              f"{self._chips_of_mesh} chips from here on", file=sys.stderr)

    def mesh(self):
        """Returns the rows and columns of the mesh that all chips of the box are."""
        return {4: (2, 2), 8: (2, 4), 32: (8, 4)}.get(self._chips_of_mesh, (1, self.devices()))

    def cards(self):
        """Returns how many chips are on PCIe: one of each card with two, all of other boxes."""
        chips = self.devices()
        return chips // 2 if self.chip_name in ("n300", "p300") and chips < 32 else chips

    @property
    def box_name(self):
        """Returns the name that ttnn's ClusterType has for the box."""
        if self.chip_name == "p300":
            large = {4: "P300_X2"}
        elif self.is_blackhole:
            large = {2: "P150_X2", 4: "P150_X4"}
        else:
            large = {4: "N150_X4"}
        large.update({8: "P150_X8", 32: "BLACKHOLE_GALAXY"} if self.is_blackhole else
                     {8: "T3K", 32: "GALAXY"})
        return large.get(self._chips_of_mesh, self.chip_name.upper())

    def finish(self):
        """Waits for everything at the end of a script."""
        for device in list(self.open_devices.values()):
            device.abandon_capture()
        for (_, queues), chip in self.chips.items():
            if chip.is_finished():
                continue
            for queue in range(queues):
                chip.finish(0, queue)

    def workload_json(self):
        """Returns the workload of the chip that did most; None without one."""
        chips = [chip for chip in self.chips.values() if chip.calls() or len(self.chips) == 1]
        if not chips:
            return None
        return max(chips, key=lambda chip: chip.calls()).json()


session = Session()


def now():
    """Returns the virtual seconds since the first device was opened; 0 before that."""
    return session.now_ps() * 1e-12


class region:
    """Names a part of a script: its virtual time stands in the summary.

    It works with `with`, and as a decorator of functions.
    """

    def __init__(self, name):
        self.name = str(name)
        self._chips = []

    def __enter__(self):
        chip = session.last_chip
        self._chips.append(chip)
        if chip is not None:
            chip.begin_region(self.name)
        return self

    def __exit__(self, *_):
        chip = self._chips.pop()
        if chip is not None:
            chip.end_region()
        return False

    def __call__(self, function):
        def inside(*args, **kwargs):
            with region(self.name):
                return function(*args, **kwargs)

        inside.__name__ = getattr(function, "__name__", "region")
        return inside


def signpost(header="", message=None, **_):
    """Names a place in the script, as tracy's signposts do."""
    if session.last_chip is not None:
        session.last_chip.signpost(str(header))
