// SPDX-License-Identifier: MIT

/* Moments as people read them. */
#ifndef KURA_CALENDAR_H
#define KURA_CALENDAR_H

#include <stdint.h>

struct kura_calendar {
  int year, month, day, hour, minute, second;
};

/* A moment of Unix time, in seconds, in the user's time zone (localtime_r(3)). */
struct kura_calendar kura_calendar_local(int64_t seconds);

/* The same in UTC (gmtime_r(3)). */
struct kura_calendar kura_calendar_utc(int64_t seconds);

/* Unix time now, in milliseconds. */
uint64_t kura_calendar_now(void);

#endif
