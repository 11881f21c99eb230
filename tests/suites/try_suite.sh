#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# try_suite.sh SUITE [COMMAND]...: makes a bare root of a distribution, puts a clone of this tree's HEAD
# into it and runs the README's commands there, or the COMMANDs in place of them, until one fails. It is
# run before a release. It needs root, mmdebstrap and a mirror of the distribution.
#
#   SUITE     debian-12, debian-13, ubuntu-22.04 or ubuntu-24.04
#   COMMAND   a line for bash in the clone: './run_tests -R lint'
#
#   CXX       the compiler's package and command, for example clang++: CXX=clang++ try_suite.sh debian-13
#   SUITES    the folder for the roots, build/suites by default. A root is kept after a failure, and used
#             again with the new HEAD and what was built.
#   CCACHE    a folder for ccache, without which nothing is cached
#   MIRROR    the mirror, in place of the distribution's own
set -euo pipefail

die() {
  printf 'try_suite: %s\n' "$*" >&2
  exit 1
}

suite=${1-}
mirror=http://deb.debian.org/debian components=main
case $suite in
  debian-12) release=bookworm ;;
  debian-13) release=trixie ;;
  ubuntu-22.04) release=jammy ;;
  ubuntu-24.04) release=noble ;;
  '') die "which distribution? debian-12, debian-13, ubuntu-22.04 or ubuntu-24.04" ;;
  *) die "cannot make a root of \"$suite\": it is none of debian-12, debian-13, ubuntu-22.04, ubuntu-24.04" ;;
esac
shift
if [[ $suite == ubuntu-* ]]; then
  mirror=http://archive.ubuntu.com/ubuntu components='main universe'
fi
commands=("$@")
((${#commands[@]} > 0)) || commands=('./run_experiment matmul_sweep' ./run_tests)

command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"
((EUID == 0)) || die "a root can be made and entered by root alone: sudo $0 $suite"
tree=$(git -C "$(dirname -- "$(readlink -f -- "$0")")" rev-parse --show-toplevel)
folder=$(readlink -m -- "${SUITES:-$tree/build/suites}/$suite")
mkdir -p "${folder%/*}"
log=$folder.log

if [[ -d $folder/howard/.git ]]; then
  echo "try_suite: using $folder again"
  git -C "$folder/howard" fetch --quiet "$tree" HEAD
  git -C "$folder/howard" reset --quiet --hard FETCH_HEAD
else
  # A mirror whose key this system does not have is taken on trust; on a Debian that is Ubuntu's.
  trust=
  [[ $suite != ubuntu-* || -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]] || trust='[trusted=yes] '
  echo "try_suite: making $folder"
  [[ ! -e $folder ]] || die "$folder is there already, without a clone: remove it first"
  mmdebstrap --mode=root --variant=apt --dpkgopt=force-unsafe-io "$release" "$folder" \
    "deb ${trust}${MIRROR:-$mirror} $release $components" >"$log" 2>&1 ||
    { cat "$log" >&2; die "mmdebstrap failed (see above)"; }
  git clone --quiet --no-hardlinks "$tree" "$folder/howard"
  [[ ! -e /etc/resolv.conf ]] || cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
fi

variables=(${CXX:+"CXX=$CXX"})
tools=${CXX:+${CXX/clang++/clang}}
[[ ${CXX:-} != clang* ]] || tools+=' libomp-dev'  # GCC brings its OpenMP, clang does not
if [[ -n ${CCACHE:-} ]]; then
  mkdir -p "$CCACHE" "$folder/ccache"
  variables+=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=/ccache CCACHE_BASEDIR=/howard)
  tools+=' ccache'
fi
setup=${tools:+"apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq --no-install-recommends install $tools >/dev/null"}

# within COMMAND: runs it in the clone, with the kernel's folders and nothing else of this system.
within() {
  unshare --mount bash -c '
    for part in proc sys dev; do mount --rbind "/$part" "$0/$part"; done
    [[ -z $2 ]] || mount --bind "$2" "$0/ccache"
    exec chroot "$0" env -i HOME=/root LANG=C.UTF-8 "${@:3}" \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      bash -c "cd /howard && $1"' "$folder" "$1" "${CCACHE:-}" "${variables[@]}"
}

for command in "$setup" "${commands[@]}"; do
  [[ -n $command ]] || continue
  echo "try_suite: $suite: $command"
  SECONDS=0
  within "$command" || die "$suite: \"$command\" failed after $SECONDS s; the root is $folder"
  echo "try_suite: $suite: \"$command\" took $SECONDS s"
done
rm -rf --one-file-system -- "$folder"
