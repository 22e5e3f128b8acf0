#pragma once
// Whole files, read and written safely.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast {

// Reads at most `limit_bytes`; a larger file is an error ("file-too-large"), never a truncated read. Files that begin
// with the gzip magic are decompressed, all members of them (the limit holds for the decompressed text). Zero bytes
// behind the last member are padding, as gzip has it; anything else there, and a truncated or corrupt stream, is
// "bad-gzip". Text in UTF-16 that begins with its byte-order mark becomes UTF-8, and UTF-8's own mark is left out.
Result<std::string> read_file(const std::string& path, size_t limit_bytes = size_t{1} << 30);
// The same, but the bytes as they lie there, whatever they begin with.
Result<std::string> read_bytes(const std::string& path, size_t limit_bytes = size_t{1} << 30);

// Who may read a new file. One that is there keeps its mode.
enum class NewFile {
  kAsUsual,  // as the umask has it
  kPrivate,  // its owner alone: what holds command lines or facts of this machine
};

// The file is as before or complete, also when killed, and nothing is left beside it. "-" writes to stdout;
// "closed-pipe", of kind kReaderGone, where its reader is gone.
Status write_file_atomically(const std::string& path, std::string_view content, NewFile access = NewFile::kAsUsual);

// With all folders above it; those that are made are for their owner alone.
Status create_private_folders(const std::string& path);

// $XDG_DATA_HOME/perfcast or ~/.local/share/perfcast; created on demand by the writer. Empty where the environment
// names no home: other people's folders are no place for a user's data.
std::string user_data_folder();
// Likewise what may be lost: $XDG_CACHE_HOME/perfcast or ~/.cache/perfcast.
std::string user_cache_folder();

}  // namespace perfcast
