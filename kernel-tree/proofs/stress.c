// SPDX-License-Identifier: GPL-2.0
/*
 * stress: memory comes zeroed and keeps what is written to it, whatever else happens at the same time.
 *
 * Usage: stress SECONDS SEED, as root in a guest with a pool of 400 huge pages of 2 MiB, surplus ones included,
 * and the cgroup /sys/fs/cgroup/stress. Some processes of two threads take memory of every kind (struct area) in every
 * way, check each byte, write it, give parts of it back, check again, fork, write on both sides and check
 * again. Meanwhile the threads of a process do the same to a common area without any order, and one
 * process more kills children in the middle of a populate or lets them run into limits.
 *
 * Prints "error: ..." for each thing that was wrong, and how much was done.
 * Exit codes: 0 nothing was wrong, 1 something was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

#define MIB		(1UL << 20)
#define HUGE		(2 * MIB)
#define PAGE		4096UL
#define LARGE		(34 * MIB)	/* more than any cache here, so bulk */
#define COMMON		(18 * MIB)
#define PROCESSES	3
#define THREADS		2
#define CGROUP		"/sys/fs/cgroup/stress/"
#define THP		"/sys/kernel/mm/transparent_hugepage/"

enum kind { ANON, HUGETLB_PRIVATE, HUGETLB_SHARED, SHMEM, KINDS };
static const char *const names[] = { "anon", "hugetlb private", "hugetlb shared", "shmem" };

/**
 * struct area - memory, and what has to be in it.
 * @stamp: for each page, what was last written; 0: nothing, it reads as zero
 * @common: others write it, too: all stamps are 1, and each word may be zero instead
 */
struct area {
	enum kind kind;
	int fd;
	char *p;
	size_t pages;
	uint64_t key;
	bool common;
	unsigned char stamp[LARGE / PAGE];
};

/* Shared by all processes */
static struct {
	atomic_ulong rounds[KINDS], refused, common, forks, killed, limited;
	atomic_bool failed;
} *done;

static time_t deadline;
static uint64_t seed;
static struct area common;

static bool hugetlb(const struct area *a)
{
	return a->kind == HUGETLB_PRIVATE || a->kind == HUGETLB_SHARED;
}

static bool shared(const struct area *a)
{
	return a->kind == HUGETLB_SHARED || a->kind == SHMEM;
}

#define fail(format, ...) do {								\
	dprintf(1, "error: " format " (errno %d)\n", ##__VA_ARGS__, errno);		\
	atomic_store(&done->failed, true);						\
	_exit(1);									\
} while (0)

#define must(a, ok) do {								\
	if (!(ok))									\
		fail("%s: %s", names[(a)->kind], #ok);					\
} while (0)

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

static bool running(void)
{
	return time(NULL) < deadline && !atomic_load(&done->failed);
}

/* What each word of a page holds */
static uint64_t word(const struct area *a, size_t page)
{
	unsigned char stamp = a->common ? 1 : a->stamp[page];

	return stamp ? ((a->key ^ page << 8 ^ stamp) * 0x9e3779b97f4a7c15UL) | 1 : 0;
}

static void check(const struct area *a, size_t first, size_t pages, const char *when)
{
	for (size_t i = first; i < first + pages; i++) {
		const uint64_t *p = (void *)(a->p + i * PAGE);
		uint64_t expected = word(a, i), odd = 0;

		for (size_t j = 0; j < PAGE / 8; j++)
			odd |= p[j] ^ expected;
		if (!odd)
			continue;
		for (size_t j = 0; j < PAGE / 8; j++) {
			uint64_t found = *(volatile uint64_t *)&p[j];

			if (found != expected && !(a->common && !found))
				fail("%s, %s: page %zu of %zu, byte %zu: %lx, not %lx", names[a->kind],
				     when, i, a->pages, j * 8, found, expected);
		}
		if (!a->common)
			fail("%s, %s: page %zu of %zu was wrong for a moment", names[a->kind], when, i,
			     a->pages);
	}
}

static void fill(struct area *a, size_t first, size_t pages, unsigned char stamp)
{
	for (size_t i = first; i < first + pages; i++) {
		volatile uint64_t *p = (void *)(a->p + i * PAGE);
		uint64_t value;

		if (!a->common)
			a->stamp[i] = stamp;
		value = word(a, i);
		for (size_t j = 0; j < PAGE / 8; j++)
			p[j] = value;
	}
}

