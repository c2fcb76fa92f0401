// The rules of the source that no linter knows: who may import whom, sizes, headers, words, dead exports.
import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

/** Which folders of src may be imported from which; a package is named as it is imported. Everything not listed is refused. */
const importTable: { [folder: string]: { folders: string[]; packages: string[] } } = {
  core: { folders: [], packages: ["zod"] },
  agent: { folders: ["core"], packages: ["zod"] },
  wire: { folders: ["core"], packages: ["zod"] },
  tools: { folders: ["core", "sandbox"], packages: ["zod", "diff", "ignore", "jsonc-parser"] },
  sandbox: { folders: ["core"], packages: [] },
  skills: { folders: ["core"], packages: ["zod"] },
  models: { folders: ["core"], packages: ["zod"] },
  engines: { folders: ["core", "models"], packages: ["zod", "node-llama-cpp", "@huggingface/jinja"] },
  session: { folders: ["core", "agent", "engines", "models", "sandbox", "skills", "tools", "wire"], packages: ["zod"] },
  config: { folders: ["core"], packages: ["zod", "jsonc-parser"] },
  modes: { folders: ["core", "agent", "config", "engines", "models", "sandbox", "session", "skills", "tools", "wire"], packages: ["zod"] },
  cli: { folders: ["core", "config", "engines", "models", "modes", "sandbox", "session", "skills", "tools", "wire"], packages: ["zod", "ajv", "citty", "consola"] },
  client: { folders: ["core", "wire"], packages: [] },
  sidecar: { folders: ["wire"], packages: [] },
};

const lineMax = 300;
const medianMax = 200;

interface SourceFile {
  /** Relative to the repository, with `/`. */
  path: string;
  text: string;
  /** First folder below src; "" for a file right in it. */
  folder: string;
}

const tracked = gitFiles();
const source = tracked.filter((path) => path.startsWith("src/") && path.endsWith(".ts")).map(load);

describe("imports", () => {
  const imports = source.flatMap((file) => importsOf(file.text).map((target) => ({ file, target })));

  test("each import is allowed by the table", () => {
    const refused = imports.filter(({ file, target }) => file.folder !== "" && !isAllowed(file, target));
    expect(refused.map(({ file, target }) => `${file.path} imports ${target}`)).toEqual([]);
  });

  test("each folder of src is in the table, and the table names no other", () => {
    const folders = new Set(source.map(({ folder }) => folder).filter((folder) => folder !== ""));
    expect([...folders].filter((folder) => !(folder in importTable))).toEqual([]);
  });

  test("nothing imports the entry, and only it reaches into cli", () => {
    const wrong = imports.filter(({ file, target }) => targetFile(file, target) === "src/main.ts" || (file.folder === "" && file.path !== "src/main.ts" && folderOf(file, target) === "cli"));
    expect(wrong.map(({ file, target }) => `${file.path} imports ${target}`)).toEqual([]);
  });

  test("the folders of src form no cycle", () => {
    const edges = new Map<string, Set<string>>();
    for (const { file, target } of imports) {
      const to = folderOf(file, target);
      if (to !== undefined && to !== "" && file.folder !== "" && to !== file.folder) edges.set(file.folder, (edges.get(file.folder) ?? new Set()).add(to));
    }
    expect(cycleIn(edges)).toEqual([]);
  });

  test("relative imports name a file that is there, with its extension", () => {
    const missing = imports.filter(({ file, target }) => target.startsWith(".") && !existsSync(join(root, targetFile(file, target) ?? "")));
    expect(missing.map(({ file, target }) => `${file.path} imports ${target}`)).toEqual([]);
  });

  test("each package imported by src is pinned in package.json", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { dependencies: { [name: string]: string } };
    const named = new Set(imports.map(({ target }) => packageOf(target)).filter((name) => name !== undefined));
    expect([...named].filter((name) => !/^\d+\.\d+\.\d+$/.test(dependencies[name] ?? ""))).toEqual([]);
  });
});

