#pragma once
// What the writers of sources share.

#include <span>
#include <string>
#include <vector>

#include "learn/weightless/export/network_source.h"

namespace perfcast {

// "  1, 2, 3,\n": so many to a line as fit.
std::string listed(const std::vector<std::string>& items);
// A float that every compiler reads as the same number (nine digits); NAN and INFINITY are those of math.h.
std::string exact_float(float value);
// Text for a string literal or a comment: printable ASCII, no quotes, backslashes, nor ends of comments.
std::string plain(const std::string& text);

// Votes: of each table of the last layer the output that it counts for; empty where it isn't so.
std::vector<size_t> votes_of(const LutHead& head, size_t tables);

std::vector<SourceFile> c_source(const ExportedNetwork& network, std::span<const RecordedRow> rows);
std::vector<SourceFile> cpp_source(const ExportedNetwork& network, std::span<const RecordedRow> rows);
std::vector<SourceFile> verilog_source(const ExportedNetwork& network, std::span<const RecordedRow> rows);

}  // namespace perfcast