/* A part of an area, in whole pages of its kind: returns the number of pages from *@first on. */
static size_t part(const struct area *a, uint64_t *random, size_t *first)
{
	size_t unit = hugetlb(a) ? HUGE / PAGE : 1;
	size_t from = next(random) % (a->pages / unit);

	*first = from * unit;
	return unit * (1 + next(random) % (a->pages / unit - from));
}

static void take(struct area *a, size_t first, size_t pages, uint64_t *random)
{
	char *p = a->p + first * PAGE;
	size_t size = pages * PAGE;

	switch (next(random) % 4) {
	case 0:
		must(a, !madvise(p, size, MADV_POPULATE_WRITE));
		break;
	case 1:
		must(a, !madvise(p, size, MADV_POPULATE_READ));
		break;
	case 2:
		must(a, !mlock(p, size) && !munlock(p, size));
		break;
	}
}

/* Give a part back. What is in a file stays there, unless it is a hole that is made. */
static void give_back(struct area *a, size_t first, size_t pages, uint64_t *random)
{
	if (!shared(a) || next(random) % 2) {
		/* The other thread may have locked it. */
		must(a, !madvise(a->p + first * PAGE, pages * PAGE, MADV_DONTNEED) ||
		     (a->common && errno == EINVAL));
		if (shared(a))
			return;
	} else {
		must(a, !fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   first * PAGE, pages * PAGE));
	}
	if (!a->common)
		memset(a->stamp + first, 0, pages);
}

static bool create(struct area *a, uint64_t *random)
{
	size_t size = a->pages * PAGE;
	int flags = shared(a) ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

	a->key = next(random);
	a->fd = -1;
	if (shared(a)) {
		a->fd = memfd_create("stress", hugetlb(a) ? MFD_HUGETLB : 0);
		must(a, a->fd >= 0 && !ftruncate(a->fd, size));
	} else if (hugetlb(a)) {
		flags |= MAP_HUGETLB;
	}
	if (next(random) % 4 == 0)
		flags |= MAP_POPULATE;
	a->p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, a->fd, 0);
	if (a->p == MAP_FAILED) {
		/* Forked children hold pages that nobody reserved: the pool may be too small for now. */
		must(a, hugetlb(a) && errno == ENOMEM);
		atomic_fetch_add(&done->refused, 1);
		close(a->fd);
		return false;
	}
	if (!hugetlb(a))
		must(a, !madvise(a->p, size, MADV_HUGEPAGE));
	if (shared(a) && next(random) % 4 == 0)
		must(a, !fallocate(a->fd, 0, 0, size) || (hugetlb(a) && errno == ENOSPC));
	memset(a->stamp, 0, sizeof(a->stamp));
	return true;
}

/* Parent and child write at the same time, each another half. */
static void split(struct area *a, unsigned char stamp)
{
	size_t half = a->pages / 2;
	pid_t pid = fork();
	int status;

	must(a, pid >= 0);
	if (!pid) {
		check(a, 0, shared(a) ? half : a->pages, "in a child");
		fill(a, 0, half, stamp);
		check(a, 0, shared(a) ? half : a->pages, "written in a child");
		_exit(0);
	}
	fill(a, half, a->pages - half, stamp + 1);
	must(a, waitpid(pid, &status, 0) == pid);
	if (status)
		fail("%s: a child ended with status %x", names[a->kind], status);
	if (shared(a))
		memset(a->stamp, stamp, half);
	check(a, 0, a->pages, "after a fork");
	atomic_fetch_add(&done->forks, 1);
}

