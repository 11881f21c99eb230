# SPDX-License-Identifier: Apache-2.0
"""Packs the Python package as a wheel, for `pip install .` (PEP 517).

The module is the one of build/release, or is built by CMake in build/wheel for the Python that pip runs in. Another build folder
that has it is taken as it is: pip install . --config-settings build=build/ci.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODULE = "_native" + sysconfig.get_config_var("EXT_SUFFIX")


def _version():
    return re.search(r"project\(\s*howard\s+VERSION\s+([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.I).group(1)


def _package(settings):
    """Returns the folder of the built package."""
    given = (settings or {}).get("build")
    build = ROOT / (given or "build/release")
    if given is None:
        if not (build / "python/howard" / MODULE).exists():
            build = ROOT / "build/wheel"
            own = f"-DPython_EXECUTABLE={sys.executable}"
            subprocess.run(["cmake", "--preset", "release", "-B", str(build), "-DHOWARD_TESTS=OFF", own], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", "python_module", "-j"], cwd=ROOT, check=True)
    if not (build / "python/howard" / MODULE).exists():
        sys.exit(f"there is no {build / 'python/howard' / MODULE}; the module needs the packages python3-dev and pybind11-dev")
    return build / "python"


def _metadata():
    return f"Metadata-Version: 2.1\nName: howard\nVersion: {_version()}\nSummary: A virtual Tenstorrent development box\n" \
           f"License: Apache-2.0\nRequires-Python: >={sys.version_info[0]}.{sys.version_info[1]}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and returns its name."""
    folder = _package(config_settings)
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"howard-{_version()}.dist-info"
    files = {str(file.relative_to(folder)): file.read_bytes() for file in sorted((folder / "howard").rglob("*"))
             if file.suffix in (".py", ".pyi", ".typed", ".txt") or file.name in (MODULE, "py.typed")}
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: howard\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"howard-{_version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, content in files.items():
            wheel.writestr(place, content)
    return name
