#pragma once
// How much memory may still be taken.

namespace perfcast {

// Of this machine, and of the control groups that this process is in, the least. 512 MiB where nothing tells.
double free_memory_bytes();

}  // namespace perfcast