describe("files", () => {
  test(`none has over ${lineMax} lines, and the median is at most ${medianMax}`, () => {
    const lengths = source.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
    expect(lengths.filter(({ lines }) => lines > lineMax)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).toSorted((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)] ?? 0).toBeLessThanOrEqual(medianMax);
  });

  test("each begins with a comment that says what it is for, of one to five lines", () => {
    const without = source.filter(({ text }) => {
      const lines = text.replace(/^#!.*\n/, "").split("\n");
      const header = lines.findIndex((line) => !line.startsWith("//"));
      return header < 1 || header > 5 || (lines[0] ?? "").length < 20;
    });
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  test("names are in kebab-case", () => {
    const wrong = tracked.filter((path) => /^(src|build|test)\//.test(path) && /\.(ts|mjs)$/.test(path) && !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|d))?\.(ts|mjs|mts)$/.test(path.slice(path.lastIndexOf("/") + 1)));
    expect(wrong).toEqual([]);
  });
});

/** Words that must not stand in a file; `only` = where they may. */
const banned: { what: string; pattern: RegExp; in: RegExp; only?: RegExp }[] = [
  { what: "writing to stdout past the protocol", pattern: /\bconsole\.\w+\(|\bprocess\.stdout\b|\bBun\.stdout\b/, in: /^src\/.*\.ts$/, only: /^src\/cli\/stdout\.ts$/ },
  { what: "process.exit, which cuts pending output", pattern: /\bprocess\.exit\(/, in: /^src\/.*\.ts$/, only: /^src\/(main|modes\/signals|cli\/stdout|sandbox\/confine-child)\.ts$/ },
  { what: "a switched-off check", pattern: /@ts-(ignore|nocheck|expect-error)|(ox|es)lint-disable/, in: /^(src|build)\/.*\.(ts|mjs)$/ },
  { what: "an empty catch", pattern: /catch\s*(\([^)]*\))?\s*\{\s*\}|\.catch\(\(\)\s*=>\s*\{\s*\}\)/, in: /^(src|build)\/.*\.(ts|mjs)$/ },
  { what: "work left for later", pattern: /\b(TODO|FIXME|XXX)\b/, in: /./, only: /^test\/tidy\.test\.ts$/ },
  { what: "a path of one machine", pattern: /(^|[^A-Za-z0-9_./-])\/(work|root|Users)\//, in: /./ },
  { what: "the host of a package registry", pattern: /registry[.]npmjs|pypi[.]org|files[.]pythonhosted|npmmirror[.]/, in: /./ },
  { what: "a resolved address in the lock file", pattern: /"resolved": *"https?:/, in: /^package-lock\.json$/ },
];

describe("words", () => {
  const texts = tracked.filter((path) => /\.(ts|mjs|mts|json|md|yml|toml|gbnf|txt)$|^\.(ci\/run|npmrc)$/.test(path) && !path.startsWith("build/licenses/") && existsSync(join(root, path)));
  for (const { what, pattern, in: where, only } of banned) {
    test(`no ${what}`, () => {
      const found = texts
        .filter((path) => where.test(path) && !only?.test(path))
        .flatMap((path) => matchingLines(path, pattern));
      expect(found).toEqual([]);
    });
  }
});

describe("exports", () => {
  test("each exported function, class and constant of src is used", () => {
    const code = tracked.filter((path) => /^(src|build|test|examples)\/.*\.(ts|mjs|mts)$/.test(path)).map(load);
    const words = code.map(({ path, text }) => ({ path, words: new Set(text.match(/\w+/g)) }));
    const entries = new Set(["src/main.ts", "src/sidecar/sidecar-events.ts"]);
    const unused = source
      .filter(({ path, folder }) => !entries.has(path) && folder !== "client" && folder !== "wire")
      .flatMap((file) => exportsOf(file.text).filter((name) => !isUsed(name, file, words)).map((name) => `${file.path}: ${name}`));
    expect(unused).toEqual([]);
  });
});

describe("the rules themselves", () => {
  test("imports are found in every form", () => {
    const text = `import a from "one";\nimport type { B } from "./two.ts";\nexport * from "three";\nexport type { C } from "four";\nconst d = await import("five");\nimport "six";\ntype E = import("seven").E;\n// import "not";\nimport {\n  f,\n} from "eight";\n`;
    expect(importsOf(text).toSorted()).toEqual(["./two.ts", "eight", "five", "four", "one", "seven", "six", "three"]);
  });

  test("a forbidden import is refused", () => {
    const file = { path: "src/agent/x.ts", text: "", folder: "agent" };
    expect(["../core/limits.ts", "./y.ts", "zod"].filter((target) => !isAllowed(file, target))).toEqual([]);
    expect(["../tools/fs-read.ts", "node:fs", "bun:sqlite", "citty", "../main.ts"].filter((target) => isAllowed(file, target))).toEqual([]);
  });

  test("banned words are found", () => {
    const samples = ["console.log(1)", "process.exit(1)", "// @ts-ignore", "try { f() } catch {}", "// TODO later", `cd ${["", "root", "x"].join("/")}`, `https://registry.${"npmjs"}.org`, `"resolved": "${"https"}://x"`];
    expect(samples.map((sample, index) => banned[index]?.pattern.test(sample))).toEqual(samples.map(() => true));
  });

  test("a cycle is found", () => {
    expect(cycleIn(new Map([["a", new Set(["b"])], ["b", new Set(["c"])], ["c", new Set(["a"])]]))).toEqual(["a", "b", "c", "a"]);
  });
});

/** Reaches files, sockets and clocks only through what it is handed, so no built-in module either. */
const pure = new Set(["core", "agent", "wire"]);

function isAllowed(file: SourceFile, target: string): boolean {
  const rule = importTable[file.folder];
  if (!rule) return false;
  if (/^(node|bun):|^bun$/.test(target)) return !pure.has(file.folder);
  if (!target.startsWith(".")) return rule.packages.includes(packageOf(target) ?? "");
  const folder = folderOf(file, target);
  if (folder === file.folder) return true;
  if (folder === undefined) return !pure.has(file.folder) && (targetFile(file, target) ?? "").endsWith(".json");
  return folder === "" ? !pure.has(file.folder) && targetFile(file, target) !== "src/main.ts" : rule.folders.includes(folder);
}

function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const forms = [/^\s*(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/gm, /^\s*import\s*["']([^"']+)["']/gm, /\bimport\(\s*["']([^"']+)["']/g];
  return forms.flatMap((form) => [...code.matchAll(form)].map(([, target = ""]) => target));
}

function packageOf(target: string): string | undefined {
  if (target.startsWith(".") || /^(node|bun):|^bun$/.test(target)) return undefined;
  return target.split("/").slice(0, target.startsWith("@") ? 2 : 1).join("/");
}

function targetFile(file: SourceFile, target: string): string | undefined {
  return target.startsWith(".") ? relative(root, resolve(root, dirname(file.path), target)).replaceAll("\\", "/") : undefined;
}

function folderOf(file: SourceFile, target: string): string | undefined {
  const path = targetFile(file, target);
  return path?.startsWith("src/") ? topFolder(path) : undefined;
}

function topFolder(path: string): string {
  const [, folder = "", ...rest] = path.split("/");
  return rest.length > 0 ? folder : "";
}

function cycleIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const visit = (node: string, trail: string[]): string[] => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    for (const next of edges.get(node) ?? []) {
      const found = visit(next, [...trail, node]);
      if (found.length > 0) return found;
    }
    return [];
  };
  for (const node of edges.keys()) {
    const found = visit(node, []);
    if (found.length > 0) return found;
  }
  return [];
}

function exportsOf(text: string): string[] {
  return [...text.matchAll(/^export (?:async )?(?:function\*?|const|let|class)\s+([A-Za-z0-9_]+)/gm)].map(([, name = ""]) => name);
}

/** By another file, or by its own file beyond the declaration (of the value and of a type of the same name). */
function isUsed(name: string, file: SourceFile, words: readonly { path: string; words: ReadonlySet<string> }[]): boolean {
  if (words.some((other) => other.path !== file.path && other.words.has(name))) return true;
  const occurrences = file.text.match(new RegExp(`\\b${name}\\b`, "g"))?.length ?? 0;
  const declaresType = new RegExp(`^export type ${name} = z\\.infer<typeof ${name}>`, "m").test(file.text);
  return occurrences > (declaresType ? 3 : 1);
}

function matchingLines(path: string, pattern: RegExp): string[] {
  const lines = readFileSync(join(root, path), "utf8").split("\n");
  return lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : []));
}

function load(path: string): SourceFile {
  return { path, text: readFileSync(join(root, path), "utf8"), folder: topFolder(path) };
}

/** Files of the repository, whether committed yet or not; ignored ones are none of it. */
function gitFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  return listed.split("\n").filter((path) => path !== "" && existsSync(join(root, path)));
}
