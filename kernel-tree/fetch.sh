#!/bin/sh
# fetch.sh: make the series' base tree: kernel-tree/work/SERIES/linux, a git tree with branch
# "base". From KERNEL_TREE (a clone or worktree of the user's, HEAD is taken, nothing in it is
# touched), from another series (BASE says "on = NAME"), or from Debian's source package.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
use_series "$@"

# verify_tree DIR COMMIT WHAT: refuse a kernel that the series is not for.
verify_tree()
{
	at=$2
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
	git -C "$1" cat-file -e "$at:Makefile" 2>/dev/null || die "$3 is not a kernel tree"
	git -C "$1" grep -q 'define clear_pages clear_pages' "$at" -- \
		arch/x86/include/asm/page_64.h 2>/dev/null ||
		die "$3 has no clear_pages() on x86, which this series builds on (v7.0 and later have it)"
	have=$(git -C "$1" show "$at:Makefile" |
		awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { v = v "." $3 }
			$1 == "EXTRAVERSION" && $3 ~ /^-rc/ { v = v $3 } END { print "v" v }')
	[ "$have" = "$(base_value tag)" ] ||
		die "$3 is $have, the series $SERIES is for $(base_value tag)"
}

# Whoever says KERNEL_TREE= means to read it: git need not ask who owns it.
ugit()
{
	git -c safe.directory='*' -C "$KERNEL_TREE" "$@"
}

# replace_tree KEY: put linux.part in the place of the tree, unless somebody's work would be lost.
replace_tree()
{
	"$TOP/kernel-tree/unexported.sh" "$SERIES" || exit 1
	rm -rf "$TREE" "$BASETREE"
	mv "$SWORK/linux.part" "$TREE"
	done_with fetch "$1"
}

# clone_at FROM COMMIT KEY: the tree is a clone that shares FROM's objects, base is COMMIT.
clone_at()
{
	holds fetch "$3" && [ -d "$TREE/.git" ] && return
	need_room 4000 "$SWORK"
	rm -rf "$SWORK/linux.part"
	git -c safe.directory='*' clone -q --shared --no-checkout "$1" "$SWORK/linux.part"
	git -C "$SWORK/linux.part" checkout -q -B base "$2"
	replace_tree "$3"
}

from_user_tree()
{
	why=$(ugit rev-parse -q --verify HEAD 2>&1 >/dev/null) ||
		die "KERNEL_TREE=$KERNEL_TREE is not a git tree (${why:-it has no commit})"
	[ "$(ugit rev-parse --is-bare-repository)" = true ] ||
		[ -z "$(ugit status --porcelain --untracked-files=no)" ] ||
		die "KERNEL_TREE=$KERNEL_TREE has uncommitted changes; commit or stash them first"
	verify_tree "$KERNEL_TREE" HEAD "KERNEL_TREE=$KERNEL_TREE"
	clone_at "$KERNEL_TREE" "$(ugit rev-parse HEAD)" "$(ugit rev-parse HEAD) $KERNEL_TREE"
}

from_series()
{
	under=$(base_value on)
	SERIES=$under "$TOP/kernel-tree/apply.sh"
	from=$WORK/$under${KERNEL_TREE:+-own}/linux
	head=$(git -C "$from" rev-parse series)
	clone_at "$from" "$head" "$head"
}

# source_tarball: set tarball to the verified source, downloading it first if need be.
source_tarball()
{
	package=$(base_value package)
	sum=$(base_value sha256)
	tarball=$DOWNLOADS/$package-$(base_value version).tar.xz
	if [ ! -f "$tarball" ]; then
		say "downloading $package $(base_value version) from Debian (160 MiB)"
		rm -rf "$DOWNLOADS/deb"
		"$TOP/kernel-tree/private-apt.sh" "$(base_value suite)" "$DOWNLOADS/deb" \
			"$package=$(base_value version)"
		dpkg-deb --fsys-tarfile "$DOWNLOADS/deb/$package"_*.deb |
			tar -xO --wildcards "*/usr/src/$package.tar.xz" >"$tarball.part"
		rm -rf "$DOWNLOADS/deb"
		mv "$tarball.part" "$tarball"
	fi
	echo "$sum  $tarball" | sha256sum --status -c - ||
		die "$tarball does not have the checksum that BASE names; delete it to download it again"
}

from_debian()
{
	key=$(base_value version)-$(base_value sha256)
	holds fetch "$key" && [ -d "$TREE/.git" ] && return
	need_room 6000 "$SWORK"
	mkdir -p "$DOWNLOADS"
	source_tarball
	say "unpacking and committing the source (about 2 minutes)"
	rm -rf "$SWORK/linux.part"
	mkdir -p "$SWORK/linux.part"
	xz -T0 -dc "$tarball" | tar -x --strip-components=1 -C "$SWORK/linux.part"
	# Debian ignores every top-level file: new ones would be invisible to git status.
	sed -i '/^# Debian packaging: ignore everything/,$d' "$SWORK/linux.part/.gitignore"
	# As upstream has it: KUnit's configurations are no clutter.
	grep -q '!.kunitconfig' "$SWORK/linux.part/.gitignore" || echo '!.kunitconfig' >>"$SWORK/linux.part/.gitignore"
	(
		cd "$SWORK/linux.part"
		git init -q -b base
		git config gc.auto 0
		git -c core.looseCompression=1 -c core.fsync=none add -f -A
		GIT_AUTHOR_DATE='2000-01-01T00:00:00Z' GIT_COMMITTER_DATE='2000-01-01T00:00:00Z' \
			git -c user.name="Debian's source package" -c user.email=none@example.org \
			commit -q -m "$(base_value package) $(base_value version)"
	)
	verify_tree "$SWORK/linux.part" HEAD "Debian's $(base_value package)"
	replace_tree "$key"
}

if [ -n "$(base_value on)" ]; then
	from_series
elif [ -n "${KERNEL_TREE:-}" ]; then
	from_user_tree
else
	from_debian
fi
# The untouched base has a work tree of its own, for the kernel to compare with.
[ -f "$BASETREE/.whole" ] || {
	rm -rf "$BASETREE"
	git -C "$TREE" worktree prune
	git -C "$TREE" worktree add -q --detach "$BASETREE" base
	touch "$BASETREE/.whole"
}
say "base of $SERIES is in ${TREE#"$TOP"/} (branch base)"
