#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sweep.sh PROGRAM [SIGNALS [SEED]]: what `run_experiment` must survive, over and over: signals at
# random moments of `all` (300 of them unless said; below 20 the rest is short too), disks that are
# full, streams that are closed and JSON that is nested deep. Fails on a hang, an abort, half a file
# and a silent loss. What this system does not let it try is skipped with the reason.
set -uo pipefail

program=$(readlink -f -- "${1:?the program}")
signals=${2:-300}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work" || exit 1
failures=0
# A run takes seconds; a hang is far beyond.
limit=120
# KiB for each file, KB of a disk, and standard inputs.
limits=(1 4 16) disks=(20 100) inputs=('' '<&-')
((signals >= 20)) || limits=(4) disks=(100) inputs=('<&-')

complain() {
  echo "sweep: $*" >&2
  failures=$((failures + 1))
}

# check_files FOLDER WHAT: every file in it is whole, and none is left that only a writer knows.
check_files() {
  local file end
  while IFS= read -r -d '' file; do
    end=$(tail -c 12 -- "$file" | od -An -v -tx1 | tr -d ' \n')
    case $file in
      *.png) [[ $end == *0000000049454e44ae426082 ]] || complain "$2: half a picture: $file" ;;
      *.svg) [[ $end == *3c2f7376673e0a* ]] || complain "$2: half a picture: $file" ;;
      *.json) [[ $end == *7d0a || $end == *5d0a ]] || complain "$2: half a file: $file" ;;
      *.csv | *.md | *.dat | *.gp | *.txt) [[ $end == *0a ]] || complain "$2: half a file: $file" ;;
      *) complain "$2: a file that nobody asked for: $file" ;;
    esac
  done < <(find "$1" -type f -print0)
}

# check_status STATUS WHAT ACCEPTED...: aborts are 134, time limits 124 and 137.
check_status() {
  local accepted
  for accepted in "${@:3}"; do [[ $1 != "$accepted" ]] || return 0; done
  complain "$2: status $1 and not ${*:3}; the last words: $(tail -n 3 err 2>/dev/null)"
}

# One signal to the whole group, as a terminal sends it, at a random moment of a run that draws.
signal_sweep() {
  local i name names=(INT TERM HUP) group pause status statuses=() start took
  start=$(date +%s%N)
  setsid "$program" all --quick --backend emulated --no-progress --results whole >out 2>err </dev/null
  took=$((($(date +%s%N) - start) / 1000000))
  check_files whole "a run without a signal"
  for ((i = 0; i < signals; ++i)); do
    name=${names[RANDOM % 3]}
    rm -rf results
    # A run that is still there long after is a hang: 137.
    setsid timeout --foreground --signal=KILL "$limit" \
      "$program" all --quick --backend emulated --no-progress >out 2>err </dev/null &
    group=$!
    pause=$((RANDOM * (took + 50) / 32768))
    sleep "$((pause / 1000)).$(printf %03d $((pause % 1000)))"
    kill "-$name" -- "-$group" 2>kill_error
    wait "$group" 2>wait_error
    status=$?
    statuses+=("$status")
    # Before it has begun to catch them a signal ends it as it ends any program, and there is no file.
    check_status "$status" "signal $name after $pause ms" 0 130 129 143
    [[ ! -d results ]] || check_files results "signal $name after $pause ms"
  done
  echo "signals: $signals in runs of $took ms; statuses (count, status):" \
    "$(printf '%s\n' "${statuses[@]}" | sort | uniq -c | tr -s ' \n' ' ')"
}

# full FOLDER WHAT COMMAND...: a run into a folder with too little room.
full() {
  local status
  timeout "$limit" "${@:3}" >out 2>err </dev/null
  status=$?
  check_status "$status" "$2" 1
  grep -qE "run_experiment: .*$1" err || complain "$2: no message names a file: $(head -n 3 err)"
  check_files "$1" "$2"
}

run_words=(all --quick --backend emulated --no-progress --results)

