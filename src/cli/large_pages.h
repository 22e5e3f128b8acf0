#pragma once

namespace perfcast::cli {

// Before anything else: lets the heap grow in steps that the kernel can back by large pages. A first touch of 4 KiB
// costs as much as thousands of instructions, above all in virtual machines, and a forecast touches some 25 MiB once:
// half of its time where each page is touched alone. Where large pages are forbidden, nothing changes.
void use_large_pages();

}  // namespace perfcast::cli
