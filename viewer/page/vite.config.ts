// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';

// The built files have fixed names and contain neither a date nor a path, so that anyone who builds this revision gets
// the same bytes as the committed folder dist.
export default defineConfig({
  base: './',
  build: {
    outDir: 'dist',
    target: 'es2022',
    cssTarget: ['chrome109', 'firefox115', 'safari16'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: 'page.js',
        chunkFileNames: '[name].js',
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith('.css')) ? 'page.css' : '[name][extname]'),
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
