// The mix of statements of Dhrystone 2, in an implementation of our own: records RUNS. Records, strings, small
// procedures, hardly a loop.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { kFirst, kSecond, kThird, kFourth, kFifth } Kind;

typedef struct Record {
  struct Record* next;
  Kind tag, choice;
  int number;
  char text[31];
} Record;

static Record *current, *spare;
static int global_number, is_set, vector[50], table[50][50];
static char letter_a, letter_b;

#define NOINLINE __attribute__((noinline))

NOINLINE static Kind same_letter(char a, char b) {
  const char first = a;
  if (first != b) return kFirst;
  letter_a = first;
  return kSecond;
}

NOINLINE static int order_of(const char* one, const char* other) {
  int at = 2;
  char letter = 'A';
  while (at <= 2) {
    if (same_letter(one[at], other[at + 1]) == kFirst) {
      letter = 'A';
      ++at;
    }
  }
  if (letter >= 'W' && letter < 'Z') at = 7;
  if (letter == 'R') return 1;
  if (strcmp(one, other) > 0) {
    global_number = at + 7;
    return 1;
  }
  return 0;
}

NOINLINE static int is_third(Kind kind) { return kind == kThird; }

NOINLINE static void next_kind(Kind from, Kind* to) {
  *to = is_third(from) ? from : kFourth;
  switch (from) {
    case kFirst:
      *to = kFirst;
      break;
    case kSecond:
      *to = global_number > 100 ? kFirst : kFourth;
      break;
    case kThird:
      *to = kSecond;
      break;
    case kFourth:
      break;
    case kFifth:
      *to = kThird;
      break;
  }
}

NOINLINE static void add_two(int a, int b, int* sum) { *sum = a + 2 + b; }

NOINLINE static void fill_tables(int* row, int (*rows)[50], int a, int b) {
  const int at = a + 5;
  row[at] = b;
  row[at + 1] = row[at];
  row[at + 30] = at;
  for (int i = at; i <= at + 1; ++i) rows[at][i] = at;
  ++rows[at][at - 1];
  rows[at + 20][at] = row[at];
  global_number = 5;
}

NOINLINE static void follow(Record** to) {
  if (current != NULL) *to = current->next;
  add_two(10, global_number, &current->number);
}

NOINLINE static void change(Record* record) {
  Record* next = record->next;
  *record->next = *current;
  record->number = 5;
  next->number = record->number;
  next->next = record->next;
  follow(&next->next);
  if (next->tag == kFirst) {
    next->number = 6;
    next_kind(record->choice, &next->choice);
    next->next = current->next;
    add_two(next->number, 10, &next->number);
  } else {
    *record = *record->next;
  }
}

NOINLINE static void adjust(int* number) {
  int local = *number + 10;
  while (1) {
    if (letter_a == 'A') {
      --local;
      *number = local - global_number;
      return;
    }
    letter_a = 'A';
  }
}

NOINLINE static void set_letters(void) {
  is_set |= letter_a == 'A';
  letter_b = 'B';
}

int main(int argc, char** argv) {
  const long runs = argc == 2 ? atol(argv[1]) : 0;
  if (runs <= 0) {
    fprintf(stderr, "records: expected a number of runs\n");
    return 2;
  }
  spare = malloc(sizeof *spare);
  current = malloc(sizeof *current);
  if (spare == NULL || current == NULL) return 1;
  *spare = (Record){NULL, kFirst, kFirst, 0, "SPARE"};
  *current = (Record){spare, kFirst, kThird, 40, "A RECORD WITH A TEXT IN IT"};
  char one[31], other[31];
  strcpy(one, "A TEXT OF THIRTY LETTERS, 1'ST");
  int a = 0, b = 0, c = 0;
  Kind kind = kFirst;
  table[8][7] = 10;
  for (long run = 1; run <= runs; ++run) {
    letter_a = 'A';
    set_letters();
    a = 2;
    b = 3;
    strcpy(other, "A TEXT OF THIRTY LETTERS, 2'ND");
    kind = kSecond;
    is_set = !order_of(one, other);
    while (a < b) {
      c = 5 * a - b;
      add_two(a, b, &c);
      ++a;
    }
    fill_tables(vector, table, a, c);
    change(current);
    for (char letter = 'A'; letter <= letter_b; ++letter) {
      if (kind == same_letter(letter, 'C')) {
        next_kind(kFirst, &kind);
        strcpy(other, "A TEXT OF THIRTY LETTERS, 3'RD");
        b = (int)run;
        global_number = (int)run;
      }
    }
    b = b * a;
    a = b / c;
    b = 7 * (b - c) - a;
    adjust(&a);
  }
  printf("%d %d %d %d %d\n", a, b, c, vector[8], table[8][7]);
  const int right = a == 5 && b == 13 && c == 7 && vector[8] == 7 && table[8][7] == (int)(runs + 10);
  free(spare);
  free(current);
  return right ? 0 : 1;
}
