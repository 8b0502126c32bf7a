// SPDX-License-Identifier: GPL-2.0
/*
 * ordering: can another CPU see stale bytes of pages that were cleared by the kernel's own routines?
 *
 * Two threads on two CPUs. The reader dirties a few pages, so that all of their lines are its own; the
 * owner clears them, executes a fence or not, and hands them over by a plain store, as a page table entry
 * is published on x86. The reader, which does not look all the time, so that the store finds its line at
 * hand and is quick, looks at the line that was cleared last, and then at the others. Prints
 *
 *	ROUTINE fence|none ROUNDS STALE
 *
 * for each routine of this CPU. Exit code 0 if nothing was stale with the fence, 1 if something was, 2 if
 * there are no two CPUs. The argument is the number of rounds for each.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <immintrin.h>

#define PAGES	2
#define WORDS	(PAGES * 4096 / 8)

/* From the kernel's clear_page_nc_64.S */
void __clear_pages_clzero(void *addr, unsigned int npages);
void __clear_pages_movnti(void *addr, unsigned int npages);

static uint64_t area[WORDS] __attribute__((aligned(4096)));
static volatile unsigned long dirty __attribute__((aligned(64)));
static volatile unsigned long cleared __attribute__((aligned(64)));
static unsigned long rounds, stale;

/* The @nth CPU that this process may run on. */
static void run_on(int nth)
{
	cpu_set_t may, one;

	sched_getaffinity(0, sizeof(may), &may);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may) && !nth--)
			CPU_SET(cpu, &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

/* Wait for @flag to reach @round; give way, should the other thread not be running. */
static void await(volatile unsigned long *flag, unsigned long round)
{
	for (unsigned int spins = 0; *flag != round; spins++) {
		/* A different while each time. */
		for (unsigned int i = 0; i < (round * 7 + spins) % 13; i++)
			_mm_pause();
		if (spins > 10000)
			sched_yield();
	}
}

static void *reader(void *unused)
{
	volatile uint64_t *words = area;

	run_on(1);
	for (unsigned long round = 1; round <= rounds; round++) {
		bool old = false;

		for (int i = 0; i < WORDS; i += 8)
			words[i] = round;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		dirty = round;
		await(&cleared, round);
		for (int i = WORDS - 8; i >= 0; i -= 8)
			old |= words[i] != 0;
		stale += old;
	}
	return unused;
}

static unsigned long measure(void (*clear)(void *, unsigned int), bool fence)
{
	pthread_t thread;

	dirty = cleared = stale = 0;
	if (pthread_create(&thread, NULL, reader, NULL))
		abort();
	run_on(0);
	for (unsigned long round = 1; round <= rounds; round++) {
		await(&dirty, round);
		clear(area, PAGES);
		if (fence)
			_mm_sfence();
		cleared = round;
	}
	pthread_join(thread, NULL);
	return stale;
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*clear)(void *addr, unsigned int npages);
	} routines[] = {
		{ "movnti", __clear_pages_movnti },
		{ "clzero", __clear_pages_clzero },
	};
	unsigned int eax, ebx = 0, ecx, edx;
	bool failed = false;
	cpu_set_t may;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	if (sched_getaffinity(0, sizeof(may), &may) || CPU_COUNT(&may) < 2) {
		fprintf(stderr, "ordering: two CPUs are needed\n");
		return 2;
	}
	__get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx);
	for (int i = 0; i < 2; i++) {
		/* Bit 0 of EBX is CLZERO. */
		if (i == 1 && !(ebx & 1))
			continue;
		for (int fence = 1; fence >= 0; fence--) {
			unsigned long count = measure(routines[i].clear, fence);

			printf("%s %s %lu %lu\n", routines[i].name, fence ? "fence" : "none",
			       rounds, count);
			failed |= fence && count;
		}
	}
	return failed;
}
