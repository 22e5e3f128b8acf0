/* Runs a part of its own code and of what its libraries have; the rest only with more arguments than anybody gives. */
int used_work(int x);
int start_value(void);

__attribute__((noinline)) int never_ran(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) sum += sum << 3 ^ i;
  return sum;
}

int main(int argc, char** argv) {
  int sum = 0;
  (void)argv;
  for (int i = 0; i < 1000; ++i) sum += used_work(i);
  if (argc > 100) sum += never_ran(sum) + start_value();
  return sum == 42;
}
