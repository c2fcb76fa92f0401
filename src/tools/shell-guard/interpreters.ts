// Programs that run whatever a file or an argument tells them, so that their name says nothing about what will happen; and
// the files of the workspace that decide it.
import { posix } from "node:path";
import type { Invocation } from "./invocations.ts";
import { operandsOf, textsOf } from "./targets.ts";
import { shells } from "./wrappers.ts";

const languages = /^(python[0-9.]*|pypy[0-9.]*|ipython[0-9.]*|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|irb|php|lua[0-9.]*|luajit|Rscript|R|julia|groovy|scala|guile|racket|tclsh|wish|expect|osascript|awk|gawk|mawk|nawk|sed|vim?|nvim|emacs|ed|ex|gdb|lldb|jshell|swift|powershell|pwsh|elixir|erl|ghci|runghc|runhaskell|sqlite3|dotnet|java|m4)$/;
const builders = /^(make|gmake|bmake|cmake|ninja|meson|scons|rake|just|task|ant|mvn|gradle|gradlew|bazel|buck|sbt|lein|npm|npx|pnpm|pnpx|yarn|bunx|turbo|nx|gulp|grunt|vite|webpack|rollup|jest|vitest|mocha|pytest|tox|nox|uv|uvx|pipx|pip[0-9.]*|poetry|pdm|hatch|pipenv|conda|cargo|go|cabal|stack|composer|bundle|gem|docker|podman|docker-compose|vagrant|ansible|ansible-playbook|terraform|pre-commit|xcodebuild|fastlane|flutter|dart)$/;

/** Runs a program that is given to it as text. */
export function isInterpreter(name: string): boolean {
  return shells.has(name) || languages.test(name);
}

/** A language or a build tool, a shell with code, or git with settings on its command line. */
export function canRunAnything(invocation: Invocation): boolean {
  const { name } = invocation;
  if (name === "git") return textsOf(invocation).some((text, at, all) => /^(--exec-path=|--config-env=)/.test(text) || (text === "-c" && all.indexOf("-c") === at) || /^-c./.test(text) || /^--(upload|receive)-pack/.test(text));
  return isInterpreter(name) || builders.test(name);
}

const plans: [program: RegExp, files: string[]][] = [
  [/^g?make$|^bmake$/, ["GNUmakefile", "makefile", "Makefile"]],
  [/^(npm|pnpm|yarn|bun|npx|turbo|nx)$/, ["package.json"]],
  [/^just$/, ["justfile", "Justfile"]],
  [/^task$/, ["Taskfile.yml", "Taskfile.yaml"]],
  [/^rake$/, ["Rakefile", "rakefile"]],
  [/^(cargo)$/, ["Cargo.toml", "build.rs"]],
  [/^(gradle|gradlew)$/, ["build.gradle", "build.gradle.kts"]],
  [/^mvn$/, ["pom.xml"]],
  [/^ant$/, ["build.xml"]],
  [/^(docker-compose|docker|podman)$/, ["Dockerfile", "compose.yaml", "docker-compose.yml"]],
  [/^cmake$/, ["CMakeLists.txt"]],
  [/^pytest$/, ["conftest.py"]],
];

/** Absolute paths of files that decide what it does: the program itself, a script, a build tool's plan. They may be missing. */
export function filesStarted(invocation: Invocation): string[] {
  const { name, program, scope, file, cwd } = invocation;
  const resolved = (path: string): string[] => scope.resolve(path) === undefined ? [] : [scope.resolve(path) ?? path];
  const own = program.includes("/") ? resolved(program) : [];
  const scripts = isInterpreter(name) || name === "go" || name === "cargo" ? operandsOf(invocation).filter((text) => !/\s/.test(text)).flatMap(resolved) : [];
  const named = textsOf(invocation).flatMap((text, at, all) => (/^(-f|--file|--makefile|-C|--directory)$/.test(all[at - 1] ?? "") ? resolved(text) : []));
  const folders = [cwd, ...named].filter((folder) => folder !== undefined);
  const plan = plans.filter(([pattern]) => pattern.test(name)).flatMap(([, files]) => folders.flatMap((folder) => files.map((each) => posix.join(folder, each))));
  return [...own, ...(file === undefined ? [] : [file]), ...scripts, ...named, ...plan];
}
