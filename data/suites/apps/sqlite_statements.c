// SQL of many kinds on tables in memory: sqlite_statements ROWS. Statements are prepared once and bound, as programs
// that use SQLite do.
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3* database;
static uint32_t state = 12345;

static uint32_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static void fail(const char* what) {
  fprintf(stderr, "sqlite_statements: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void execute(const char* sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt* prepare(const char* sql) {
  sqlite3_stmt* statement = NULL;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) fail(sql);
  return statement;
}

// Runs a statement to its end; the sum of the integers of its first column.
static int64_t finish(sqlite3_stmt* statement) {
  int64_t sum = 0;
  int status;
  while ((status = sqlite3_step(statement)) == SQLITE_ROW) sum += sqlite3_column_int64(statement, 0);
  if (status != SQLITE_DONE) fail(sqlite3_sql(statement));
  sqlite3_reset(statement);
  return sum;
}

// 123 -> "one hundred twenty three"
static void spell(uint32_t number, char* text, size_t room) {
  static const char* const kSmall[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                       "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                       "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static const char* const kTens[] = {"",      "",      "twenty",  "thirty", "forty",
                                      "fifty", "sixty", "seventy", "eighty", "ninety"};
  size_t used = 0;
  for (uint32_t unit = 1000000; unit >= 1; unit /= 1000) {
    const uint32_t part = number / unit % 1000;
    if (part == 0) continue;
    if (part >= 100) used += (size_t)snprintf(text + used, room - used, "%s hundred ", kSmall[part / 100]);
    const uint32_t rest = part % 100;
    if (rest >= 20) used += (size_t)snprintf(text + used, room - used, "%s ", kTens[rest / 10]);
    if (rest > 0 && rest < 20) used += (size_t)snprintf(text + used, room - used, "%s ", kSmall[rest]);
    if (rest >= 20 && rest % 10 > 0) used += (size_t)snprintf(text + used, room - used, "%s ", kSmall[rest % 10]);
    if (unit > 1) used += (size_t)snprintf(text + used, room - used, unit == 1000 ? "thousand " : "million ");
  }
  if (used == 0) snprintf(text, room, "zero");
}

static void fill(const char* sql, int rows, int in_order) {
  sqlite3_stmt* insert = prepare(sql);
  char text[200];
  for (int i = 1; i <= rows; ++i) {
    const uint32_t number = next_random() % 1000000;
    spell(number, text, sizeof text);
    sqlite3_bind_int(insert, 1, in_order ? i : (int)((uint32_t)i * 2654435761u % 2147483647u));
    sqlite3_bind_int(insert, 2, (int)number);
    sqlite3_bind_text(insert, 3, text, -1, SQLITE_TRANSIENT);
    finish(insert);
  }
  sqlite3_finalize(insert);
}

// `sql` with two bounds of a random range of numbers, `times` times.
static int64_t ranges(const char* sql, int times, int width) {
  sqlite3_stmt* statement = prepare(sql);
  int64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    const int low = (int)(next_random() % 1000000);
    sqlite3_bind_int(statement, 1, low);
    sqlite3_bind_int(statement, 2, low + width);
    sum += finish(statement);
  }
  sqlite3_finalize(statement);
  return sum;
}

