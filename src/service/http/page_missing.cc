// In place of the page, where it was not built: cmake/page.cmake chooses.

#include <array>

#include "service/http/page_files.h"

namespace perfcast::service {

std::span<const PageFile> page_files() {
  static constexpr std::array<PageFile, 1> kFiles = {{{"/", "text/html; charset=utf-8",
                                                       R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>perfcast</title>
<h1>perfcast</h1>
<p>The service runs. This perfcast was built without its page, because npm or its packages were missing.
<p>To get the page, install nodejs (18 or newer) and npm. Then build perfcast again, with -DPERFCAST_PAGE=ON.
<p>What the service can be asked is in <a href="/openapi.json">/openapi.json</a>.
</html>
)"}}};
  return kFiles;
}

}  // namespace perfcast::service
