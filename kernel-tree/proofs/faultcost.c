// SPDX-License-Identifier: GPL-2.0
/*
 * faultcost: instructions of one page fault, for an emulator that counts them in the time stamp
 * counter (qemu -icount shift=0). Prints "4KiB N" and "2MiB N", the smallest of many faults each.
 * Exit code 1 if huge pages cannot be had.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#define HUGE	(2UL << 20)
#define ROUNDS	40

static uint64_t fault(volatile char *p)
{
	uint64_t before = __rdtsc();

	*p = 1;
	return __rdtsc() - before;
}

/* Smallest cost of the first touch of @step bytes, of fresh memory with @advice. */
static uint64_t smallest(size_t step, int advice)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		char *p = mmap((void *)(1UL << 40), HUGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		uint64_t cost;

		if (p == MAP_FAILED || madvise(p, HUGE, advice))
			return 0;
		/* Page tables are there after the first fault; with a huge page it is the only one. */
		cost = fault(p);
		for (size_t at = step; at < HUGE && at < 16 * step; at += step) {
			cost = fault(p + at);
			if (cost < best)
				best = cost;
		}
		if (step == HUGE && cost < best)
			best = cost;
		memset(p, 0x5a, HUGE);
		munmap(p, HUGE);
	}
	return best;
}

int main(void)
{
	uint64_t small = smallest(4096, MADV_NOHUGEPAGE), huge = smallest(HUGE, MADV_HUGEPAGE);

	printf("4KiB %lu\n2MiB %lu\n", small, huge);
	/* A huge page takes at least a store for every eight bytes on a CPU without ERMS. */
	return !small || huge < HUGE / 8;
}
