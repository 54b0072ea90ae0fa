// The language of a file by its name, and of a fence by its label.

import type { Language } from "./languages";

/** Labels and endings that are not the name of the language itself. */
const others: Record<string, Language> = {
  bat: "powershell",
  bzl: "python",
  cc: "cpp",
  cfg: "ini",
  cjs: "javascript",
  clj: "clojure",
  cljs: "clojure",
  conf: "ini",
  console: "bash",
  "c++": "cpp",
  cs: "csharp",
  "c#": "csharp",
  cts: "typescript",
  cxx: "cpp",
  docker: "dockerfile",
  env: "bash",
  ex: "elixir",
  exs: "elixir",
  gql: "graphql",
  golang: "go",
  h: "c",
  hh: "cpp",
  hpp: "cpp",
  hs: "haskell",
  htm: "xml",
  html: "xml",
  js: "javascript",
  json5: "json",
  jsonc: "json",
  jsonl: "json",
  jsx: "javascript",
  ksh: "bash",
  kt: "kotlin",
  kts: "kotlin",
  m: "objectivec",
  make: "makefile",
  md: "markdown",
  mdx: "markdown",
  mjs: "javascript",
  mk: "makefile",
  mm: "objectivec",
  mts: "typescript",
  ndjson: "json",
  patch: "diff",
  pl: "perl",
  pm: "perl",
  proto: "protobuf",
  ps1: "powershell",
  py: "python",
  pyi: "python",
  rb: "ruby",
  rs: "rust",
  sc: "scala",
  sh: "bash",
  shell: "bash",
  svelte: "xml",
  svg: "xml",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vue: "xml",
  xhtml: "xml",
  yml: "yaml",
  zsh: "bash",
};

/** Files that are known by their whole name. */
const files: Record<string, Language> = {
  "cmakelists.txt": "cmake",
  containerfile: "dockerfile",
  dockerfile: "dockerfile",
  gemfile: "ruby",
  gnumakefile: "makefile",
  makefile: "makefile",
  rakefile: "ruby",
  ".bashrc": "bash",
  ".editorconfig": "ini",
  ".gitconfig": "ini",
  ".npmrc": "ini",
  ".profile": "bash",
};

const own = new Set<string>(
  (
    "bash c clojure cmake cpp csharp css dart diff dockerfile elixir go graphql haskell ini java javascript json kotlin less lua " +
    "makefile markdown nginx nix objectivec perl php powershell protobuf python r ruby rust scala scss sql swift typescript xml yaml"
  ).split(" "),
);

/** By the label of a fence: ```ts. */
export function languageNamed(label: string): Language | null {
  const name = label.trim().toLowerCase();
  return own.has(name) ? (name as Language) : (Object.hasOwn(others, name) && others[name]) || null;
}

export function languageOf(path: string): Language | null {
  const name = (path.split("/").at(-1) ?? "").toLowerCase();
  if (Object.hasOwn(files, name)) return files[name] ?? null;
  const dot = name.lastIndexOf(".");
  return dot < 0 ? null : languageNamed(name.slice(dot + 1));
}
