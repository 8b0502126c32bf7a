// SPDX-License-Identifier: GPL-2.0
/*
 * paths: which extent does folio_zero_user() get on each path to a huge page?
 *
 * Runs as root in a guest whose kernel has kprobe events and gup_test. For every path it puts a
 * probe on the third argument of folio_zero_user(), takes memory that way, checks that each byte
 * of it is zero, dirties it and gives it back. Prints one line per path:
 *
 *	PATH EXTENT*COUNT...	extents in bytes, "max" for ULONG_MAX; "none" if not called
 *
 * The arguments are paths to leave out. Without a VFIO group those through it are left out. Exit code 0 if every path could be taken and no byte was stale, else 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/memfd.h>
/* The kernel's own, from the series' tree */
#include "gup_test.h"
#include "pinners.h"

#define MIB		(1UL << 20)
#define HUGE		(2 * MIB)
#define TRACING		"/sys/kernel/tracing/"
#define THP		"/sys/kernel/mm/transparent_hugepage/"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

/* From include/linux/mm_types.h, which is not for user space */
#define FOLL_WRITE		(1 << 0)
#define FOLL_HINT_BULK		(1 << 13)

static bool failed;

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	failed = true;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		complain("%s cannot be set to '%s': %s", path, text, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Memory at a multiple of 2 MiB, so that huge pages fit: that of a memfd, or (-1) anonymous. */
static char *map(size_t size, int flags, int fd)
{
	flags |= fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	char *p = mmap((void *)(1UL << 40), size, PROT_READ | PROT_WRITE,
		       MAP_FIXED_NOREPLACE | flags, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool touch(char *p, size_t size, int unused)
{
	(void)unused;
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)p)[i] = 0;
	return true;
}

static bool populate(char *p, size_t size, int unused)
{
	(void)unused;
	return !madvise(p, size, MADV_POPULATE_WRITE);
}

static bool lock(char *p, size_t size, int unused)
{
	(void)unused;
	return !mlock(p, size) && !munlock(p, size);
}

static bool gup(char *p, size_t size, unsigned long command, unsigned int per_call,
		unsigned int flags)
{
	struct gup_test t = {
		.addr = (uintptr_t)p,
		.size = size,
		.nr_pages_per_call = per_call,
		.gup_flags = FOLL_WRITE | flags,
	};
	int fd = open("/sys/kernel/debug/gup_test", O_RDWR);
	bool ok = fd >= 0 && !ioctl(fd, command, &t) && t.size == size;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool pin_hint(char *p, size_t size, int unused)
{
	(void)unused;
	return gup(p, size, PIN_LONGTERM_BENCHMARK, 512, FOLL_HINT_BULK);
}

static bool pin_fast_hint(char *p, size_t size, int unused)
{
	(void)unused;
	return gup(p, size, PIN_FAST_BENCHMARK, 512, FOLL_HINT_BULK);
}

static bool pin_large(char *p, size_t size, int unused)
{
	(void)unused;
	return gup(p, size, PIN_LONGTERM_BENCHMARK, size / 4096, 0);
}

static bool pin_fast_large(char *p, size_t size, int unused)
{
	(void)unused;
	return gup(p, size, PIN_FAST_BENCHMARK, size / 4096, 0);
}

static bool pin_small(char *p, size_t size, int unused)
{
	(void)unused;
	return gup(p, size, PIN_FAST_BENCHMARK, 512, 0);
}

/* As KVM takes a page for a guest: one at a time */
static bool get_one(char *p, size_t size, int unused)
{
	(void)unused;
	return gup(p, size, GUP_FAST_BENCHMARK, 1, 0);
}

static bool direct_io(char *p, size_t size, int unused)
{
	int fd = open("/dev/ram0", O_RDONLY | O_DIRECT);
	bool ok = fd >= 0;

	(void)unused;
	for (size_t done = 0; ok && done < size; ) {
		ssize_t got = pread(fd, p + done, size - done, 0);

		ok = got > 0;
		done += ok ? got : 0;
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool allocate(char *p, size_t size, int fd)
{
	(void)p;
	return !fallocate(fd, 0, 0, size);
}

/* What fallocate() leaves to whoever comes next */
static bool allocate_touch(char *p, size_t size, int fd)
{
	return allocate(p, size, fd) && touch(p, size, fd);
}

enum file { ANONYMOUS, SHMEM, HUGETLB_FILE };

/**
 * struct path - a way to get zeroed memory.
 * @name: first word of the line
 * @take: does it, on a mapping of @size bytes and the memfd behind it (or -1); NULL if mmap() itself does
 * @size: in bytes
 * @flags: for mmap(), in addition
 * @mthp: with pages of 64 KiB instead of 2 MiB
 * @file: what is mapped
 */
static const struct path {
	const char *name;
	bool (*take)(char *p, size_t size, int fd);
	size_t size;
	int flags;
	bool mthp;
	enum file file;
} paths[] = {
#define HUGETLB	(MAP_HUGETLB | (21 << MAP_HUGE_SHIFT))
#define GIGANTIC (MAP_HUGETLB | (30 << MAP_HUGE_SHIFT))
	{ "thp-touch", touch, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-populate", NULL, 64 * MIB, MAP_POPULATE, false, ANONYMOUS },
	{ "thp-populate-small", NULL, 4 * MIB, MAP_POPULATE, false, ANONYMOUS },
	{ "thp-madvise", populate, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-madvise-small", populate, 4 * MIB, 0, false, ANONYMOUS },
	{ "thp-mlock", lock, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-pin-hint", pin_hint, 8 * MIB, 0, false, ANONYMOUS },
	{ "thp-pin-fast-hint", pin_fast_hint, 8 * MIB, 0, false, ANONYMOUS },
	{ "thp-pin-large", pin_large, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-pin-fast-large", pin_fast_large, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-pin-small", pin_small, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-get-one", get_one, 64 * MIB, 0, false, ANONYMOUS },
	{ "thp-direct-io", direct_io, 64 * MIB, 0, false, ANONYMOUS },
	{ "mthp-touch", touch, 4 * MIB, 0, true, ANONYMOUS },
	{ "mthp-madvise", populate, 64 * MIB, 0, true, ANONYMOUS },
	{ "mthp-madvise-small", populate, 4 * MIB, 0, true, ANONYMOUS },
	{ "mthp-pin-hint", pin_hint, 4 * MIB, 0, true, ANONYMOUS },
	{ "hugetlb-touch", touch, 64 * MIB, HUGETLB, false, ANONYMOUS },
	{ "hugetlb-populate", NULL, 64 * MIB, HUGETLB | MAP_POPULATE, false, ANONYMOUS },
	{ "hugetlb-madvise", populate, 64 * MIB, HUGETLB, false, ANONYMOUS },
	{ "hugetlb-madvise-small", populate, 4 * MIB, HUGETLB, false, ANONYMOUS },
	{ "hugetlb-mlock", lock, 64 * MIB, HUGETLB, false, ANONYMOUS },
	{ "hugetlb-pin-hint", pin_hint, 8 * MIB, HUGETLB, false, ANONYMOUS },
	{ "shmem-touch", touch, 64 * MIB, 0, false, SHMEM },
	{ "shmem-madvise", populate, 64 * MIB, 0, false, SHMEM },
	{ "shmem-madvise-small", populate, 4 * MIB, 0, false, SHMEM },
	{ "shmem-populate", NULL, 64 * MIB, MAP_POPULATE, false, SHMEM },
	{ "shmem-mlock", lock, 64 * MIB, 0, false, SHMEM },
	{ "shmem-pin-hint", pin_hint, 8 * MIB, 0, false, SHMEM },
	{ "shmem-fallocate-touch", allocate_touch, 64 * MIB, 0, false, SHMEM },
	{ "shmem-udmabuf", pin_udmabuf, 64 * MIB, 0, false, SHMEM },
	{ "shmem-mthp-touch", touch, 4 * MIB, 0, true, SHMEM },
	{ "shmem-mthp-madvise", populate, 64 * MIB, 0, true, SHMEM },
	{ "hugetlb-fallocate", allocate, 64 * MIB, 0, false, HUGETLB_FILE },
	{ "hugetlb-fallocate-small", allocate, 4 * MIB, 0, false, HUGETLB_FILE },
	{ "hugetlb-udmabuf", pin_udmabuf, 64 * MIB, 0, false, HUGETLB_FILE },
	{ "hugetlb-udmabuf-small", pin_udmabuf, 4 * MIB, 0, false, HUGETLB_FILE },
	{ "iommufd-map", pin_iommufd, 64 * MIB, 0, false, ANONYMOUS },
	{ "iommufd-map-small", pin_iommufd, 4 * MIB, 0, false, ANONYMOUS },
	{ "iommufd-map-file", pin_iommufd_file, 64 * MIB, 0, false, HUGETLB_FILE },
	{ "iommufd-map-file-small", pin_iommufd_file, 4 * MIB, 0, false, HUGETLB_FILE },
	{ "iommufd-access-one", access_iommufd, 64 * MIB, 0, false, ANONYMOUS },
	{ "iommufd-write-one", write_iommufd, 64 * MIB, 0, false, ANONYMOUS },
	{ "vfio-map", pin_vfio, 256 * MIB, 0, false, ANONYMOUS },
	{ "vfio-map-small", pin_vfio, 4 * MIB, 0, false, ANONYMOUS },
	{ "gigantic-touch", touch, 1024 * MIB, GIGANTIC, false, ANONYMOUS },
};

/* Count the calls by extent, from lines like "... probe: (folio_zero_user+0x0/0x..) extent=2097152". */
static void print_extents(const char *name)
{
	struct { unsigned long extent, count; } seen[8] = { 0 };
	FILE *trace = fopen(TRACING "trace", "r");
	char line[512];
	int n = 0;

	while (trace && fgets(line, sizeof(line), trace)) {
		char *at = strstr(line, " extent=");
		unsigned long extent;
		int i;

		if (line[0] == '#' || !at)
			continue;
		extent = strtoul(at + 8, NULL, 10);
		for (i = 0; i < n && seen[i].extent != extent; i++)
			;
		if (i == n && n < 8)
			seen[n++].extent = extent;
		if (i < 8)
			seen[i].count++;
	}
	if (!trace)
		complain("the trace cannot be read: %s", strerror(errno));
	else
		fclose(trace);

	printf("%s", name);
	for (int i = 0; i < n; i++) {
		if (seen[i].extent == ~0UL)
			printf(" max*%lu", seen[i].count);
		else
			printf(" %lu*%lu", seen[i].extent, seen[i].count);
	}
	printf("%s\n", n ? "" : " none");
}

/* The memfd of a path, as large as it is; -1 if it has none. */
static int open_file(const struct path *path)
{
	int fd;

	if (path->file == ANONYMOUS)
		return -1;
	fd = memfd_create("paths", MFD_ALLOW_SEALING |
			  (path->file == HUGETLB_FILE ? MFD_HUGETLB | MFD_HUGE_2MB : 0));
	if (fd < 0 || ftruncate(fd, path->size))
		complain("%s: no file: %s", path->name, strerror(errno));
	return fd;
}

static void run(const struct path *path)
{
	int fd;
	char *p;

	put(THP "hugepages-64kB/enabled", path->mthp ? "always" : "never");
	put(THP "hugepages-2048kB/enabled", path->mthp ? "never" : "always");
	/* For a mapping the next two decide, where there is none yet (fallocate) the one without a size. */
	put(THP "shmem_enabled", path->mthp ? "never" : "always");
	put(THP "hugepages-64kB/shmem_enabled", path->mthp ? "always" : "never");
	put(THP "hugepages-2048kB/shmem_enabled", path->mthp ? "never" : "always");
	put(TRACING "trace", "");
	fd = open_file(path);
	put(TRACING "events/kprobes/probe/enable", "1");
	p = map(path->size, path->flags, fd);
	if (!p)
		complain("%s: no memory: %s", path->name, strerror(errno));
	else if (path->take && !path->take(p, path->size, fd))
		complain("%s: cannot be taken: %s", path->name, strerror(errno));
	put(TRACING "events/kprobes/probe/enable", "0");
	print_extents(path->name);
	if (p) {
		if (p[0] || memcmp(p, p + 1, path->size - 1))
			complain("%s: a byte is not zero", path->name);
		/* The next one to get this memory must not find zeroes by chance. */
		memset(p, 0xa5, path->size);
		munmap(p, path->size);
	}
	if (fd >= 0)
		close(fd);
}

/* Is @path an argument, or not for this machine? */
static bool left_out(const struct path *path, char **arguments)
{
	if (path->take == pin_vfio && !have_vfio())
		return true;
	while (*arguments)
		if (!strcmp(*arguments++, path->name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	char filter[64];

	(void)argc;
	put(TRACING "kprobe_events", "p:probe folio_zero_user extent=$arg3:u64");
	snprintf(filter, sizeof(filter), "common_pid == %d", getpid());
	put(TRACING "events/kprobes/probe/filter", filter);
	/* Dirty what memory there is, several times as much as a path takes. */
	for (int i = 0; i < 4; i++) {
		char *p = mmap(NULL, 128 * MIB, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p != MAP_FAILED) {
			memset(p, 0xa5, 128 * MIB);
			munmap(p, 128 * MIB);
		}
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!left_out(&paths[i], argv + 1))
			run(&paths[i]);
	return failed;
}
