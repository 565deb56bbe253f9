// SPDX-License-Identifier: MIT

#include "calendar.h"

#include <time.h>

static struct kura_calendar parts(const struct tm *time) {
  return (struct kura_calendar){time->tm_year + 1900, time->tm_mon + 1, time->tm_mday,
                                time->tm_hour,        time->tm_min,     time->tm_sec};
}

struct kura_calendar kura_calendar_local(int64_t seconds) {
  time_t moment = seconds;
  struct tm time = {0};
  tzset();
  localtime_r(&moment, &time);
  return parts(&time);
}

struct kura_calendar kura_calendar_utc(int64_t seconds) {
  time_t moment = seconds;
  struct tm time = {0};
  gmtime_r(&moment, &time);
  return parts(&time);
}

uint64_t kura_calendar_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
