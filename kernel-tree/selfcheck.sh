#!/bin/sh
# selfcheck.sh: bad input gets one clear sentence and a non-zero exit, and nothing is lost. Works on
# a toy kernel of three files in a scratch folder; needs no network and takes seconds. One line per
# case, "ok ..." or "FAIL ..."; exit code 1 if any failed.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
tools=$TOP/kernel-tree
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset KERNEL_TREE SERIES
export PATCHES="$scratch/patches" WORK="$scratch/work"
bad=0

passed()
{
	echo "ok selfcheck: $1"
}

failed()
{
	bad=1
	echo "FAIL selfcheck: $1 ($2)"
}

# refuses NAME CODE TEXT COMMAND...: the command must end with CODE and say TEXT in one line.
refuses()
{
	name=$1 code=$2 text=$3
	shift 3
	got=0
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null || got=$?
	if [ "$got" != "$code" ]; then
		failed "$name" "exit code $got, not $code: $(tail -n 1 "$scratch/err")"
	elif ! grep -qE -- "$text" "$scratch/err"; then
		failed "$name" "did not say '$text' but: $(cat "$scratch/err")"
	elif [ "$(wc -l <"$scratch/err")" -gt 1 ]; then
		failed "$name" "more than one sentence: $(cat "$scratch/err")"
	else
		passed "$name"
	fi
}

# holds_true NAME COMMAND...: the command must succeed.
holds_true()
{
	name=$1
	shift
	if "$@" >"$scratch/out" 2>&1; then
		passed "$name"
	else
		failed "$name" "$(tail -n 1 "$scratch/out")"
	fi
}

cgit()
{
	git -c user.name=x -c user.email=x@example.org "$@"
}

# toy DIR VERSION PATCHLEVEL [no]: a kernel of three files, without clear_pages() if "no".
toy()
{
	mkdir -p "$1/arch/x86/include/asm" "$1/mm"
	printf 'VERSION = %s\nPATCHLEVEL = %s\n' "$2" "$3" >"$1/Makefile"
	echo "#define ${4:+$4_}clear_pages ${4:+$4_}clear_pages" >"$1/arch/x86/include/asm/page_64.h"
	seq 100 >"$1/mm/memory.c"
	: >"$1/.gitignore"
}

# toy_git DIR VERSION PATCHLEVEL [no]: the same as a git tree.
toy_git()
{
	toy "$@"
	cgit -C "$1" init -q -b master
	cgit -C "$1" add -A
	cgit -C "$1" commit -q -m base
}

# series DIR: a BASE for the toy kernel, which is "Debian's source package" toy 1.
series()
{
	mkdir -p "$1"
	printf 'tag = v7.3\npackage = toy\nversion = 1\nsuite = none\nsha256 = %s\n' "$sum" >"$1/BASE"
	: >"$1/series"
}

toy "$scratch/toy" 7 3
mkdir -p "$WORK/downloads"
tar -C "$scratch" -cJf "$WORK/downloads/toy-1.tar.xz" toy
sum=$(sha256sum "$WORK/downloads/toy-1.tar.xz" | cut -d ' ' -f 1)
series "$PATCHES/t"

# The base
toy_git "$scratch/old" 6 12 no
toy_git "$scratch/other" 7 2
toy_git "$scratch/own" 7 3
git -C "$scratch/own" worktree add -q -b mine "$scratch/mine"
refuses "a series that does not exist" 1 "no series 'nope'" "$tools/apply.sh" nope
refuses "a tree without clear_pages()" 1 'has no clear_pages' env KERNEL_TREE="$scratch/old" "$tools/apply.sh"
refuses "a base of another version" 1 'is v7.2, the series t is for v7.3' env KERNEL_TREE="$scratch/other" "$tools/apply.sh"
refuses "KERNEL_TREE that is no git tree" 1 'is not a git tree' env KERNEL_TREE="$scratch/toy" "$tools/apply.sh"
echo dirt >>"$scratch/mine/mm/memory.c"
refuses "a dirty KERNEL_TREE" 1 'uncommitted changes' env KERNEL_TREE="$scratch/mine" "$tools/apply.sh"
git -C "$scratch/mine" checkout -q .
before=$(git -C "$scratch/own" for-each-ref)
holds_true "KERNEL_TREE= a worktree" env KERNEL_TREE="$scratch/mine" "$tools/apply.sh"
holds_true "  and the user's branches stay" test "$before" = "$(git -C "$scratch/own" for-each-ref)"

mkdir "$scratch/bin"
printf '#!/bin/sh\necho "Filesystem 1M-blocks Used Available"; echo "x 9 8 1"\n' >"$scratch/bin/df"
chmod +x "$scratch/bin/df"
refuses "no room on the disk" 2 'MiB of disk are needed' env PATH="$scratch/bin:$PATH" "$tools/fetch.sh" t
rm "$scratch/bin/df"
mv "$WORK/downloads/toy-1.tar.xz" "$scratch/good"
head -c 100 "$scratch/good" >"$WORK/downloads/toy-1.tar.xz"
refuses "a tarball with the wrong checksum" 1 'does not have the checksum' "$tools/fetch.sh" t
rm "$WORK/downloads/toy-1.tar.xz"
# An apt-get whose network goes away in the middle of the package.
cat >"$scratch/bin/apt-get" <<'FAKE'
#!/bin/sh
case "$*" in
*indextargets*) echo "Debian http://mirror.invalid/debian/" ;;
*download*) echo half >toy_1_all.deb; echo "E: connection lost" >&2; exit 100 ;;
esac
FAKE
chmod +x "$scratch/bin/apt-get"
refuses "a half-finished download" 2 'cannot be had from none .*connection lost' env PATH="$scratch/bin:$PATH" "$tools/fetch.sh" t
holds_true "  and nothing of it is left" test -z "$(find "$WORK/downloads" -type f)"
mv "$scratch/good" "$WORK/downloads/toy-1.tar.xz"
[ -d "$WORK/t/linux" ] && failed "refused bases leave no tree" "there is one"

