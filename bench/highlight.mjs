// Compares libraries that colour code: size, speed, and what a hostile line does to them. Installs them into a directory that
// is removed again. See docs/decisions/highlighting.md for what followed from it.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const packages = [
  "highlight.js@11.12.0",
  "@shikijs/core@3.13.0",
  "@shikijs/engine-javascript@3.13.0",
  "@shikijs/langs@3.13.0",
  "@shikijs/themes@3.13.0",
  "@lezer/highlight@1.2.1",
  ...["javascript", "rust", "python", "css", "html", "json", "java", "cpp", "php", "go", "yaml", "xml", "markdown"].map(
    (name) => `@lezer/${name}@1`,
  ),
  "esbuild@0.25.10",
];
const of_highlightjs =
  "typescript javascript rust python go java kotlin swift c cpp csharp php ruby bash sql json yaml xml css scss markdown diff ini dockerfile makefile lua perl r haskell elixir scala dart powershell nginx protobuf graphql";
const of_shiki = of_highlightjs.replace(" dockerfile makefile", " docker make").replace(" protobuf", " proto");
const of_lezer = "javascript rust python css html json java cpp php go yaml xml markdown";

const names = (list) => list.split(" ");
const sources = {
  "highlight.js": `
    import hljs from "highlight.js/lib/core";
    ${names(of_highlightjs).map((name, at) => `import l${at} from "highlight.js/lib/languages/${name}";`).join("\n")}
    ${names(of_highlightjs).map((name, at) => `hljs.registerLanguage("${name}", l${at});`).join("\n")}
    export const colour = (text, language) => hljs.highlight(text, { language, ignoreIllegals: true }).value.length;`,
  lezer: `
    import { highlightTree, classHighlighter } from "@lezer/highlight";
    ${names(of_lezer).map((name, at) => `import { parser as p${at} } from "@lezer/${name}";`).join("\n")}
    const parsers = { ${names(of_lezer).map((name, at) => `${name}: p${at}`).join(", ")} };
    parsers.typescript = parsers.javascript.configure({ dialect: "ts" });
    export const colour = (text, language) => {
      let count = 0;
      highlightTree(parsers[language].parse(text), classHighlighter, () => count++);
      return count;
    };`,
  shiki: `
    import { createHighlighterCoreSync } from "@shikijs/core";
    import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
    import theme from "@shikijs/themes/github-light";
    ${names(of_shiki).map((name, at) => `import l${at} from "@shikijs/langs/${name}";`).join("\n")}
    const shiki = createHighlighterCoreSync({
      themes: [theme], langs: [${names(of_shiki).map((_, at) => `l${at}`).join(", ")}],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    });
    export const colour = (text, lang) => shiki.codeToTokensBase(text, { lang, theme: "github-light" }).length;`,
};

const typescript = [
  "export async function take<T>(items: Map<string, T[]>, limit = 10): Promise<T[]> {",
  "  // What was asked for first is given first.",
  '  const name = `item ${limit + 1} of ${items.size}`;',
  "  for (const [key, values] of items) if (/^[a-z]+(\\d*)$/.test(key)) return values.slice(0, limit);",
  '  throw new Error("nothing: " + name);',
  "}",
  "",
  "export class Box<T> extends Map<string, T> { private readonly count: number = 0x1f; get size() { return this.count; } }",
];
const rust = [
  "/// What was asked for first is given first.",
  "pub async fn take<'a, T: Clone>(items: &'a HashMap<String, Vec<T>>, limit: usize) -> Result<Vec<T>, Error> {",
  '    let name = format!("item {} of {}", limit + 1, items.len());',
  "    for (key, values) in items.iter().filter(|(key, _)| !key.is_empty()) {",
  "        if matches!(key.chars().next(), Some('a'..='z')) { return Ok(values[..limit].to_vec()); }",
  "    }",
  '    Err(Error::new(r#"nothing"#, name, 0x1f_u32))',
  "}",
];
const lines = (block, count) => Array.from({ length: count }, (_, at) => block[at % block.length]).join("\n");
const minified = 'function a(b,c){return b?c.d("e",/f+/g):{h:[1,2,3],i:`j${k}`}};'.repeat(17_000).slice(0, 1_000_000);
const samples = {
  "2,000 lines of TypeScript": ["typescript", lines(typescript, 2_000)],
  "2,000 lines of Rust": ["rust", lines(rust, 2_000)],
  "one line of 1 MB, minified": ["javascript", minified],
  "100,000 open brackets": ["javascript", "(".repeat(100_000)],
  "50,000 x `/(`, a regex never closed": ["javascript", "x = /(".repeat(50_000)],
  "100,000 backslashes in a string": ["typescript", `"${"\\".repeat(100_000)}`],
  "20,000 x `<a `, a tag never closed": ["xml", "<a ".repeat(20_000)],
  "50,000 x `*_`, emphasis never closed": ["markdown", "*_".repeat(50_000)],
};
const limit_ms = 20_000;

const place = mkdtempSync(join(tmpdir(), "highlight-"));
try {
  writeFileSync(join(place, "package.json"), '{"private":true,"type":"module"}');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: place, stdio: "inherit" });
  for (const [name, source] of Object.entries(sources)) {
    writeFileSync(join(place, "entry.js"), source);
    const bundle = join(place, "bundle.mjs");
    const flags = ["entry.js", "--bundle", "--minify", "--format=esm", "--target=es2022", `--outfile=${bundle}`];
    execFileSync(join(place, "node_modules/.bin/esbuild"), [...flags, "--log-level=error"], { cwd: place });
    const size = gzipSync(readFileSync(bundle)).length;
    const count = names({ "highlight.js": of_highlightjs, lezer: of_lezer, shiki: of_shiki }[name]).length;
    console.log(`${name}: ${count} languages, ${(size / 1000).toFixed(0)} kB gzip in one bundle`);
    for (const [what, [language, text]] of Object.entries(samples)) console.log(`  ${what}: ${measure(bundle, language, text)}`);
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** In a process of its own, which is ended when it takes too long: that is what the page's worker does too. */
function measure(bundle, language, text) {
  const script = `
    import { colour } from ${JSON.stringify(bundle)};
    import { readFileSync } from "node:fs";
    const text = readFileSync(0, "utf8");
    const times = [];
    for (let round = 0; round < 5 && times.reduce((sum, ms) => sum + ms, 0) < 3000; round++) {
      const start = performance.now();
      colour(text, ${JSON.stringify(language)});
      times.push(performance.now() - start);
    }
    console.log(\`\${times[0].toFixed(0)} ms at first, then \${Math.min(...times).toFixed(0)} ms\`);`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { input: text, timeout: limit_ms });
  if (run.error?.code === "ETIMEDOUT" || run.signal) return `not done after ${limit_ms / 1000} s`;
  return run.status === 0 ? run.stdout.toString().trim() : `fails: ${run.stderr.toString().match(/\w*Error: .*/)?.[0] ?? "?"}`;
}
