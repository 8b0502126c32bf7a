#!/bin/sh
# check-objects.sh [gcc-w1|sparse|clang-w1]...: build the objects that the series touches with more compilers and checkers
# than one, on the configuration of the KUnit kernel: gcc W=1, sparse, clang W=1. A message in a line
# that the untouched base does not have is a failure. One line per build, "ok" or "FAIL".
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series ""
out=$SWORK/objects
config=$SWORK/kunit/.config
[ -f "$config" ] || die "the KUnit kernel is not configured yet (run make kunit-kernels)"
objects=$(git -C "$TREE" diff --diff-filter=AM --name-only base series | sed -n '/^tools\//d; s/\.[cS]$/.o/p')
# A KUnit test that both trees have: what it draws by being one, the series' tests draw, too.
objects="$objects
lib/kunit/kunit-example-test.o"
bad=0

# build TREE DIR OBJECTS MAKE-ARGUMENT...: the objects anew, all messages into DIR.log. Objects that the
# tree does not have yet are left out.
build()
{
	tree=$1 dir=$out/$2 wanted=
	for object in $3; do
		base=${object%.o}
		[ ! -f "$tree/$base.c" ] && [ ! -f "$tree/$base.S" ] || wanted="$wanted $object"
	done
	shift 3
	mkdir -p "$dir"
	cp "$config" "$dir/.config"
	make -C "$tree" O="$dir" "$@" olddefconfig >"$dir.log" 2>&1 || return 1
	make -C "$tree" O="$dir" "$@" -j"$JOBS" prepare >>"$dir.log" 2>&1 || return 1
	# shellcheck disable=SC2086 # a list of files
	(cd "$dir" && rm -f $wanted)
	# shellcheck disable=SC2086 # a list of files
	make -C "$tree" O="$dir" "$@" -j"$JOBS" $wanted >"$dir.log" 2>&1
}

# messages LOG: what the compilers and checkers complained about, without line numbers. sparse stumbles
# over MODULE_DESCRIPTION() and its like in each module; that is one message for all KUnit tests.
messages()
{
	sed -nE 's/^.*\/?((arch|mm|fs|include|kernel|drivers|lib)\/[^:]*):[0-9:]+ (warning|error): /\1: \3: /p' "$1" |
		sed -E 's/^[^:]*(_kunit|-test)\.c: error: bad constant expression/KUnit tests: bad constant expression/' | sort -u
}

# compare NAME MAKE-ARGUMENT...: the series has no message that the base has not.
compare()
{
	name=$1
	shift
	case " ${only:-$name} " in *" $name "*) ;; *) return 0 ;; esac
	if ! build "$TREE" "$name" "$objects" "$@"; then
		bad=1
		echo "FAIL objects: $name, see ${out#"$TOP"/}/$name.log"
		tail -n 5 "$out/$name.log"
		return
	fi
	case $name in
	sparse) grep -q '^  CHECK ' "$out/$name.log" || { bad=1; echo "FAIL objects: sparse did not run"; return; } ;;
	esac
	messages "$out/$name.log" >"$out/after"
	: >"$out/before"
	# Only what is complained about has to be compared with the base.
	if [ -s "$out/after" ]; then
		build "$BASETREE" "base-$name" "$objects" "$@" ||
			die "the base does not build, see $out/base-$name.log"
		messages "$out/base-$name.log" >"$out/before"
	fi
	if [ -n "$(comm -13 "$out/before" "$out/after")" ]; then
		bad=1
		echo "FAIL objects: $name has new messages:"
		comm -13 "$out/before" "$out/after"
	else
		echo "ok objects: $name ($(echo "$objects" | wc -w) objects, nothing new to say)"
	fi
}

only=$*
say "building the touched objects with gcc W=1, sparse and clang (10 minutes)"
compare gcc-w1 W=1
# sparse 0.6.4 does not know __typeof_unqual__ and is then skipped without a word.
compare sparse C=2 CHECK='sparse -D__typeof_unqual__=__typeof__'
compare clang-w1 LLVM=-19 W=1
exit $bad
