import { defineConfig } from "vite";

// The worker is one file at the root, so that all of the page is in its scope; it shares no chunk with the page.
export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    emptyOutDir: false,
    modulePreload: { polyfill: false },
    rollupOptions: { input: "src/worker/sw.ts", output: { format: "iife", entryFileNames: "sw.js" } },
  },
});
