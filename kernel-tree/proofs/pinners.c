// SPDX-License-Identifier: GPL-2.0
/* pinners: drivers that pin memory in bulk, see pinners.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/iommufd.h>
#include <linux/udmabuf.h>
#include <linux/vfio.h>
/* The kernel's own, from the series' tree */
#include "iommufd_test.h"
#include "pinners.h"

#define ACCESS_BYTES	4096

/* One buffer of items of 4 MiB: each is smaller than any threshold, so that only the whole can be large. */
bool pin_udmabuf(char *p, size_t size, int fd)
{
	const size_t step = 4 << 20, count = size / step;
	struct udmabuf_create_list *create = calloc(1, sizeof(*create) + count * sizeof(create->list[0]));
	int driver = open("/dev/udmabuf", O_RDWR), buffer = -1;

	(void)p;
	for (size_t i = 0; create && i < count; i++)
		create->list[create->count++] = (struct udmabuf_create_item){
			.memfd = fd, .offset = i * step, .size = step };
	if (create && driver >= 0 && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		buffer = ioctl(driver, UDMABUF_CREATE_LIST, create);
	if (buffer >= 0)
		close(buffer);
	if (driver >= 0)
		close(driver);
	free(create);
	return buffer >= 0;
}

/* A file of iommufd with an address space; -1 if that cannot be had. */
static int open_iommufd(__u32 *ioas)
{
	struct iommu_ioas_alloc alloc = { .size = sizeof(alloc) };
	int fd = open("/dev/iommu", O_RDWR);

	if (fd >= 0 && ioctl(fd, IOMMU_IOAS_ALLOC, &alloc)) {
		close(fd);
		return -1;
	}
	*ioas = alloc.out_ioas_id;
	return fd;
}

static bool map_memory(int iommufd, __u32 ioas, char *p, size_t size)
{
	struct iommu_ioas_map map = {
		.size = sizeof(map),
		.flags = IOMMU_IOAS_MAP_FIXED_IOVA | IOMMU_IOAS_MAP_READABLE |
			 IOMMU_IOAS_MAP_WRITEABLE,
		.ioas_id = ioas,
		.user_va = (uintptr_t)p,
		.length = size,
		.iova = MOCK_APERTURE_START,
	};

	return !ioctl(iommufd, IOMMU_IOAS_MAP, &map);
}

static bool map_file(int iommufd, __u32 ioas, int fd, size_t size)
{
	struct iommu_ioas_map_file map = {
		.size = sizeof(map),
		.flags = IOMMU_IOAS_MAP_FIXED_IOVA | IOMMU_IOAS_MAP_READABLE |
			 IOMMU_IOAS_MAP_WRITEABLE,
		.ioas_id = ioas,
		.fd = fd,
		.length = size,
		.iova = MOCK_APERTURE_START,
	};

	return !ioctl(iommufd, IOMMU_IOAS_MAP_FILE, &map);
}

static bool test_op(int iommufd, struct iommu_test_cmd *cmd, __u32 op, __u32 id)
{
	cmd->size = sizeof(*cmd);
	cmd->op = op;
	cmd->id = id;
	return !ioctl(iommufd, IOMMU_TEST_CMD, cmd);
}

/*
 * With a domain attached, mapping is pinning. By 512 pages at a time: in larger pieces, GUP would call a
 * piece large by itself on a CPU with a small cache, whatever iommufd says.
 */
static bool pin_with_domain(char *p, size_t size, int fd)
{
	struct iommu_test_cmd limit = { .memory_limit.limit = 4096 }, domain = { 0 };
	__u32 ioas;
	int iommufd = open_iommufd(&ioas);
	bool ok = iommufd >= 0 &&
		  test_op(iommufd, &limit, IOMMU_TEST_OP_SET_TEMP_MEMORY_LIMIT, 0) &&
		  test_op(iommufd, &domain, IOMMU_TEST_OP_MOCK_DOMAIN, ioas) &&
		  (p ? map_memory(iommufd, ioas, p, size) : map_file(iommufd, ioas, fd, size));

	if (iommufd >= 0)
		close(iommufd);
	return ok;
}

bool pin_iommufd(char *p, size_t size, int fd)
{
	(void)fd;
	return pin_with_domain(p, size, -1);
}

bool pin_iommufd_file(char *p, size_t size, int fd)
{
	(void)p;
	return pin_with_domain(NULL, size, fd);
}

/* A kernel driver's access to one page: pinned, or (@rw) zeroes written to it. */
static bool access_one(char *p, size_t size, bool rw)
{
	struct iommu_test_cmd create = {
		.create_access.flags = rw ? 0 : MOCK_FLAGS_ACCESS_CREATE_NEEDS_PIN_PAGES,
	};
	static char buffer[ACCESS_BYTES];
	struct iommu_test_cmd cmd = { 0 };
	__u32 ioas;
	int iommufd = open_iommufd(&ioas);
	bool ok = iommufd >= 0 && map_memory(iommufd, ioas, p, size) &&
		  test_op(iommufd, &create, IOMMU_TEST_OP_CREATE_ACCESS, ioas);
	const __u32 access = ok ? create.create_access.out_access_fd : 0;

	if (ok && rw) {
		cmd.access_rw.iova = MOCK_APERTURE_START;
		cmd.access_rw.length = sizeof(buffer);
		cmd.access_rw.uptr = (uintptr_t)buffer;
		cmd.access_rw.flags = MOCK_ACCESS_RW_WRITE;
		ok = test_op(iommufd, &cmd, IOMMU_TEST_OP_ACCESS_RW, access);
	} else if (ok) {
		cmd.access_pages.iova = MOCK_APERTURE_START;
		cmd.access_pages.length = ACCESS_BYTES;
		cmd.access_pages.uptr = (uintptr_t)p;
		ok = test_op(iommufd, &cmd, IOMMU_TEST_OP_ACCESS_PAGES, access);
	}
	if (access)
		close(access);
	if (iommufd >= 0)
		close(iommufd);
	return ok;
}

bool access_iommufd(char *p, size_t size, int fd)
{
	(void)fd;
	return access_one(p, size, false);
}

bool write_iommufd(char *p, size_t size, int fd)
{
	(void)fd;
	return access_one(p, size, true);
}

/* The file of the one group that VFIO has; -1 if there is none. */
static int open_group(void)
{
	glob_t found;
	int fd = -1;

	if (!glob("/dev/vfio/[0-9]*", 0, NULL, &found)) {
		fd = open(found.gl_pathv[0], O_RDWR);
		globfree(&found);
	}
	return fd;
}

bool have_vfio(void)
{
	int fd = open_group();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool pin_vfio(char *p, size_t size, int fd)
{
	struct vfio_iommu_type1_dma_map map = {
		.argsz = sizeof(map),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)p,
		.iova = MOCK_APERTURE_START,
		.size = size,
	};
	int container = open("/dev/vfio/vfio", O_RDWR), group = open_group();
	bool ok = container >= 0 && group >= 0 &&
		  !ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) &&
		  !ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) &&
		  !ioctl(container, VFIO_IOMMU_MAP_DMA, &map);

	(void)fd;
	if (group >= 0)
		close(group);
	if (container >= 0)
		close(container);
	return ok;
}
