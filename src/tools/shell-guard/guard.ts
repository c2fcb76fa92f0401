// Judges a command line before it runs, in the order of sidecar.md 7.2. What can't be read for sure counts as unsafe and
// the verdict says so. It looks at the text alone; what a confined command may do is the sandbox's matter.
import { dangersOf } from "./danger.ts";
import { hardlineOf } from "./hardline.ts";
import { canRunAnything, filesStarted, isInterpreter } from "./interpreters.ts";
import { type Invocation, type Line, readLine } from "./invocations.ts";
import { findingsOf, type NarrowerFacts, type ShellCategory } from "./narrower.ts";
import { isSafe } from "./safe.ts";
import type { Surroundings } from "./scope.ts";
import { textsOf } from "./targets.ts";

export type { ShellCategory };

export type Verdict =
  | { kind: "blocked"; what: string }
  | { kind: "safe" }
  | {
      kind: "asked";
      /** At least `shell`, then every narrower one that fits. */
      categories: ShellCategory[];
      /** What the command does that has to be known, in words that follow "the command". */
      reasons: string[];
      /** A danger, or code that can't be seen: asked for each time, and not silent because of a sandbox. */
      dangerous: boolean;
      /** Absolute paths of the files that decide what it does; they may be missing. */
      files: string[];
    };

export function judgeCommand(command: string, surroundings: Surroundings, facts: NarrowerFacts): Verdict {
  const line = readLine(command, surroundings);
  const blocked = blockedBy(line, surroundings);
  if (blocked !== undefined) return { kind: "blocked", what: blocked };
  if (isSafe(line)) return { kind: "safe" };
  const dangers = dangersOf(line);
  const findings = line.invocations.flatMap((invocation) => findingsOf(invocation, facts));
  const unread = line.problems.length === 0 ? [] : [`can't be read for sure (${[...new Set(line.problems)].join(", ")})`];
  const anything = [...new Set(line.invocations.filter(canRunAnything).map(({ name }) => name))].map((name) => `starts ${name}, which can run anything`);
  return {
    kind: "asked",
    categories: [...new Set<ShellCategory>(["shell", ...findings.map(({ category }) => category)])],
    reasons: [...new Set([...dangers, ...findings.map(({ what }) => what), ...unread, ...anything])],
    dangerous: dangers.length > 0 || unread.length > 0,
    files: [...new Set(line.invocations.flatMap(filesStarted))],
  };
}

/** Code in another language that starts commands: each of its strings is looked at as a command. */
const startsCommands = /\b(system|popen|Popen|exec\w*|spawn\w*|run|call|check_output|check_call|getoutput|shell_exec|passthru|qx|backticks)\b|`/;
const removesTree = /\b(rmtree|rm_rf|rmSync|rm|remove_dir_all|rmdir|rimraf|deltree|emptyDirSync|removeSync)\w*\s*\(?\s*(?:pathlib\.)?(?:Path\()?["'`](\/|\/\*|~\/?)["'`]/;

function blockedBy(line: Line, surroundings: Surroundings): string | undefined {
  for (const invocation of line.invocations) {
    const own = hardlineOf(invocation) ?? (isInterpreter(invocation.name) ? blockedInCode(invocation, surroundings) : undefined);
    if (own !== undefined) return own;
  }
  return undefined;
}

function blockedInCode(invocation: Invocation, surroundings: Surroundings): string | undefined {
  for (const code of textsOf(invocation)) {
    if (removesTree.test(code)) return "recursive removal of the root folder or of the home";
    if (!startsCommands.test(code)) continue;
    const texts = [...code.matchAll(/(["'`])((?:\\[\s\S]|(?!\1)[\s\S])*)\1/g)].map(([, , text = ""]) => text);
    // A command can also be a list of words.
    for (const text of [...texts, texts.join(" ")]) {
      const found = readLine(text, surroundings).invocations.map(hardlineOf).find((what) => what !== undefined);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