static void own_round(struct area *a, uint64_t *random)
{
	size_t first, pages;

	a->kind = next(random) % KINDS;
	a->pages = (next(random) % 4 ? LARGE : 2 * HUGE) / PAGE;
	if (!create(a, random))
		return;
	take(a, 0, a->pages, random);
	check(a, 0, a->pages, "new");
	fill(a, 0, a->pages, 1);
	for (int i = 0; i < 3; i++) {
		pages = part(a, random, &first);
		give_back(a, first, pages, random);
		take(a, first, pages, random);
		check(a, first, pages, "after it was given back");
		fill(a, first, pages, 2 + i);
	}
	check(a, 0, a->pages, "after parts were given back");
	if (next(random) % 2)
		split(a, 10);
	/* Whoever gets this memory next must not find zeroes by chance. */
	fill(a, 0, a->pages, 20);
	check(a, 0, a->pages, "in the end");
	must(a, !munmap(a->p, a->pages * PAGE));
	close(a->fd);
	atomic_fetch_add(&done->rounds[a->kind], 1);
}

static void common_round(uint64_t *random)
{
	size_t first, pages = part(&common, random, &first);

	switch (next(random) % 4) {
	case 0:
		give_back(&common, first, pages, random);
		break;
	case 1:
		fill(&common, first, pages, 1);
		break;
	default:
		take(&common, first, pages, random);
		check(&common, first, pages, "common");
	}
	atomic_fetch_add(&done->common, 1);
}

static void *work(void *number)
{
	uint64_t random = (seed + 1) * (1000 + (uintptr_t)number);
	struct area *own = calloc(1, sizeof(*own));

	for (int i = 0; i < 20; i++)
		next(&random);
	while (own && running()) {
		own_round(own, &random);
		for (int i = 0; i < 6; i++)
			common_round(&random);
	}
	free(own);
	return NULL;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail("%s cannot be set to %s", path, text);
	close(fd);
}

/* Children that populate, under limits or not, and do not live to see the end of it */
static void abort_populates(uint64_t random)
{
	struct area a = { .pages = 32 * HUGE / PAGE };

	while (running()) {
		bool limit = next(&random) % 2;
		int status;
		pid_t pid;

		put(THP "shmem_enabled", next(&random) % 2 ? "advise" : "always");
		put(THP "hugepages-64kB/enabled", next(&random) % 4 ? "never" : "always");
		a.kind = next(&random) % KINDS;
		pid = fork();
		if (!pid) {
			if (limit)
				put(CGROUP "cgroup.procs", "0");
			if (!create(&a, &random) || !madvise(a.p, a.pages * PAGE, MADV_POPULATE_WRITE))
				_exit(0);
			must(&a, hugetlb(&a) && errno == EFAULT);
			_exit(2);
		}
		usleep(next(&random) % (limit ? 1000000 : 150000));
		kill(pid, SIGKILL);
		must(&a, waitpid(pid, &status, 0) == pid);
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			atomic_fetch_add(&done->killed, 1);
		else if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
			atomic_fetch_add(&done->limited, 1);
		else if (status)
			fail("%s: a populate ended with status %x", names[a.kind], status);
	}
}

static void process(int number)
{
	pthread_t threads[THREADS];
	uint64_t random = seed + number + 1;

	common.kind = (seed + number) % KINDS;
	common.pages = COMMON / PAGE;
	must(&common, create(&common, &random));
	common.common = true;
	for (uintptr_t i = 0; i < THREADS; i++)
		must(&common, !pthread_create(&threads[i], NULL, work, (void *)(number * THREADS + i)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	char *p;
	int status;

	if (argc != 3)
		return 1;
	seed = strtoul(argv[2], NULL, 0);
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	p = mmap(NULL, 512 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || p == MAP_FAILED)
		return 1;
	memset(p, 0xa5, 512 * MIB);
	munmap(p, 512 * MIB);
	deadline = time(NULL) + atol(argv[1]);

	for (int i = 0; i <= PROCESSES; i++) {
		pid_t pid = fork();

		if (!pid && i < PROCESSES)
			process(i);
		if (!pid)
			abort_populates(seed + 100);
		if (pid <= 0)
			exit(pid < 0);
	}
	while (wait(&status) > 0)
		if (status && !atomic_exchange(&done->failed, true))
			dprintf(1, "error: a process ended with status %x\n", status);
	for (int i = 0; i < KINDS; i++)
		printf("%lu %s, ", done->rounds[i], names[i]);
	printf("%lu refused, %lu in common, %lu forks, %lu killed, %lu over a limit\n", done->refused,
	       done->common, done->forks, done->killed, done->limited);
	return done->failed;
}
