/* A library of which nothing runs but its constructor and destructor, and what those call. */
static int value;
__attribute__((noinline)) int start_value(void) { return ++value; }
__attribute__((constructor)) static void starts(void) { start_value(); }
__attribute__((destructor)) static void ends(void) { start_value(); }
