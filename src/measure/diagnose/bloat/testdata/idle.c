/* A library that the program asks for and needs nothing of. */
int idle_work(int x) { return x + 1; }