int main(int argc, char** argv) {
  const int rows = argc == 2 ? atoi(argv[1]) : 0;
  if (rows <= 0) {
    fprintf(stderr, "sqlite_statements: expected a number of rows\n");
    return 2;
  }
  if (sqlite3_open(":memory:", &database) != SQLITE_OK) fail("open");
  int64_t checksum = 0;

  execute("BEGIN; CREATE TABLE plain(id INTEGER, number INTEGER, text TEXT)");
  fill("INSERT INTO plain VALUES(?1, ?2, ?3)", rows, 1);
  execute("COMMIT; BEGIN; CREATE TABLE keyed(id INTEGER PRIMARY KEY, number INTEGER, text TEXT)");
  fill("INSERT INTO keyed VALUES(?1, ?2, ?3)", rows, 1);
  execute("COMMIT; BEGIN; CREATE TABLE scattered(id INTEGER UNIQUE, number INTEGER, text TEXT)");
  fill("INSERT INTO scattered VALUES(?1, ?2, ?3)", rows, 0);
  execute("COMMIT");

  checksum += ranges("SELECT count(*) + avg(id) FROM plain WHERE number BETWEEN ?1 AND ?2", rows / 2500, 5000);
  checksum += ranges("SELECT count(*) FROM plain WHERE text LIKE '%' || (?1 % 90) || '%' OR text LIKE '%forty five%'",
                     rows / 10000, 0);
  checksum +=
      ranges("SELECT id FROM keyed WHERE text LIKE '%eleven%' AND number > ?1 ORDER BY text LIMIT 10", rows / 10000, 0);
  execute("CREATE UNIQUE INDEX plain_id ON plain(id); CREATE INDEX plain_number ON plain(number, id)");
  execute("CREATE INDEX keyed_number ON keyed(number); CREATE INDEX scattered_text ON scattered(text)");
  checksum += ranges("SELECT count(*) + avg(id) FROM keyed WHERE number BETWEEN ?1 AND ?2", rows / 10, 1000);
  checksum += ranges("SELECT count(*) FROM plain WHERE number BETWEEN ?1 AND ?2", rows / 10, 1000);
  checksum +=
      ranges("SELECT count(*) FROM scattered WHERE text BETWEEN 'one ' || ?1 AND 'seven ' || ?2", rows / 10000, 9);
  checksum +=
      ranges("SELECT keyed.id FROM plain JOIN keyed USING(id) WHERE plain.number BETWEEN ?1 AND ?2", rows / 40, 1000);
  checksum += ranges("SELECT length(text) FROM keyed WHERE id = ?1 % 10000 + 1", rows, 0);
  checksum += ranges("SELECT length(text) FROM plain WHERE id = ?1 % 10000 + 1", rows, 0);

  execute("BEGIN; UPDATE plain SET number = number + id % 7; COMMIT");
  execute("BEGIN");
  checksum += ranges("UPDATE plain SET number = number * 2 WHERE number BETWEEN ?1 AND ?2", rows / 25, 100);
  checksum += ranges("UPDATE keyed SET number = number + ?2 WHERE id = ?1 % 10000", rows / 2, 1);
  execute("COMMIT; BEGIN; INSERT INTO plain SELECT id + 10000000, number, text FROM keyed ORDER BY text; COMMIT");
  execute("BEGIN");
  checksum += ranges("DELETE FROM plain WHERE number BETWEEN ?1 AND ?2", rows / 50, 500);
  checksum += ranges("REPLACE INTO keyed SELECT id, number + 1, text FROM scattered WHERE number BETWEEN ?1 AND ?2",
                     rows / 100, 2000);
  execute("COMMIT");
  sqlite3_stmt* last = prepare(
      "WITH RECURSIVE walk(step, at) AS (SELECT 1, 7 UNION ALL SELECT step + 1, at * 31 % 10007 FROM walk WHERE step < "
      "20000) SELECT sum(number) + count(DISTINCT at) FROM walk LEFT JOIN keyed ON keyed.id = walk.at");
  checksum += finish(last);
  sqlite3_finalize(last);
  last = prepare(
      "SELECT sum(total) FROM (SELECT number / 1000 AS part, count(*) * max(length(text)) AS total FROM scattered "
      "GROUP "
      "BY part ORDER BY total DESC)");
  checksum += finish(last);
  sqlite3_finalize(last);
  execute("DROP TABLE scattered; ANALYZE");
  last = prepare("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'");
  const int64_t sound = finish(last);
  sqlite3_finalize(last);
  sqlite3_close(database);
  printf("%lld\n", (long long)checksum);
  return sound == 1 ? 0 : 1;
}
