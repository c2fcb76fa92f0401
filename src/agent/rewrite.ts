// A small file is made and changed best when the model writes it as it writes text anywhere: apart from the conversation, in a
// fenced block, told nothing but the file and the request. As quotes and replacements in JSON a small model repeats what it saw.
import type { ChatMessage } from "../core/engine.ts";
import { isMarkdown } from "../core/named-files.ts";
import { literal, repetition } from "./gbnf.ts";

export interface Rewrite {
  /** The name of the tool that writes it. */
  tool: string;
  path: string;
  /** Where a file that is not there yet may belong, when that is not sure. */
  places?: readonly string[];
  /** What the file held when it was first asked for, byte for byte; undefined for one that is to be made. */
  content?: string;
  /** Other files that the request speaks of. */
  beside: readonly { path: string; content: string }[];
  request: string;
  /** What was said by the command that failed. */
  failure?: string;
  /** What was found out, such as a count. */
  found?: readonly string[];
  /** What was written into files that were made: not meant for this one as well. */
  made?: readonly string[];
  /** Lines are to be taken out. */
  mayShrink: boolean;
  /** Answers that were asked for before and did not help: each further one is sampled in another way. */
  tries: number;
  /** How many may be asked for now, as long as they are of no use. */
  triesMax: number;
}

const system = "You edit files. Change only what is asked for; everything else stays exactly as it is.";
const systemOfNew = "You write files. Write what is asked for, and nothing else.";
const failureCharsMax = 600;

export function rewriteChat({ beside, content, failure, found = [], path, request }: Rewrite): ChatMessage[] {
  const shown = [...beside, ...(content === undefined ? [] : [{ path, content }])].map((file) => block(file.path, file.content));
  const known = [...shown, ...found.map((text) => `${text}\n`)].map((text) => `${text}\n`).join("");
  const failed = failure === undefined ? "" : `Now it ends with:\n${failure.slice(-failureCharsMax).toWellFormed()}\n\n`;
  return [
    { role: "system", text: content === undefined ? systemOfNew : system },
    { role: "user", text: `${known}${request}\n\n${failed}Write the whole new ${path}.` },
  ];
}

/** What the answer repeats most of. */
export function draftOf({ beside, content = "" }: Rewrite): string {
  return plain([content, ...beside.map((file) => file.content)].join("\n"));
}

/** Asks which of the places is meant. */
export function placeChat({ path, request }: Rewrite): ChatMessage[] {
  return [
    { role: "system", text: systemOfNew },
    { role: "user", text: `${request}\n\nWhat is the path of ${path}?` },
  ];
}

export function placeGrammar(places: readonly string[]): string {
  return `root ::= ${places.map(literal).join(" | ")}`;
}

function block(path: string, content: string): string {
  const fence = fenceOf(content);
  return `${path}:\n${fence}\n${plain(content).replace(/(?<!\n)$/, "\n")}${fence}\n`;
}

/** One block with a fence of its own, and nothing else. */
export function rewriteGrammar(rewrite: Rewrite): string {
  const fence = fenceIn(rewrite);
  const line = `line ::= "\`"${repetition(0, fence.length - 1)} ([^\`\\n\\r\\x00] [^\\n\\r\\x00]*)? "\\n"`;
  if (!mayNest(rewrite)) return `root ::= "${fence}" [a-z]{0,12} "\\n" line* "${fence}"\n${line}`;
  return `root ::= "${fence}" [a-z]{0,12} "\\n" (line | inner)* "${fence}"\n${line}\ninner ::= "${fence}" [a-z] [^\`\\n\\r\\x00]* "\\n" line* "${fence}\\n"`;
}

/** Of Markdown: blocks that say what they hold, inside of the one that holds it all. With a longer fence around them a small model does not find the end. */
function mayNest({ content = "", path }: Rewrite): boolean {
  return isMarkdown(path) && !/^`{4,}/m.test(content) && [...content.matchAll(/^```.*$/gm)].every(([mark], index) => index % 2 === 1 || /^```[a-z]/.test(mark));
}

function fenceIn(rewrite: Rewrite): string {
  return mayNest(rewrite) ? "```" : fenceOf(rewrite.content ?? "");
}

/** Longer than any that begins a line of the text. */
function fenceOf(content: string): string {
  const longest = Math.max(2, ...[...content.matchAll(/^`{3,}/gm)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}

/** The file's new content; undefined for a block that is not whole, that changes nothing, or that leaves out most of the file. */
export function rewritten(rewrite: Rewrite, answer: string): string | undefined {
  const { content: before = "", mayShrink } = rewrite;
  const fence = fenceIn(rewrite);
  const start = answer.indexOf("\n") + 1;
  if (start === 0 || !answer.trimEnd().endsWith(`\n${fence}`)) return undefined;
  const text = answer.slice(start, answer.lastIndexOf(fence));
  const after = inStyleOf(before, text);
  const [linesBefore, linesAfter] = [before, after].map((one) => one.split("\n").filter((line) => line.trim() !== "").length) as [number, number];
  const isLoss = linesAfter === 0 || (!mayShrink && linesAfter * 2 < linesBefore);
  return isLoss || after === before ? undefined : after;
}

/** What a new file was made of is not changed into the same; two lines may well be equal. */
export function isMadeAlready({ made = [] }: Rewrite, text: string): boolean {
  return text.trim().includes("\n") && made.some((other) => plain(other).trim() === plain(text).trim());
}

/** With the line ends, the byte order mark and the open or closed end that the file has, and its blanks behind lines that stay. */
function inStyleOf(before: string, text: string): string {
  const blanks = new Map(plain(before).split("\n").filter((line) => line !== line.trimEnd()).map((line) => [line.trimEnd(), line]));
  const lines = text.replace(/\n$/, "").split("\n").map((line) => blanks.get(line) ?? line);
  const ended = lines.join("\n") + (before.endsWith("\n") || before === "" ? "\n" : "");
  return (before.startsWith("\uFEFF") ? "\uFEFF" : "") + (before.includes("\r\n") ? ended.replaceAll("\n", "\r\n") : ended);
}

function plain(content: string): string {
  return content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

const changedLinesMax = 12;
const lineCharsMax = 120;

/** What the model is told of its change: the lines that went and came. */
export function changedText({ content = "", path }: Rewrite, after: string): string {
  const [old, now] = [content, after].map((text) => plain(text).split("\n"));
  const without = (lines: readonly string[] = [], others: readonly string[] = [], sign: string): string[] => lines.filter((line) => line.trim() !== "" && !others.includes(line)).map((line) => `${sign} ${line.slice(0, lineCharsMax)}`);
  const lines = [...without(old, now, "-"), ...without(now, old, "+")];
  return `(changed in ${path}:\n${lines.slice(0, changedLinesMax).join("\n")}${lines.length > changedLinesMax ? `\nand ${lines.length - changedLinesMax} more lines` : ""})`;
}
