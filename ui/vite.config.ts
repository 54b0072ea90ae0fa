import type { Plugin } from "vite";
import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";

// The server compares the page's origin with the host that it is asked as, so the host is passed on as it came.
const server = { target: process.env.DEV_SERVER ?? "http://127.0.0.1:8000", changeOrigin: false };

const on_every_page =
  /\/src\/(index|kit\/CopyButton|shell\/(Dock|SessionHeader)|talk\/(Prose|askText)|changes\/(count|summary))\.tsx?$/;

/** Of marked only the lexer is used. Its last lines make a parser with a renderer, which would keep the rest of it in the page. */
const onlyLexer: Plugin = {
  name: "only-lexer",
  apply: "build",
  transform: {
    filter: { id: /\/marked\/lib\/marked\.esm\.js$/ },
    handler(code) {
      const end = code.search(/var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse\(/);
      const lexer = /\b(\w+) as Lexer\b/.exec(code)?.[1];
      if (end < 0 || !lexer) this.error("marked is written differently now: see what of it is still loaded");
      return { code: `${code.slice(0, end)}export{${lexer} as Lexer};`, map: null };
    },
  },
};

/** Vite's own helper also preloads what a part needs. Nothing is preloaded here, so the event about a failure is all that is left of it. */
const plainImports: Plugin = {
  name: "plain-imports",
  apply: "build",
  enforce: "pre",
  load: {
    filter: { id: /^\0vite\/preload-helper\.js$/ },
    handler: () => `export const __vitePreload = (load) => load().catch((error) => {
      dispatchEvent(new Event("vite:preloadError"));
      throw error;
    });`,
  },
};

export default defineConfig({
  plugins: [solid(), onlyLexer, plainImports],
  build: {
    target: "es2022",
    // The policy of the page forbids data: URLs, so nothing is inlined.
    assetsInlineLimit: 0,
    // A part that could not be loaded is asked for again, which the list of what it needs would not survive; so there is none,
    // and the styles are one file.
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      // What every page needs is one file, with the small things that most need, and so is a conversation.
      output: {
        codeSplitting: {
          groups: [
            { name: "page", test: on_every_page, priority: 1 },
            // Who has begun to write a session can send it without the server.
            { name: "Home", test: /\/src\/shell\/(Home|FreshSession)\.tsx$/ },
            { name: "SessionView", test: /\/src\/shell\/SessionView\.tsx$/ },
          ],
        },
      },
    },
  },
  // The grammars of the highlighter are chunks of their own, which only a module can load.
  worker: { format: "es" },
  server: {
    proxy: { "/api": server, "/login": server },
    // A test reads what the server can say from the server's own sources.
    ...(process.env.VITEST ? { fs: { allow: [".."] } } : {}),
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    // A machine that others share may stand still for seconds.
    testTimeout: 30_000,
    // Styles are left out, but where a test reads them.
    css: { include: /\.css\?raw/ },
  },
});
