#!/bin/sh
# Compute a run in parts, with a shell and nothing else, on this machine or on several by ssh:
#
#   sh configs/cluster/shell.sh 4 configs/usps.yaml --out results/usps
#   HOSTS="node1 node2" sh configs/cluster/shell.sh 4 configs/usps.yaml --out results/usps
#
# 1. The first argument is the number of parts; the others are those of `confml run`.
# 2. All parts write into one results folder. They run at the same time.
# 3. Without HOSTS all parts run on this machine, each with an equal share of its processors.
# 4. With HOSTS part 1 runs on the first host, part 2 on the second, and so on in turn. The hosts must see
#    this folder under the same path, have `confml` on their PATH, and accept ssh without a password.
# 5. JOBS sets the worker processes of each part.
# 6. The log of each part is confml-<part>.log in this folder.
# 7. `watch confml status results/usps` shows the progress of all parts.
# 8. After the last part, cells of a part that failed are computed, and the report of all cells is written.
# 9. Ctrl-C stops the parts on this machine; finished cells are kept. Run the same command again to continue.
# 10. The exit code is 1 if a cell failed.
set -eu
parts=$1
shift
if [ -z "${JOBS:-}" ] && [ -z "${HOSTS:-}" ]; then
  JOBS=$(($(getconf _NPROCESSORS_ONLN) / parts))
  [ "$JOBS" -gt 0 ] || JOBS=1
fi
run() { confml run "$@" ${JOBS:+--jobs "$JOBS"}; }
quoted() { for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done; }

processes=""
trap 'kill $processes 2>/dev/null || :; exit 130' INT TERM
set -- "$@" --quiet
part=1
while [ "$part" -le "$parts" ]; do
  if [ -z "${HOSTS:-}" ]; then
    run "$@" --shard "$part/$parts" >"confml-$part.log" 2>&1 &
  else
    host=$(echo "$HOSTS" | awk -v part="$part" '{ print $((part - 1) % NF + 1) }')
    command="cd $(quoted "$PWD") && confml run $(quoted "$@" --shard "$part/$parts") ${JOBS:+--jobs $JOBS}"
    ssh -n "$host" "$command" >"confml-$part.log" 2>&1 &
  fi
  processes="$processes $!"
  part=$((part + 1))
done

for process in $processes; do
  wait "$process" || echo "a part failed; see confml-*.log" >&2
done
run "$@" # with nothing left to compute it writes the report of all cells
