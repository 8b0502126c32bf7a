#!/bin/sh
# clean.sh: delete the trees and builds of every series; what was downloaded stays. Refuses if that
# would take commits or changes with it that patches/ has not.
set -eu
TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/kernel-tree/lib.sh"
for base in "$PATCHES"/*/BASE; do
	series=$(basename "$(dirname "$base")")
	KERNEL_TREE='' "$TOP/kernel-tree/unexported.sh" "$series"
	KERNEL_TREE=own "$TOP/kernel-tree/unexported.sh" "$series"
done
for base in "$PATCHES"/*/BASE; do
	series=$(basename "$(dirname "$base")")
	rm -rf "${WORK:?}/$series" "${WORK:?}/$series-own"
done
