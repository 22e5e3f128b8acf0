// Writes a C++ source that holds the built page, and with it the examples that perfcast ships.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { examples } from './src/examples.js';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.csv': 'text/csv; charset=utf-8',
};

// A literal of any bytes. What C++ may read otherwise than it looks, ?? included, is written as an octal number.
function literal(bytes) {
  const lines = [];
  for (let from = 0; from < bytes.length; from += 100) {
    let line = '';
    for (const byte of bytes.subarray(from, from + 100)) {
      const isPlain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 63 && byte !== 92;
      line += isPlain ? String.fromCharCode(byte) : '\\' + byte.toString(8).padStart(3, '0');
    }
    lines.push(`"${line}"`);
  }
  return lines.join('\n');
}

export function cppOfFolder(folder, data, output) {
  const files = readdirSync(folder).map((name) => [
    name === 'index.html' ? '/' : '/' + name,
    readFileSync(join(folder, name)),
  ]);
  files.sort(([a], [b]) => (a < b ? -1 : 1)); // "/" first
  for (const { id, file } of examples) {
    const profile = JSON.parse(readFileSync(join(data, 'profiles', file), 'utf8'));
    files.push([`/examples/${id}.json`, Buffer.from(JSON.stringify(profile))]);
  }
  files.push(['/examples/prices.csv', readFileSync(join(data, 'prices', 'example.csv'))]);
  const entries = files.map(([path, bytes]) => {
    const type = types[path === '/' ? '.html' : extname(path)];
    if (type === undefined) throw new Error(`${path}: embed.js knows no media type for it`);
    return `    {"${path}", "${type}",\n{${literal(bytes)}, ${bytes.length}}},\n`;
  });
  writeFileSync(
    output,
    `// Made by page/embed.js of the folder page/.

#include <array>

#include "service/http/page_files.h"

namespace perfcast::service {

std::span<const PageFile> page_files() {
  static constexpr std::array<PageFile, ${files.length}> kFiles = {{
${entries.join('')}  }};
  return kFiles;
}

}  // namespace perfcast::service
`,
  );
}
