// What a task of the evaluation is, and how its outcome is judged: by what is on disk and by facts in the reply,
// never by wording. A task is described as data; `task` makes the check of it.
import { createHash } from "node:crypto";

/** Paths to contents; a path that ends in `/` is an empty folder. */
export type Files = { [path: string]: string };

/** What a file must have become: this text, gone (null), or something that a function takes. */
export type Change = string | null | ((content: string) => boolean);

/** A text is looked for as a whole word, in any case. */
export type Fact = string | RegExp;

export interface Outcome {
  reply: string;
  /** Only what differs from the task's files; null = gone. */
  changes?: { [path: string]: string | null };
}

export interface TaskData {
  /** Decides the half, so it never changes. */
  name: string;
  /** As a person would write it. */
  prompt: string;
  files: Files;
  says?: readonly Fact[];
  not?: readonly Fact[];
  /** The number that the reply must give; its neighbours must not stand there, nor a crowd of numbers. */
  count?: number;
  /** Every path that is not named here must be as it was. */
  disk?: { [path: string]: Change };
  /** Everything that the above cannot say. @returns whether it is right */
  holds?: (reply: string, after: Files, before: Files) => boolean;
  /** One right outcome; without `changes` it is what `disk` says. */
  solution: Outcome;
  /** Other right replies over the same disk. */
  alsoRight?: readonly string[];
  /** Plausible outcomes that are not right: a text is a reply over the right disk. */
  wrong?: readonly (string | Outcome)[];
}

export interface Task {
  name: string;
  category: string;
  prompt: string;
  files: Files;
  /** @returns what is wrong, in words; empty = solved */
  check(reply: string, after: Files, before: Files): string[];
  solution: { reply: string; after: Files };
  alsoRight: readonly string[];
  wrong: readonly { reply: string; after: Files }[];
}

export type Half = "tuning" | "control";

export function halfOf(name: string): Half {
  // A quarter of the byte values: the rest may be looked at.
  return (createHash("sha256").update(name).digest()[0] ?? 0) % 4 === 3 ? "control" : "tuning";
}

export function tasksOf(category: string, all: readonly TaskData[]): Task[] {
  return all.map((data) => {
    const before = filesOnly(data.files);
    const right = apply(before, data.solution.changes ?? fixedChanges(data.disk ?? {}));
    const wrong = (data.wrong ?? []).map((outcome) => (typeof outcome === "string" ? { reply: outcome, after: right } : { reply: outcome.reply, after: apply(before, outcome.changes ?? {}) }));
    return { name: data.name, category, prompt: data.prompt, files: data.files, check: (reply, after, before) => faults(data, plain(reply), withoutCaches(after), before), solution: { reply: data.solution.reply, after: right }, alsoRight: data.alsoRight ?? [], wrong };
  });
}

/** What a folder holds once it is made: a folder without files is not seen. */
export function filesOnly(files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !path.endsWith("/")));
}

/** An honest "that is not there" or "that cannot be done". */
export const denial = /\b(no|not|none|nothing|cannot|can't|couldn't|doesn't|didn't|isn't|aren't|wasn't|don't|unable|impossible|missing|lacks?|failed|empty|blank|unknown)\b/i;

function faults(data: TaskData, reply: string, after: Files, before: Files): string[] {
  const found: string[] = [];
  for (const fact of data.says ?? []) if (!pattern(fact).test(reply)) found.push(`the reply does not say ${String(fact)}`);
  for (const fact of data.not ?? []) if (pattern(fact).test(reply)) found.push(`the reply says ${String(fact)}`);
  if (data.count !== undefined) found.push(...countFaults(reply, data.count));
  found.push(...diskFaults(data.disk ?? {}, after, before));
  if (found.length === 0 && data.holds?.(reply, after, before) === false) found.push("what is asked for does not hold");
  return found;
}

function diskFaults(disk: { [path: string]: Change }, after: Files, before: Files): string[] {
  const found: string[] = [];
  for (const path of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (path in disk) continue;
    if (after[path] !== before[path]) found.push(after[path] === undefined ? `${path} is gone` : `${path} ${path in before ? "changed" : "appeared"}`);
  }
  for (const [path, change] of Object.entries(disk)) {
    const content = after[path];
    if (change === null) {
      if (content !== undefined) found.push(`${path} is still there`);
    } else if (content === undefined) found.push(`${path} is not there`);
    else if (typeof change === "string" ? withoutEnd(content) !== withoutEnd(change) : !change(content)) found.push(`${path} is not what it should be`);
  }
  return found;
}

const numberWords = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

function countFaults(reply: string, count: number): string[] {
  const text = numberWords.reduce((text, word, index) => text.replace(new RegExp(`\\b${word}\\b`, "gi"), String(index + 2)), reply);
  // Numbers of a list, those inside of names and enumerations in parentheses are no answers.
  const said = text.replace(/^\s*\d+[.)]\s/gm, "").replace(/\([^()]*\d[^()]*\b\d[^()]*\)/g, "");
  const numbers = new Set([...said.matchAll(/(?<![\w.-])\d+(?![\w-]|[.,]\d)/g)].map(([digits]) => Number(digits)));
  if (!numbers.has(count)) return [`the reply does not count ${count}`];
  const answers = [...numbers].filter((number) => number <= 100);
  if (numbers.has(count - 1) || numbers.has(count + 1) || answers.length > 4) return ["the reply gives other numbers too"];
  return [];
}

function pattern(fact: Fact): RegExp {
  if (typeof fact !== "string") return fact;
  return new RegExp(`(?<![\\w]|\\d[.,])${fact.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w]|[.,]\\d)`, "i");
}

/** Without the marks of Markdown, and with one kind of apostrophe. */
function plain(reply: string): string {
  return reply.replace(/[*`]/g, "").replace(/[’‘]/g, "'");
}

/** A line end more or less at the end of a file is no fault. */
function withoutEnd(content: string): string {
  return content.replace(/(\r?\n)+$/, "");
}

function withoutCaches(files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !/(^|\/)(__pycache__|\.pytest_cache)\//.test(path)));
}

function apply(before: Files, changes: { [path: string]: string | null }): Files {
  const entries = Object.entries({ ...before, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

function fixedChanges(disk: { [path: string]: Change }): { [path: string]: string | null } {
  return Object.fromEntries(
    Object.entries(disk).map(([path, change]) => {
      if (typeof change === "function") throw new Error(`${path} is judged by a function: the solution needs \`changes\``);
      return [path, change];
    }),
  );
}
