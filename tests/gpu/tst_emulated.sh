#!/usr/bin/env bash
# What runs first on a GPU, on one that is none (tests/fake_cuda/fake_gpu_module.cpp): the smallest step,
# the profile of a step with its tables, its files while debugging, checkpoints.
#   tst_emulated.sh BUILD MODULE
set -euo pipefail
build="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export HALFSCOPE_CUDA_MODULE="$2" XDG_CACHE_HOME="$work/cache"
failures=0
# has FILE WORDS: a regular expression that some line must match
has() {
    if ! grep -qE -- "$2" "$1"; then
        echo "FAIL: '$2' is not in $(basename "$1"): $(head -c 3000 "$1")"
        failures=$((failures + 1))
    fi
}
"$build/halfscope-cli" devices >"$work/devices"
has "$work/devices" '^cuda:0 +Fake GPU'
"$build/halfscope-cli" describe --preset regression --device cuda >"$work/described"
has "$work/described" '^One way to run this step on cuda \(Fake GPU\)\.$'
"$build/tst_gpu_device" >"$work/device"
has "$work/device" '^Totals: .* 0 failed, 0 skipped'
"$build/tst_gpu_steps" smallStep >"$work/step"
has "$work/step" '^PASS   : tst_gpu_steps::TestGpuSteps::smallStep'
HALFSCOPE_CUDA_DEBUG="$work/debug" "$build/gpu-profile" "$work" mlp-10-20-1 amp-fp16 >"$work/printed"
has "$work/profile.txt" '^mlp-10-20-1 amp-fp16: loaded in [0-9.]+ s'
has "$work/profile.txt" "first loss [0-9.]+, the CPU's [0-9.]+$"
has "$work/profile.txt" '[0-9.]+ ms a step, [0-9.]+ ms by the device'
has "$work/profile.txt" '^    longest launches, in us: #[0-9]+ [0-9.]+'
has "$work/profile.txt" '^ +0 +[0-9.]+ +[0-9.]+ .* 64 +16  [a-z0-9]'
has "$work/profile.txt" '^ +all +[0-9.]+ us, floor [0-9.]+ us'
has "$work/profile.tsv" "^launch	mlp-10-20-1	amp-fp16	0	"
has "$work/profile.tsv" "^step	mlp-10-20-1	amp-fp16	"
has "$work/mlp-10-20-1-amp-fp16.cu" '__global__'
has "$work/debug/step.cu" '__global__'
has "$work/debug/ways.txt" '^code-[0-9a-f]{16}  collected and lean by warpgroups$'
way="$(sed -n 's/  collected and lean by warpgroups$//p' "$work/debug/ways.txt" | head -n 1)"
has "$work/debug/$way.cu" '__global__'
has "$work/debug/$way.ptx" '.'
has "$work/debug/$way.cubin" '.'
HALFSCOPE_CUDA_VARIANT="sums alone" "$build/gpu-profile" "$work" mlp-10-20-1 amp-fp16 step
has "$work/debug/launch.txt" 'none is running'
cmp -s "$work/printed" "$work/profile.txt" || { echo "FAIL: profile.txt is not what was printed"; failures=$((failures + 1)); }
# a run that goes on from a checkpoint, in the middle of an epoch and of skips
train=(run --preset regression --device cuda --quiet --set task.samples=100 --set task.batch=32
    --set model.norm=batch --set lanes.1.scaler.init_scale=2^24 --set lanes.1.scaler.growth_interval=2)
"$build/halfscope-cli" "${train[@]}" --steps 14 --out "$work/whole" --checkpoint-every 6
"$build/halfscope-cli" run --quiet --resume "$work/whole/checkpoint-before.safetensors" --out "$work/rest"
for file in steps.csv events.csv weights_fp32.safetensors weights_amp-fp16.safetensors; do
    cmp -s "$work/whole/$file" "$work/rest/$file" || { echo "FAIL: $file differs after a checkpoint"; failures=$((failures + 1)); }
done
[ "$failures" = 0 ] && echo "the first steps on a GPU can be played"
exit "$((failures > 0))"
