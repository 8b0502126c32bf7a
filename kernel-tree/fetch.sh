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
	git -C "$1" cat-file -e "$at:Makefile" 2>/dev/null || die "$3 is not a kernel tree"
	git -C "$1" grep -q 'define clear_pages clear_pages' "$at" -- \
		arch/x86/include/asm/page_64.h 2>/dev/null ||
		die "$3 has no clear_pages() on x86, which this series builds on (v7.0 and later have it)"
	have=$(git -C "$1" show "$at:Makefile" |
		awk '$1 == "VERSION" { v = $3 } $1 == "PATCHLEVEL" { print "v" v "." $3; exit }')
	[ "$have" = "$(base_value tag)" ] ||
		die "$3 is $have, the series $SERIES is for $(base_value tag)"
}

from_user_tree()
{
	git -C "$KERNEL_TREE" rev-parse -q --verify HEAD >/dev/null 2>&1 ||
		die "KERNEL_TREE=$KERNEL_TREE is not a git tree"
	[ -z "$(git -C "$KERNEL_TREE" status --porcelain --untracked-files=no)" ] ||
		die "KERNEL_TREE=$KERNEL_TREE has uncommitted changes; commit or stash them first"
	verify_tree "$KERNEL_TREE" HEAD "KERNEL_TREE=$KERNEL_TREE"
	head=$(git -C "$KERNEL_TREE" rev-parse HEAD)
	holds fetch "$head" && [ -d "$TREE/.git" ] && return
	need_room 4000 "$SWORK"
	rm -rf "$SWORK/linux.part" "$BASETREE"
	git clone -q --shared --no-checkout "$KERNEL_TREE" "$SWORK/linux.part"
	git -C "$SWORK/linux.part" checkout -q -B base "$head"
	rm -rf "$TREE"
	mv "$SWORK/linux.part" "$TREE"
	done_with fetch "$head"
}

from_series()
{
	under=$(base_value on)
	SERIES=$under "$TOP/kernel-tree/apply.sh"
	head=$(git -C "$WORK/$under/linux" rev-parse series)
	holds fetch "$head" && [ -d "$TREE/.git" ] && return
	need_room 4000 "$SWORK"
	rm -rf "$SWORK/linux.part" "$BASETREE"
	git clone -q --shared --no-checkout "$WORK/$under/linux" "$SWORK/linux.part"
	git -C "$SWORK/linux.part" checkout -q -B base "$head"
	rm -rf "$TREE"
	mv "$SWORK/linux.part" "$TREE"
	done_with fetch "$head"
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
	rm -rf "$SWORK/linux.part" "$BASETREE"
	mkdir -p "$SWORK/linux.part"
	xz -T0 -dc "$tarball" | tar -x --strip-components=1 -C "$SWORK/linux.part"
	# Debian ignores every top-level file: new ones would be invisible to git status.
	sed -i '/^# Debian packaging: ignore everything/,$d' "$SWORK/linux.part/.gitignore"
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
	rm -rf "$TREE"
	mv "$SWORK/linux.part" "$TREE"
	done_with fetch "$key"
}

if [ -n "$(base_value on)" ]; then
	from_series
elif [ -n "${KERNEL_TREE:-}" ]; then
	from_user_tree
else
	from_debian
fi
# The untouched base has a work tree of its own, for the kernel to compare with.
[ -d "$BASETREE" ] || {
	git -C "$TREE" worktree prune
	git -C "$TREE" worktree add -q --detach "$BASETREE" base
}
say "base of $SERIES is in ${TREE#"$TOP"/} (branch base)"
