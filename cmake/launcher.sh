# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What ./run_experiment and ./run_tests share: install the missing packages, configure, build.
# The launcher sets howard_root, the absolute path of the source tree, and sources this file.
# All words go to stderr and no command here reads stdin: both belong to the program that is run.
: "${howard_root:?}"

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# Prints the packages of packages.txt that are missing; $1 has the sections that count besides the first.
missing_packages() {
  local line status name section='' wanted=() names=()
  local -A installed=()
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%%#*}
    line=${line//[[:space:]]/}
    case $line in
      '') ;;
      '['*']') section=${line:1:-1} ;;
      *) [[ -n $section && " $1 " != *" $section "* ]] || wanted+=("$line") ;;
    esac
  done <"$howard_root/packages.txt"

  IFS='|' read -r -a names <<<"$(IFS='|' && echo "${wanted[*]}")"
  # dpkg-query prints the packages it knows and fails when it does not know one of them.
  while read -r status name; do
    [[ $status != installed ]] || installed[$name]=1
  done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null)

  for line in "${wanted[@]}"; do
    IFS='|' read -r -a names <<<"$line"
    for name in "${names[@]}"; do
      [[ -z ${installed[$name]-} ]] || continue 2
    done
    printf '%s\n' "${names[0]}"
  done
}

# Runs apt-get as root with the words of howard_as_root before it. The lock of the build must not
# pass to a daemon that a package starts, and dpkg insists on the sbin folders.
apt_get() {
  "${howard_as_root[@]}" env PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin" \
    DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=600 "$@" </dev/null {howard_lock}>&-
}

install_packages() {
  local log=$howard_root/build/packages.log howard_as_root=()
  local install=(install --no-install-recommends --no-remove "$@")
  if ((EUID != 0)); then
    # sudo may ask for a password on a terminal; without one it may only be used where it need not.
    if ! command -v sudo >/dev/null || ! { [[ -t 2 ]] || sudo -n true 2>/dev/null; }; then
      die "as root, run: apt-get update && apt-get install --no-install-recommends $*"
    fi
    howard_as_root=(sudo)
  fi
  say "installing with ${howard_as_root[*]:+sudo }apt-get: $*"
  # The lists of a fresh machine are empty, and old ones name versions that are gone.
  if ! apt_get "${install[@]}" >"$log" 2>&1; then
    apt_get update >"$log" 2>&1 || true
    if ! apt_get "${install[@]}" >>"$log" 2>&1; then
      # Without a network each package gives an error. What the release does not have is named last.
      grep -m 3 '^E: ' "$log" >&2 || cat "$log" >&2
      ! grep -q '^E: Unable to locate package' "$log" ||
        say "this release lacks: $(sed -n 's/^E: Unable to locate package //p' "$log" | sort -u | paste -sd ' ');" \
          "Howard needs Debian 12 or 13, Ubuntu 22.04 or 24.04, or these packages by other means"
      die "apt-get failed (all it said is in $log); by hand: apt-get install --no-install-recommends $*"
    fi
  fi
}

# Checks packages.txt, unless it and the machine's packages are unchanged since the last check.
require_packages() {
  local stamp=$howard_root/build/.packages_${1// /_} missing=()
  if [[ $stamp -nt $howard_root/packages.txt && $stamp -nt /var/lib/dpkg/status ]]; then
    return
  fi
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no Debian system: packages.txt names what has to be installed"
  else
    mapfile -t missing < <(missing_packages "$1")
    ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
  fi
  : >"$stamp"
}

# Configures preset $1 with the other arguments, once. A tree that was moved is configured anew, since
# its build files name the old place.
configure() {
  local preset=$1 folder=$howard_root/build/$1 log=$howard_root/build/configure_$1.log program
  shift
  if [[ -f $folder/build.ninja ]] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$howard_root" "$folder/CMakeCache.txt"; then
    return
  fi
  for program in cmake ninja; do
    command -v "$program" >/dev/null || die "$program is missing: packages.txt names what has to be installed"
  done
  say "configuring build/$preset; the first build takes some minutes"
  rm -rf -- "$folder/CMakeCache.txt" "$folder/CMakeFiles"  # cmake --fresh came with CMake 3.24
  if ! cmake -S "$howard_root" --preset "$preset" "$@" >"$log" 2>&1 </dev/null; then
    sed -n '/^CMake Error/,$p' "$log" >&2
    die "cmake failed (all it said is in $log)"
  fi
}

# remaining DONE ALL SECONDS: ", about 2 min left" by the time that DONE of ALL steps took; nothing before
# that can be told.
remaining() {
  local left
  (($1 * 20 >= $2 && $3 >= 5)) || return 0
  left=$(($3 * ($2 - $1) / $1))
  if ((left >= 90)); then
    printf ', about %d min left' $(((left + 30) / 60))
  else
    printf ', about %d s left' "$left"
  fi
}

# Passes on what ninja prints but its progress: one line, counting on a terminal. $1: what is built.
show_build() {
  local line started='' counting='' begin=$SECONDS done all
  [[ ! -t 2 || ${TERM:-dumb} == dumb ]] || counting=1
  while IFS= read -r line; do
    case $line in
      'ninja: no work to do.' | 'ninja: Entering directory '* | '-- '* | '['*'] Re-checking globbed directories...') ;;
      '['[0-9]*/[0-9]*'] '*)
        [[ -n $started || -n $counting ]] || say "building $1 ..."
        started=1
        [[ -n $counting ]] || continue
        IFS='[/]' read -r _ done all _ <<<"${line%% *}"
        printf '\r\033[K%s: building %s, step %d of %d%s' "${0##*/}" "$1" "$done" "$all" \
          "$(remaining "$done" "$all" $((SECONDS - begin)))" >&2
        ;;
      *)
        [[ -z $started || -z $counting ]] || printf '\r\033[K' >&2
        printf '%s\n' "$line" >&2
        ;;
    esac
  done
  [[ -z $started || -z $counting ]] || printf '\r\033[K' >&2
}

# Builds $2 (ninja targets) of preset $1.
build() {
  local targets
  read -r -a targets <<<"$2"
  NINJA_STATUS='[%f/%t] ' ninja -C "$howard_root/build/$1" "${targets[@]}" 2>&1 </dev/null |
    show_build "build/$1" || die "the build failed (see above)"
}

# Holds the lock $1 of the build folder until release_lock; $2 says what another launcher holds it for. The
# lock goes with the process, however that ends.
take_lock() {
  exec {howard_lock}>"$howard_root/build/.lock_$1"
  if ! flock -w 1 "$howard_lock"; then
    say "waiting for another launcher that is $2"
    flock "$howard_lock"
  fi
}

release_lock() { exec {howard_lock}>&-; }

# prepare SECTIONS PRESET TARGETS [CMAKE-ARGUMENT]...: installs the packages and makes TARGETS up to date. One launcher at a time
# installs packages, and one at a time builds a preset: ./run_experiment need not wait for ./run_tests.
prepare() {
  local sections=$1 preset=$2 targets=$3
  shift 3
  trap 'exit 130' INT
  mkdir -p "$howard_root/build" 2>/dev/null || true
  [[ -w $howard_root/build ]] || die "cannot write $howard_root/build: copy the tree, or run as its owner"
  take_lock packages "installing packages"
  require_packages "$sections"
  release_lock
  take_lock "$preset" "building build/$preset"
  configure "$preset" "$@"
  build "$preset" "$targets"
  release_lock
  trap - INT
}
