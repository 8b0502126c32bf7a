// SPDX-License-Identifier: GPL-2.0
/*
 * limits: what happens to a task that populates more than there is or is killed meanwhile, and what
 * of it is left behind.
 *
 * Runs as root in a guest with the cgroups /sys/fs/cgroup/memory (memory.max is 32 MiB) and
 * /sys/fs/cgroup/hugetlb (hugetlb.2MB.max is 8 pages) and rsvd (hugetlb.2MB.rsvd.max is 8 pages). Prints a
 * line per test, the same each time: what ended it, and whether the pool is as before and the
 * cgroup's charge is gone. Exit code 0 if nothing was left behind, else 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

#define MIB		(1UL << 20)
#define HUGE		(2 * MIB)
#define POOL		32L		/* huge pages */
#define GROUPS		"/sys/fs/cgroup/"

enum kind { THP, SHMEM, PRIVATE, SHARED };
static const char *const kinds[] = { "thp", "shmem", "hugetlb-private", "hugetlb-shared" };

enum way { MMAP, MADVISE, POPULATE, TOUCH, LOCK, FALLOCATE, FORK };
static const char *const ways[] = { "mmap", "madvise", "populate", "touch", "mlock", "fallocate", "fork" };

static bool failed;

/* The number after @key, or the first one */
static long number_in(const char *path, const char *key)
{
	char text[8192];
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *at;

	close(fd);
	text[got < 0 ? 0 : got] = 0;
	at = strstr(text, key);
	return got > 0 && at ? strtol(at + strlen(key), NULL, 10) : -1;
}

static long huge_pages(const char *key)
{
	return number_in("/proc/meminfo", key);
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return ok;
}

static int touch(char *p, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)p)[i] = 1;
	return 0;
}

