import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";

const server = process.env.VOXPILOT_DEV_SERVER ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [solid()],
  build: {
    target: "es2022",
    // The policy of the page forbids data: URLs, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/api": server, "/highlight.css": server },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
