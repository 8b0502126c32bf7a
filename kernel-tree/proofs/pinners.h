/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pinners.h: make the kernel pin memory that nobody has touched yet, through the drivers that do so.
 * Each takes @p, a mapping of @size bytes, and @fd, the memfd that is mapped there (-1: anonymous memory),
 * uses one of the two, and returns whether the kernel did it. What was pinned is unpinned again.
 */
#ifndef PINNERS_H
#define PINNERS_H

#include <stdbool.h>
#include <stddef.h>

bool pin_udmabuf(char *p, size_t size, int fd);
bool pin_iommufd(char *p, size_t size, int fd);
bool pin_iommufd_file(char *p, size_t size, int fd);
bool access_iommufd(char *p, size_t size, int fd);
bool write_iommufd(char *p, size_t size, int fd);
bool pin_vfio(char *p, size_t size, int fd);

/* Is there a device for pin_vfio()? */
bool have_vfio(void);

#endif
