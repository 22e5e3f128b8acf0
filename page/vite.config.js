// The page of perfcast serve: `npm run build` writes page_built.cc, which CMake compiles into the binary.
import { defineConfig } from 'vite';
import { cppOfFolder } from './embed.js';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    modulePreload: false,
    // Under a content security policy without exceptions nothing may be inline.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: 'page.js', chunkFileNames: '[name].js', assetFileNames: 'page[extname]' },
    },
  },
  plugins: [
    {
      name: 'perfcast-embed',
      apply: 'build',
      closeBundle: () => cppOfFolder('dist', process.env.PERFCAST_DATA ?? '../data', 'page_built.cc'),
    },
  ],
});
