#pragma once
// How wide the text is that this process writes for people.

#include <cstddef>

namespace perfcast {

// Tables (TextTable::to_text) and wrapped text keep their lines within this many columns from now on; 0, as at first:
// no limit. To be set once, before anything is written.
void set_most_columns(size_t columns);

}  // namespace perfcast
