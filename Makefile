# The front door. Everything is done by the scripts; this names them and their order.
# Variables: KERNEL_TREE=a git tree of yours   SERIES=a directory of patches/   INSTALL=0   JOBS=N
MAKEFLAGS += --no-print-directory
export KERNEL_TREE SERIES INSTALL JOBS
# The kernel's own makefiles have other uses for some of these names.
MAKEOVERRIDES =
T := kernel-tree
KERNEL := configs/base.config configs/qemu.config configs/hugepages.config
CHECKED := $(KERNEL) configs/debug.config configs/trace.config configs/pinning.config configs/selftests.config

help:			## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*##/:/' | expand -t 22

check: packages		## prove the series: applies, round-trips, builds, boots, KUnit, paths, zeroing (40 min)
	@$(T)/check.sh

check-all: check	## the same, then W=1, sparse, clang, the base compared, each patch alone (2.5 hours more)
	@$(T)/packages.sh check-all
	@$(T)/check-objects.sh
	@$(T)/check-configs.sh
	@$(MAKE) kernels checked-base
	@$(T)/proofs/faultcost.sh
	@$(T)/proofs/selftests.sh
	@$(T)/proofs/stress.sh
	@$(T)/check-each.sh

selfcheck: packages	## bad input is refused and the reports are right (1 min)
	@$(T)/selfcheck.sh
	@perf-bench/selfcheck.sh

bench: packages perf	## measure this CPU, then both kernels in a virtual machine (20 min; table (a) after 5)
	@perf-bench/bench.sh

bench-native: packages perf	## table (a) only: this CPU's clearing routines from user space (5 min)
	@perf-bench/bench.sh native

packages:		## install the Debian packages that are needed (INSTALL=0: only name them)
	@$(T)/packages.sh

tree: packages		## fetch the base and put the series on it (2 min)
	@$(T)/apply.sh

export:			## write the commits of the series' tree back into patches/
	@$(T)/export.sh

perf: tree		## build the patched perf (2 min)
	@perf-bench/build-perf.sh

kernels: tree		## build the base and the patched kernel for the bench (10 min)
	@$(T)/build.sh -b bench-base $(KERNEL)
	@$(T)/build.sh bench $(KERNEL)

kunit-kernels: tree	## build the kernels that run KUnit, UML and x86 (10 min)
	@ARCH=um $(T)/build.sh uml configs/uml.config configs/kunit.config
	@$(T)/build.sh kunit $(CHECKED) configs/kunit.config

checked-base: tree	## build the base with the debugging options that the KUnit kernel has (10 min)
	@$(T)/build.sh -b checked-base $(CHECKED)

kunit: kunit-kernels	## run the KUnit suites on every kind of machine (3 min)
	@$(T)/fetch-bochs.sh
	@kunit/run.sh

clean:			## delete trees and builds, keep what was downloaded
	@$(T)/clean.sh

distclean:		## delete everything that was made or downloaded here
	@$(T)/clean.sh
	rm -rf $(T)/work

.PHONY: help check check-all selfcheck bench bench-native packages tree export perf kernels \
	kunit-kernels checked-base kunit clean distclean