/* Returns 0 or an error number. */
static int take(enum kind kind, enum way way, size_t size, int flags)
{
	int fd = -1;
	int status;
	char *p;

	flags |= way == POPULATE ? MAP_POPULATE : 0;
	if (kind == SHMEM || kind == SHARED) {
		flags |= MAP_SHARED;
		fd = memfd_create("limits", kind == SHARED ? MFD_HUGETLB : 0);
		if (fd < 0 || ftruncate(fd, size))
			return errno;
		if (way == FALLOCATE && fallocate(fd, 0, 0, size))
			return errno;
	} else {
		flags |= MAP_PRIVATE | MAP_ANONYMOUS | (kind == PRIVATE ? MAP_HUGETLB : 0);
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (p == MAP_FAILED)
		return errno;
	if (kind < PRIVATE)
		madvise(p, size, MADV_HUGEPAGE);
	switch (way) {
	case MADVISE:
		return madvise(p, size, MADV_POPULATE_WRITE) ? errno : 0;
	case TOUCH:
		return touch(p, size);
	case LOCK:
		return mlock(p, size) ? errno : 0;
	case FORK:
		touch(p, size);
		if (!fork())
			_exit(touch(p, size));
		wait(&status);
		/* As if it had been this process */
		if (WIFSIGNALED(status)) {
			signal(WTERMSIG(status), SIG_DFL);
			raise(WTERMSIG(status));
		}
		return status;
	default:
		return 0;
	}
}

static pid_t start(const char *group, enum kind kind, enum way way, size_t size, int flags)
{
	pid_t pid = fork();
	char path[128];

	if (pid)
		return pid;
	snprintf(path, sizeof(path), GROUPS "%s/cgroup.procs", group);
	if (*group && !put(path, "0"))
		_exit(255);
	_exit(take(kind, way, size, flags));
}

/* @group's charge: of huge pages, of reservations, of memory. What is cached per CPU is not counted. */
static long charged(const char *group)
{
	static const char *const files[] = { "hugetlb.2MB.current", "hugetlb.2MB.rsvd.current", "memory.current" };
	char path[128];
	long sum = 0;

	for (int i = 0; *group && i < 3; i++) {
		long n;

		snprintf(path, sizeof(path), GROUPS "%s/%s", group, files[i]);
		n = number_in(path, "");
		sum += n >= (long)MIB || n < 0 ? n : 0;
	}
	return sum;
}

/* Print what was left behind; dead processes' memory may take a moment. */
static void leftovers(const char *group)
{
	long free, reserved, surplus, charge;

	for (int i = 0; i < 50; i++) {
		free = huge_pages("HugePages_Free:");
		reserved = huge_pages("HugePages_Rsvd:");
		surplus = huge_pages("HugePages_Surp:");
		charge = charged(group);
		if (free == POOL && !reserved && !surplus && !charge)
			break;
		usleep(100000);
	}
	if (free == POOL && !reserved && !surplus && !charge) {
		printf(", nothing left behind\n");
		return;
	}
	printf(", left behind: %ld of %ld free, %ld reserved, %ld surplus, %ld charged\n", free, POOL,
	       reserved, surplus, charge);
	failed = true;
}

static void test(const char *group, enum kind kind, enum way way, size_t size, int flags)
{
	int status = 0;

	printf("%s%s%s %s of %lu MiB%s: ", group, *group ? ", " : "", kinds[kind], ways[way], size / MIB,
	       flags & MAP_NORESERVE ? " without reservation" : "");
	fflush(stdout);
	waitpid(start(group, kind, way, size, flags), &status, 0);
	if (WIFSIGNALED(status))
		printf("%s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == 255)
		failed = printf("the cgroup is not there");
	else
		printf("%s", status ? strerrorname_np(WEXITSTATUS(status)) : "done");
	leftovers(group);
}

/* Kill a task as soon as it has some of what it populates, until one dies with a part of it. */
static void killed(enum kind kind, enum way way, size_t size)
{
	bool midway = false;

	printf("%s %s of %lu MiB, killed: ", kinds[kind], ways[way], size / MIB);
	fflush(stdout);
	for (int i = 0; i < 20; i++) {
		pid_t pid = start("", kind, way, size, 0);
		int status;

		while (!waitpid(pid, &status, WNOHANG) && huge_pages("HugePages_Free:") == POOL)
			;
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
			midway = true;
	}
	printf("%s", midway ? "midway" : "never midway");
	leftovers("");
}

/* Each of them fits into the group, all of them do not; those that are done stay. */
static void crowd(int tasks, size_t size)
{
	bool odd = false, oom = false;
	pid_t pids[8];
	int status;

	printf("memory, %d times thp madvise of %lu MiB: ", tasks, size / MIB);
	fflush(stdout);
	for (int i = 0; i < tasks; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			if (!put(GROUPS "memory/cgroup.procs", "0") || take(THP, MADVISE, size, 0))
				_exit(1);
			for (;;)
				pause();
		}
	}
	/* The second to run into the limit gets one killed. */
	waitpid(-1, &status, 0);
	oom = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	sleep(1);
	for (int i = 0; i < tasks; i++)
		kill(pids[i], SIGKILL);
	while (wait(&status) > 0)
		odd |= !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	printf("%s%s", oom ? "out of memory" : "no end", odd ? ", and something else" : "");
	leftovers("memory");
}

int main(void)
{
	if (!put("/proc/sys/vm/nr_hugepages", "32") || huge_pages("HugePages_Free:") != POOL) {
		printf("no pool of %ld huge pages\n", POOL);
		return 1;
	}
	for (enum kind kind = PRIVATE; kind <= SHARED; kind++) {
		test("", kind, MMAP, 2 * POOL * HUGE, 0);
		for (enum way way = MADVISE; way <= LOCK; way++) {
			test("", kind, way, POOL * HUGE, 0);
			test("", kind, way, 2 * POOL * HUGE, MAP_NORESERVE);
			test("hugetlb", kind, way, 6 * HUGE, 0);
			test("hugetlb", kind, way, 20 * HUGE, 0);
			test("rsvd", kind, way, 20 * HUGE, 0);
		}
		test("", kind, FORK, 20 * HUGE, 0);
		killed(kind, MADVISE, POOL * HUGE);
		killed(kind, POPULATE, POOL * HUGE);
	}
	test("", SHARED, FALLOCATE, 2 * POOL * HUGE, MAP_NORESERVE);
	test("hugetlb", SHARED, FALLOCATE, 20 * HUGE, 0);
	for (enum kind kind = THP; kind <= SHMEM; kind++) {
		for (enum way way = MADVISE; way <= LOCK; way++) {
			test("memory", kind, way, 16 * MIB, 0);
			test("memory", kind, way, 64 * MIB, 0);
		}
	}
	test("memory", SHMEM, FALLOCATE, 64 * MIB, 0);
	test("memory", THP, FORK, 24 * MIB, 0);
	for (int i = 0; i < 3; i++)
		crowd(4, 20 * MIB);
	return failed;
}
