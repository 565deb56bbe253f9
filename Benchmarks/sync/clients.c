// SPDX-License-Identifier: MIT
//
// clients CONNECTION fill VAULTS DEVICES OBJECTS             rows of so many vaults, in a database that `kura sync sql` made ready
// clients CONNECTION push|pull VAULTS DEVICES CLIENTS SECONDS  what machines ask of it in a meeting, of vaults at random: how many
//                                                           a second, and milliseconds of the middle one and of 1 in 100
// clients CONNECTION year VAULTS FIRST LAST                  one machine of each vault makes these pushes, and seals anew as kura does
//
// The statements are those of Sources/KuraPostgres; sizes are those that kura writes.

#include <libpq-fe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PACK = 1500, SNAPSHOT = 131072, HEAD = 3000, CHAIN = 16416, MORE_PACKS = 64, BLOCK = 1024, MOST = 4194304 };

static const char *where;
static char noise[MOST];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t dice(uint64_t *state) {  // splitmix64, public domain, S. Vigna
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// An id of 16 or 32 bytes that numbers make.
static void name(char *bytes, int count, uint64_t a, uint64_t b) {
  uint64_t state = a * 1000003 + b + 1;
  for (int i = 0; i < count; i += 8) {
    uint64_t word = dice(&state);
    memcpy(bytes + i, &word, 8);
  }
}

static PGconn *open_connection(void) {
  PGconn *c = PQconnectdb(where);
  if (PQstatus(c) != CONNECTION_OK) {
    fprintf(stderr, "clients: %s", PQerrorMessage(c));
    exit(1);
  }
  return c;
}

// Runs a statement; each value but NULL is bytea. Gives the number of its rows.
static int run(PGconn *c, const char *sql, const char *v, const char *d, const char *h, const char *bytes, int count) {
  const char *all[4];
  int lengths[4], formats[4] = {1, 1, 1, 1}, n = 0;
  if (v) all[n] = v, lengths[n++] = 16;
  if (d) all[n] = d, lengths[n++] = 16;
  if (h) all[n] = h, lengths[n++] = 32;
  if (bytes) all[n] = bytes, lengths[n++] = count;
  PGresult *r = PQexecParams(c, sql, n, NULL, all, lengths, formats, 1);
  ExecStatusType s = PQresultStatus(r);
  if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) {
    fprintf(stderr, "clients: %s", PQerrorMessage(c));
    exit(1);
  }
  int rows = PQntuples(r);
  PQclear(r);
  return rows;
}

#define PLAIN(c, sql) run(c, sql, NULL, NULL, NULL, NULL, 0)
static const char *const INSERT =
    "INSERT INTO kura_object (vault, device, hash, bytes) VALUES ($1::bytea, $2::bytea, $3::bytea, $4::bytea) "
    "ON CONFLICT DO NOTHING";
static const char *const UPSERT =
    "INSERT INTO kura_head (vault, device, bytes) VALUES ($1::bytea, $2::bytea, $3::bytea) "
    "ON CONFLICT (vault, device) DO UPDATE SET bytes = EXCLUDED.bytes";

static const char *some(uint64_t *state, int count) { return noise + dice(state) % (MOST - count); }

// How long the n-th head is: it names those before it, and the changes that no journal has, up to a thousand of each.
static int head_length(uint64_t n) { return HEAD + 32 * (int)(n % BLOCK); }

static void push(PGconn *c, uint64_t vault, uint64_t device, uint64_t serial, int pack, uint64_t *state) {
  char v[16], d[16], h[32], tell[80] = "SELECT pg_notify('kura_";
  name(v, 16, vault, 0), name(d, 16, vault, device + 1), name(h, 32, vault * 1024 + device, serial);
  PLAIN(c, "BEGIN");
  run(c, INSERT, v, d, h, some(state, pack), pack);
  run(c, UPSERT, v, d, NULL, some(state, head_length(serial)), head_length(serial));
  PLAIN(c, "COMMIT");
  char *end = tell + strlen(tell);
  for (int i = 0; i < 16; i++) end += sprintf(end, "%02x", (unsigned char)v[i]);
  strcpy(end, "', '')");
  PLAIN(c, tell);
}

static void pull(PGconn *c, uint64_t vault, uint64_t devices, uint64_t objects, uint64_t *state) {
  char v[16], d[16], h[32];
  name(v, 16, vault, 0);
  run(c, "SELECT device FROM kura_head WHERE vault = $1::bytea LIMIT 131073", v, NULL, NULL, NULL, 0);
  for (uint64_t i = 0; i < devices; i++) {
    name(d, 16, vault, i + 1);
    run(c, "SELECT bytes FROM kura_head WHERE vault = $1::bytea AND device = $2::bytea AND octet_length(bytes) <= 262144",
        v, d, NULL, NULL, 0);
  }
  name(d, 16, vault, 1);
  run(c, "SELECT hash FROM kura_object WHERE vault = $1::bytea AND device = $2::bytea LIMIT 131073", v, d, NULL, NULL, 0);
  name(h, 32, vault * 1024, dice(state) % objects);
  if (run(c, "SELECT bytes FROM kura_object WHERE vault = $1::bytea AND device = $2::bytea AND hash = $3::bytea "
             "AND octet_length(bytes) <= 4194304", v, d, h, NULL, 0) != 1) {
    fprintf(stderr, "clients: an object is not there\n");
    exit(1);
  }
}

