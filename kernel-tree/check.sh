#!/bin/sh
# check.sh: everything that make check proves, stage by stage, on an idle or a busy machine. The
# stages print one line per check ("ok ...", "FAIL ...", "SKIP ..."); at the end these are counted.
# Exit code 0 if nothing failed. A stage that ends badly without a FAIL line is a failure, too.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
mkdir -p "$WORK"
log=$WORK/check.log
: >"$log"
cd "$TOP"

# stage TITLE COMMAND...: run it, show and record what it says, and notice how it ended.
stage()
{
	title=$1
	shift
	printf '\n== %s (%s)\n' "$title" "$(date +%T)"
	{
		code=0
		"$@" 2>&1 || code=$?
		echo "$code" >"$WORK/check.code"
	} | tee "$WORK/check.stage"
	code=$(cat "$WORK/check.code")
	if [ "$code" != 0 ] && ! grep -q '^FAIL' "$WORK/check.stage"; then
		echo "FAIL $title (exit code $code)" | tee -a "$WORK/check.stage"
	elif [ "$code" = 0 ] && ! grep -qE '^(ok|FAIL|SKIP)' "$WORK/check.stage"; then
		echo "ok $title" | tee -a "$WORK/check.stage"
	fi
	cat "$WORK/check.stage" >>"$log"
}

failures()
{
	grep -c '^FAIL' "$log" || true
}

lint()
{
	find . -name work -prune -o -name '*.sh' -exec shellcheck -x {} + || return 1
	shellcheck -x .ci/run kunit/guest-init perf-bench/guest-init kernel-tree/proofs/*-init
}

# Each asked-for option must survive, or the build stops with its name.
refuses_lost_option()
{
	echo CONFIG_NO_SUCH_OPTION=y >"$WORK/lost.config"
	if kernel-tree/build.sh lost configs/base.config "$WORK/lost.config" >"$WORK/lost.log" 2>&1; then
		echo "FAIL an option that does not exist was accepted"
		return 1
	fi
	grep -q 'CONFIG_NO_SUCH_OPTION=y' "$WORK/lost.log" || {
		echo "FAIL the option that was lost is not named: $(tail -n 1 "$WORK/lost.log")"
		return 1
	}
	rm -rf "$SWORK/lost"
}

stage "scripts" lint
stage "bad input is refused" kernel-tree/selfcheck.sh
stage "reports" perf-bench/selfcheck.sh
stage "the series applies" make tree
# Without a tree there is nothing more to look at.
[ "$code" != 0 ] || {
	stage "the patches" kernel-tree/check-series.sh
	stage "a lost configuration option stops the build" refuses_lost_option
	stage "build of perf" make perf
	stage "perf bench mem" perf-bench/check-perf.sh
	stage "builds of the KUnit kernels" make kunit-kernels
	stage "KUnit" make kunit
	stage "what reaches folio_zero_user()" kernel-tree/proofs/paths.sh
	stage "every byte is zero" kernel-tree/proofs/zeroing.sh
	stage "the fence" kernel-tree/proofs/ordering.sh
	stage "a boot that goes wrong is noticed" kernel-tree/selfcheck-boot.sh \
		"$SWORK/kunit/arch/x86/boot/bzImage"
}

count()
{
	grep -c "^$1" "$log" || true
}
printf '\n'
grep '^FAIL' "$log" || true
printf '%s passed, %s failed, %s skipped\n' "$(count ok)" "$(count FAIL)" "$(count SKIP)"
[ "$(failures)" = 0 ]
