// The part of a conversation that a compaction may shorten, as numbered lines: what each line is, and which must stay
// (json-mode.md 7.4). Texts of errors never get in here.
import { contentText, type AgentMessage, type AssistantMessage } from "../../core/message.ts";
import { compactedTextOf } from "./boundary.ts";
import { isSent } from "./measure.ts";

/** What a line belongs to; `unknown` stands behind a marker, whose header may be gone. */
export type LineKind = "toolResult" | "thinking" | "toolCalls" | "assistant" | "user" | "unknown";

export interface RegionLine {
  text: string;
  kind: LineKind;
  isProtected: boolean;
}

/** Below this many lines there is nothing to compact. */
export const regionLinesMin = 20;

const resultCharsMax = 16_000;

const headers: readonly [string, LineKind][] = [
  ["[User]: ", "user"],
  ["[Assistant thinking]: ", "thinking"],
  ["[Assistant]: ", "assistant"],
  ["[Assistant tool calls]: ", "toolCalls"],
  ["[Tool result]: ", "toolResult"],
];
const headerOf = new Map(headers.map(([header, kind]) => [kind, header]));

const marker = /^\(filtered (\d+) lines\)$/;

/** Lines that a marker stands for; undefined when the line is none. */
export function markedLines(text: string): number | undefined {
  const count = marker.exec(text)?.[1];
  return count === undefined ? undefined : Number(count);
}

export function markerLine(count: number): string {
  return `(filtered ${count} lines)`;
}

export interface Request {
  text: string;
  /** Of a longer one only the lines at its beginning and end stay for sure. */
  charsMax: number;
}

/**
 * @param messages from the boundary, if there is one, to the tail
 * @param request what the user wants now: its own lines stay as long as it is being worked on
 */
export function regionLines(messages: readonly AgentMessage[], request?: Request): RegionLine[] {
  const old = compactedTextOf(messages[0]);
  const lines = old === undefined || old === "" ? [] : oldLines(old);
  const spoken = messages.filter(isSent).slice(old === undefined ? 0 : 1).map(sectionsOf).filter((sections) => sections.length > 0);
  let last: LineKind | undefined;
  for (const sections of spoken) {
    const own: RegionLine[] = [];
    for (const { kind, text } of sections) {
      if (last !== undefined) (own.length === 0 ? lines : own).push({ text: "", kind: last, isProtected: false });
      own.push(...text.split("\n").map((line) => ({ text: line, kind, isProtected: false })));
      last = kind;
    }
    lines.push(...protectedByTags(own));
  }
  if (request !== undefined) protectRequest(lines, request);
  return lines;
}

interface Section {
  kind: LineKind;
  text: string;
}

function sectionsOf(message: AgentMessage): Section[] {
  switch (message.role) {
    case "assistant":
      return assistantSections(message);
    case "toolResult":
      return [section("toolResult", cutResult(contentText(message.content)))];
    case "bashExecution":
      return message.excludeFromContext ? [] : [section("user", `$ ${message.command}\n${message.output}`)];
    case "branchSummary":
      return [section("user", message.summary)];
    default:
      return [section("user", contentText(message.content))];
  }
}

function assistantSections({ content }: AssistantMessage): Section[] {
  const thinking = content.flatMap((block) => (block.type === "thinking" && block.thinking !== "" ? [block.thinking] : []));
  const texts = content.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [`${block.name}(${argumentText(block.arguments)})`] : []));
  return [
    ...(thinking.length > 0 ? [section("thinking", thinking.join("\n"))] : []),
    ...(texts.length > 0 ? [section("assistant", texts.join("\n"))] : []),
    ...(calls.length > 0 ? [section("toolCalls", calls.join("; "))] : []),
  ];
}

function section(kind: LineKind, text: string): Section {
  return { kind, text: `${headerOf.get(kind) ?? ""}${text}` };
}

function argumentText(args: Record<string, unknown>): string {
  return Object.entries(args).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ");
}

function cutResult(text: string): string {
  if (text.length <= resultCharsMax) return text;
  return `${text.slice(0, resultCharsMax).toWellFormed()}\n[${text.length - resultCharsMax} more characters of this result are left out]`;
}

/** Lines of a former compaction; what they are is read off the headers that stayed. */
function oldLines(text: string): RegionLine[] {
  const sections: RegionLine[][] = [[]];
  let kind: LineKind = "unknown";
  for (const line of text.split("\n")) {
    const header = headers.find(([start]) => line.startsWith(start));
    if (header) sections.push([]);
    kind = header ? header[1] : markedLines(line) === undefined ? kind : "unknown";
    sections.at(-1)?.push({ text: line, kind, isProtected: false });
  }
  return sections.flatMap(protectedByTags);
}

const tagKinds: ReadonlySet<LineKind> = new Set(["user", "assistant", "unknown"]);

/** Marks what stands between the lines `<keepContext>` and `</keepContext>` of one message, tags included. */
function protectedByTags(lines: RegionLine[]): RegionLine[] {
  let open = false;
  for (const line of lines) {
    const text = withoutHeader(line).toLowerCase();
    if (!open && text === "<keepcontext>" && tagKinds.has(line.kind)) open = true;
    line.isProtected = open;
    if (text === "</keepcontext>") open = false;
  }
  return lines;
}

function withoutHeader({ kind, text }: RegionLine): string {
  const header = headerOf.get(kind) ?? "";
  return text.startsWith(header) ? text.slice(header.length) : text;
}

/** The newest place where the request stands word for word, also in what an earlier compaction kept. */
function protectRequest(lines: readonly RegionLine[], { text, charsMax }: Request): void {
  const wanted = section("user", text).text.split("\n");
  for (let start = lines.length - wanted.length; start >= 0; start--) {
    if (!wanted.every((line, offset) => lines[start + offset]?.text === line)) continue;
    const own = lines.slice(start, start + wanted.length);
    if (text.length <= charsMax) for (const line of own) line.isProtected = true;
    else for (const side of [own, own.toReversed()]) protectUpTo(side, charsMax / 2);
    return;
  }
}

/** At least the first of the lines. */
function protectUpTo(lines: readonly RegionLine[], charsMax: number): void {
  let chars = 0;
  for (const [index, line] of lines.entries()) {
    chars += line.text.length + 1;
    if (index > 0 && chars > charsMax) return;
    line.isProtected = true;
  }
}