// --- Many at once

struct client {
  pthread_t thread;
  uint64_t vaults, devices, objects, seed;
  int pushes;
  double until, *times;
  size_t count;
};

static void *live(void *given) {
  struct client *me = given;
  PGconn *c = open_connection();
  uint64_t state = me->seed, serial = 1u << 20;
  while (now() < me->until && me->count < 1000000) {
    uint64_t vault = dice(&state) % me->vaults;
    double begin = now();
    if (me->pushes)
      push(c, vault, dice(&state) % me->devices, serial++ + (me->seed << 32), PACK, &state);
    else
      pull(c, vault, me->devices, me->objects, &state);
    me->times[me->count++] = (now() - begin) * 1e3;
  }
  PQfinish(c);
  return NULL;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void race(int pushes, uint64_t vaults, uint64_t devices, int clients, double seconds) {
  struct client all[64];
  double *times = malloc(sizeof(double) * 64 * 1000000), begin = now();
  size_t count = 0;
  for (int i = 0; i < clients; i++) {
    all[i] = (struct client){.vaults = vaults, .devices = devices, .objects = 20, .seed = (uint64_t)i + 1, .pushes = pushes,
                             .until = begin + seconds, .times = malloc(sizeof(double) * 1000000)};
    pthread_create(&all[i].thread, NULL, live, &all[i]);
  }
  for (int i = 0; i < clients; i++) {
    pthread_join(all[i].thread, NULL);
    memcpy(times + count, all[i].times, all[i].count * sizeof(double));
    count += all[i].count;
  }
  double took = now() - begin;
  qsort(times, count, sizeof(double), ascending);
  printf("%.0f %.2f %.2f\n", count / took, times[count / 2], times[count * 99 / 100]);
}

// --- What stands there

static void fill(uint64_t vaults, uint64_t devices, uint64_t objects) {
  PGconn *c = open_connection();
  uint64_t state = 7;
  char v[16], d[16], h[32];
  for (uint64_t vault = 0; vault < vaults; vault++) {
    if (vault % 100 == 0) {
      if (vault > 0) PLAIN(c, "COMMIT");
      PLAIN(c, "BEGIN");
    }
    name(v, 16, vault, 0);
    for (uint64_t device = 0; device < devices; device++) {
      name(d, 16, vault, device + 1);
      for (uint64_t i = 0; i < objects; i++) {
        name(h, 32, vault * 1024 + device, i);
        run(c, INSERT, v, d, h, some(&state, PACK), PACK);
      }
      run(c, UPSERT, v, d, NULL, some(&state, head_length(objects)), head_length(objects));
    }
  }
  PLAIN(c, "COMMIT");
  PQfinish(c);
}

static void year(uint64_t vaults, uint64_t first, uint64_t last) {
  PGconn *c = open_connection();
  uint64_t state = 7;
  char v[16], d[16], h[32];
  for (uint64_t serial = first; serial < last; serial++) {
    for (uint64_t vault = 0; vault < vaults; vault++) {
      name(v, 16, vault, 0), name(d, 16, vault, 1);
      if (serial % MORE_PACKS == 0) {
        // All is sealed anew: a snapshot comes, and what was written before goes.
        for (uint64_t old = serial < MORE_PACKS ? serial : serial - MORE_PACKS; old < serial; old++) {
          name(h, 32, vault * 1024, old);
          run(c, "DELETE FROM kura_object WHERE vault = $1::bytea AND device = $2::bytea AND hash = $3::bytea", v, d, h, NULL, 0);
        }
      }
      if (serial % BLOCK == 0 && serial > 0) {
        // A chain of heads and a journal, which stay.
        for (uint64_t kind = 0; kind < 2; kind++) {
          name(h, 32, vault * 1024 + 1000 + kind, serial);
          run(c, INSERT, v, d, h, some(&state, CHAIN), CHAIN);
        }
      }
      push(c, vault, 0, serial, serial % MORE_PACKS == 0 ? SNAPSHOT : PACK, &state);
    }
  }
  PQfinish(c);
}

int main(int count, char **words) {
  if (count < 5) return 2;
  where = words[1];
  uint64_t state = 42;
  for (size_t i = 0; i < MOST; i += 8) {
    uint64_t word = dice(&state);
    memcpy(noise + i, &word, 8);
  }
  uint64_t a = strtoull(words[3], NULL, 10), b = strtoull(words[4], NULL, 10);
  if (!strcmp(words[2], "fill") && count == 6) fill(a, b, strtoull(words[5], NULL, 10));
  else if (!strcmp(words[2], "year") && count == 6) year(a, b, strtoull(words[5], NULL, 10));
  else if (count == 7) race(!strcmp(words[2], "push"), a, b, atoi(words[5]), atof(words[6]));
  else return 2;
  return 0;
}