# A limit on the size of each file, which needs no right at all.
size_limit_sweep() {
  local kib
  for kib in "${limits[@]}"; do
    mkdir -p "small$kib"
    # shellcheck disable=SC2016
    full "small$kib" "files of $kib KiB at most" \
      bash -c 'ulimit -f "$0"; exec "$@"' "$kib" "$program" "${run_words[@]}" "small$kib"
  done
  echo "size limits: ${limits[*]} KiB"
}

# A disk of 100 KB, and one of 20 KB, in a name space of our own.
disk_sweep() {
  local kb
  for kb in "${disks[@]}"; do
    mkdir -p disk
    if ! unshare --user --map-root-user --mount mount -t tmpfs -o "size=${kb}k" none disk 2>mount_error &&
      ! unshare --mount mount -t tmpfs -o "size=${kb}k" none disk 2>mount_error; then
      echo "full disk: skipped, this system mounts nothing here: $(tail -n 1 mount_error)"
      return
    fi
    local space=(unshare --user --map-root-user --mount)
    "${space[@]}" true 2>mount_error || space=(unshare --mount)
    # The files are looked at where the disk is mounted.
    # shellcheck disable=SC2016
    "${space[@]}" bash -c 'mount -t tmpfs -o "size=$1k" none disk && shift && "$@" >out 2>err </dev/null
      status=$?; cp -r disk "copy" && exit $status' bash "$kb" \
      timeout "$limit" "$program" "${run_words[@]}" disk
    check_status $? "a disk of $kb KB" 1
    grep -q 'run_experiment: cannot .* disk/' err ||
      complain "a disk of $kb KB: no message names a file: $(head -n 3 err)"
    check_files copy "a disk of $kb KB"
    rm -rf copy
  done
  echo "full disk: ${disks[*]} KB"
}

# Every way in which the standard streams can take nothing.
stream_sweep() {
  local in out err status words
  local one=(matmul_sweep --backend emulated -a shape=512 --no-progress --results streams)
  for in in "${inputs[@]}"; do
    for out in '>out' '>&-' '>/dev/full' '| true'; do
      for err in '2>err' '2>&-' '2>/dev/full'; do
        for words in "${one[*]}" "${one[*]} --json -" list "explain -a m=64 -a k=64 -a n=64" "nonsense"; do
          rm -rf streams
          # shellcheck disable=SC2034
          status=$(PROGRAM=$program bash -c "set -o pipefail; timeout $limit \"\$PROGRAM\" $words $in $err $out" \
            2>shell_error; echo $?)
          check_status "${status##*$'\n'}" "$words $in $err $out" 0 1 2
          [[ ! -d streams ]] || check_files streams "$words $in $err $out"
        done
      done
    done
  done
  echo "streams: closed, full and left, in all combinations"
}

deep_sweep() {
  local depth verb file status
  for depth in 250 100000 3000000; do
    # shellcheck disable=SC2183
    printf "%${depth}s" | tr ' ' '[' >deep.json
    (echo -n '{"schema": "howard.result/1", "points": '; cat deep.json) >result.json
    (echo -n '{"traceEvents": '; cat deep.json) >trace.json
    mkdir -p deep
    cp result.json deep
    timeout "$limit" "$program" report deep >out 2>err
    check_status $? "report, $depth deep" 1
    grep -q ' deep; ' err || complain "report, $depth deep: $(head -c 300 err)"
    for verb in analyze 'compare result.json'; do
      for file in deep.json result.json trace.json; do
        # shellcheck disable=SC2086
        timeout "$limit" "$program" $verb "$file" >out 2>err
        status=$?
        check_status $status "$verb $file, $depth deep" 1
        grep -q ' deep; ' err || complain "$verb $file, $depth deep: $(head -c 300 err)"
      done
    done
  done
  echo "deep JSON: up to 3,000,000 levels"
}

stream_sweep
deep_sweep
size_limit_sweep
disk_sweep
signal_sweep
((failures == 0)) || { echo "sweep: $failures faults" >&2; exit 1; }
