#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# requirements_test.sh ROOT: configures ROOT with a compiler that is too old and without some libraries, and fails
# when the message does not say so with the command that helps, or when it names a package that packages.txt lacks.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
failures=0

# expect WHAT LINE [WORD...]: LINE is one of the lines of cmake with the WORDs.
expect() {
  local what=$1 line=$2
  shift 2
  rm -rf "$work/build"
  if cmake -S "$root" -B "$work/build" -G Ninja "$@" >"$work/log" 2>&1 || ! grep -qxF "$line" "$work/log"; then
    printf '%s: no line "%s"\n' "$what" "$line" >&2
    cat "$work/log" >&2
    failures=$((failures + 1))
  fi
}

printf '#!/bin/bash\nexec g++ -U__GNUC__ -D__GNUC__=10 "$@"\n' >"$work/old"
chmod +x "$work/old"
expect "a compiler that is too old" "    apt-get install g++-12; export CXX=g++-12" -DCMAKE_CXX_COMPILER="$work/old"
expect "libraries that are missing" "    apt-get install --no-install-recommends libfmt-dev libdnnl-dev ocl-icd-opencl-dev" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON

# A library's packages are those that the launchers install; clang's OpenMP is another compiler's.
while read -r package; do
  grep -qE "^$package( |\$)" "$root/packages.txt" || {
    echo "cmake/requirements.cmake: $package is not in packages.txt" >&2
    failures=$((failures + 1))
  }
done < <(grep '^needs' "$root/cmake/requirements.cmake" | grep -oE '[a-z0-9.+-]+-dev' | grep -vx libc6-dev)

if ((failures > 0)); then exit 1; fi
