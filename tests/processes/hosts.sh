#!/usr/bin/env bash
# Two network namespaces as hosts, each with a name and an address of its own, and a network between them: a training
# of two processes, one on each, has the same bytes as that of one process. Skipped (77) where namespaces are not permitted.
#
#   hosts.sh ORT-ED MPIRUN
set -euo pipefail
readonly ort_ed=$1 mpirun=$2
[[ $EUID -eq 0 && -n $mpirun ]] && command -v ip >/dev/null && unshare --net --uts true 2>/dev/null || exit 77
readonly a=ort-ed-a-$$ b=ort-ed-b-$$
work=$(mktemp -d)
readonly work
leave() {
  ip netns del "$a" 2>/dev/null || true
  ip netns del "$b" 2>/dev/null || true
  rm -rf "$work"
}
trap leave EXIT
ip netns add "$a" && ip netns add "$b" || exit 77
ip link add link-a netns "$a" type veth peer name link-b netns "$b"
for host in a b; do
  name=$a address=10.77.0.1
  [[ $host == b ]] && name=$b address=10.77.0.2
  ip -n "$name" address add "$address/24" dev link-$host
  ip -n "$name" link set link-$host up
  ip -n "$name" link set lo up
  tc -n "$name" qdisc add dev link-$host root netem delay 500us loss 0.5% 2>/dev/null || echo "no delay: the kernel has no netem"
done

# What mpirun starts the other host's processes with: HOST COMMAND...
cat >"$work/agent" <<END
#!/bin/sh
shift
exec ip netns exec $b unshare --uts sh -c "hostname host-b; \$*"
END
chmod +x "$work/agent"
printf '10.77.0.1 slots=1\n10.77.0.2 slots=1\n' >"$work/hosts"
awk 'BEGIN { srand(1); for (i = 0; i < 300; ++i) { line = ""; for (k = 0; k < 8; ++k) line = line (k ? "," : "") int(rand() * 2); print line } }' >"$work/rows.csv"
train=(train --data "$work/rows.csv" --steps 30 --threads 1 --batch-size 16 --hidden 64,64 --method pcd --shards 2)

"$ort_ed" "${train[@]}" -o "$work/one" 2>/dev/null
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
before=$(ip -n "$a" -s -j link show link-a | grep -o '"tx":{"bytes":[0-9]*' | grep -o '[0-9]*$')
ip netns exec "$a" unshare --uts sh -c 'hostname host-a; exec "$@"' sh "$mpirun" --hostfile "$work/hosts" --map-by node -n 2 \
  --mca plm_rsh_agent "$work/agent" --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
  "$ort_ed" "${train[@]}" -o "$work/two"
after=$(ip -n "$a" -s -j link show link-a | grep -o '"tx":{"bytes":[0-9]*' | grep -o '[0-9]*$')
cmp "$work/one/model.onnx" "$work/two/model.onnx"
# 4,803 parameters and three losses: half of them to be added up by the other, half added up for it (docs/scaling.md).
readonly steps=30 vector=4806
readonly model=$((steps * 2 * vector / 2 * 4)) sent=$((after - before))
echo "the same bytes on two hosts; $sent bytes went from the first to the second, $model by the model"
((sent > model && sent < model * 5 / 4))