# The patches
holds_true "an empty series" "$tools/apply.sh" t
tree=$WORK/t/linux
sed -i 's/^50$/fifty/' "$tree/mm/memory.c"
refuses "a dirty tree is not exported" 1 'uncommitted changes' "$tools/export.sh" t
cgit -C "$tree" commit -q -a --author='A <a@example.org>' -m 'mm: Spell it' --date=2026-01-01T00:00:00Z
sed -i 's/^60$/sixty/' "$tree/mm/memory.c"
cgit -C "$tree" commit -q -a --author='A <a@example.org>' -m 'mm: Spell that, too' --date=2026-01-01T00:00:00Z
refuses "commits that are not exported are not thrown away" 1 'has commits that patches/t has not' "$tools/apply.sh" t
holds_true "export" "$tools/export.sh" t
was=$(git -C "$tree" rev-parse 'series^{tree}')
rm -rf "$tree"
holds_true "git am of what was exported" "$tools/apply.sh" t
holds_true "  gives the same tree" test "$(git -C "$tree" rev-parse 'series^{tree}')" = "$was"
holds_true "  and the same bytes back" "$tools/export.sh" -n t
was=$(git -C "$tree" rev-parse series)

echo more >"$tree/mm/new.c"
refuses "a dirty tree is not built, even if the patches are the same" 1 'uncommitted changes' "$tools/apply.sh" t
rm "$tree/mm/new.c"
git -C "$tree" checkout -q base
holds_true "a tree at its base" "$tools/apply.sh" t
holds_true "  is put on the series again" test "$(git -C "$tree" symbolic-ref --short HEAD)" = series
echo more >"$tree/mm/new.c"
second=$(sed -n 2p "$PATCHES/t/series")
cp "$PATCHES/t/$second" "$scratch/second"
sed -i 's/^-60$/-61/' "$PATCHES/t/$second"
refuses "a dirty tree" 1 'uncommitted changes' "$tools/apply.sh" t
rm "$tree/mm/new.c"
refuses "a patch that does not apply: its name, file and line" 1 \
	"t/$second does not apply to v7.3 at mm/memory.c:[0-9]+" "$tools/apply.sh" t
holds_true "  and the tree is as it was" test \
	"$(git -C "$tree" rev-parse HEAD)$(git -C "$tree" status --porcelain)" = "$was"
cp "$scratch/second" "$PATCHES/t/$second"
cp "$scratch/second" "$PATCHES/t/9999-extra.patch"
refuses "a patch that series does not name" 1 '9999-extra.patch is not named' "$tools/apply.sh" t
rm "$PATCHES/t/9999-extra.patch"
echo 9999-gone.patch >>"$PATCHES/t/series"
refuses "a patch in series that is not there" 1 '9999-gone.patch, which does not exist' "$tools/apply.sh" t
sed -i '$d' "$PATCHES/t/series"

# A further series is a directory and nothing else.
mkdir "$PATCHES/t-next"
printf 'tag = v7.3\non = t\n' >"$PATCHES/t-next/BASE"
: >"$PATCHES/t-next/series"
holds_true "a series on top of a series" "$tools/apply.sh" t-next
holds_true "  starts where the other ends" test \
	"$(git -C "$WORK/t-next/linux" rev-parse 'base^{tree}')" = "$(git -C "$tree" rev-parse 'series^{tree}')"

refuses "a fragment that is not there" 1 'no configuration fragment' "$tools/build.sh" x nope.config

# Work in the trees outlives a base that moves, and make clean.
cgit -C "$scratch/own" commit -q --allow-empty -m moved
env KERNEL_TREE="$scratch/own" "$tools/apply.sh" t >/dev/null 2>&1
cgit -C "$WORK/t-own/linux" commit -q --allow-empty -m work
cgit -C "$scratch/own" commit -q --allow-empty -m 'moved again'
refuses "a base that moves does not take unexported work with it" 1 'has commits that patches/t has not' \
	env KERNEL_TREE="$scratch/own" "$tools/apply.sh" t
refuses "make clean does not take it either" 1 'has commits that patches/t has not' "$tools/clean.sh"
git -C "$WORK/t-own/linux" checkout -q --detach base
git -C "$WORK/t-own/linux" update-ref -d refs/heads/series
holds_true "make clean" "$tools/clean.sh"
holds_true "  keeps what was downloaded" test -f "$WORK/downloads/toy-1.tar.xz"
holds_true "  and nothing else" test ! -e "$WORK/t" -a ! -e "$WORK/t-own" -a ! -e "$WORK/t-next"

# The machine
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch/bin/dpkg-query"
refuses "missing packages with INSTALL=0" 2 'missing Debian packages: gcc make' \
	env PATH="$scratch/bin:$PATH" INSTALL=0 "$tools/packages.sh"
exit $bad
