import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";

// The server compares the page's origin with the host that it is asked as, so the host is passed on as it came.
const server = { target: process.env.DEV_SERVER ?? "http://127.0.0.1:8000", changeOrigin: false };

export default defineConfig({
  plugins: [solid()],
  build: {
    target: "es2022",
    // The policy of the page forbids data: URLs, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/api": server, "/login": server, "/highlight.css": server },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
