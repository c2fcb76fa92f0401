// The prompts of a run: stdin, @files and positionals become message content (json-mode.md 9.1, 9.2). Stdin is read by a
// function that is called after the stream's header went out.
import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { AgentError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { ImageContent, TextContent } from "../core/message.ts";
import type { PromptArguments } from "./arguments.ts";
import type { FilePart } from "./prompt-files.ts";

/** What standard input is; `none` = closed, the null device, or another device that nobody types into. */
export type StdinKind = "terminal" | "file" | "pipe" | "none";

/** Looks at a descriptor without reading from it. */
export function stdinKindOf(descriptor = 0): StdinKind {
  if (isatty(descriptor)) return "terminal";
  try {
    const stat = fstatSync(descriptor);
    return stat.isFile() ? "file" : stat.isFIFO() || stat.isSocket() ? "pipe" : "none";
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return "none";
  }
}

/** @throws AgentError `usage` when there is no prompt and nobody but a person at a terminal to give one. */
export function checkPromptGiven(parsed: PromptArguments, kind: StdinKind): void {
  if (kind === "terminal" && !parsed.stdin && !isPromptGiven(parsed)) {
    throw new AgentError("usage", "no prompt: give one as an argument, as @FILE, or on stdin (- reads it from the terminal)");
  }
}

export interface PromptSources {
  parsed: PromptArguments;
  /** Parts of the @files, in order. */
  files: readonly FilePart[];
  stdin: { kind: StdinKind; open: () => ReadableStream<Uint8Array> };
  /** The model takes images; else the file's name stands for it. */
  images: boolean;
  /** Takes one line for people. */
  warn: (message: string) => void;
  /** Ends the reading of stdin. */
  signal: AbortSignal;
}

/** The content of each prompt. The first is made of stdin, @files and the first positional, with one blank line in between. */
export async function readPrompts(sources: PromptSources): Promise<(TextContent | ImageContent)[][]> {
  const { parsed, files, images } = sources;
  const [first, ...others] = parsed.prompts;
  const stdin = (await readStdin(sources))?.replace(/[\r\n]+$/, "");
  const texts = [stdin, ...files.map((file) => (file.image !== undefined && !images ? withoutImage(file) : file.text)), first];
  const text = texts.filter((part) => part !== undefined && part.trim() !== "").join("\n\n");
  const blocks = images ? files.flatMap((file) => file.image ?? []) : [];
  return [[textBlock(text), ...blocks], ...others.map((prompt) => [textBlock(prompt)])];
}

function withoutImage(file: FilePart): string {
  return file.text.replace("></file>", ">[an image, and the model takes no images]</file>");
}

function textBlock(text: string): TextContent {
  return { type: "text", text };
}

function isPromptGiven({ prompts, files }: PromptArguments): boolean {
  return prompts.length + files.length > 0;
}

/** The rules of 9.2: what is read, and how long a silent pipe is waited for. */
async function readStdin({ parsed, stdin, warn, signal }: PromptSources): Promise<string | undefined> {
  if (parsed.stdinCommands || stdin.kind === "none" || signal.aborted) return undefined;
  const given = isPromptGiven(parsed) && !parsed.stdin;
  if (stdin.kind === "terminal" && !parsed.stdin) return undefined;
  const reader = stdin.open().getReader();
  const cancel = () => void Promise.allSettled([reader.cancel()]);
  signal.addEventListener("abort", cancel);
  try {
    const first = reader.read();
    if (given && stdin.kind === "pipe" && !(await isSoon(first))) {
      warn("stdin is a pipe that stays silent: it is not read (write - to wait for it)");
      await reader.cancel();
      return undefined;
    }
    return decoded(await readAll(reader, first), warn);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

type Chunk = { done: boolean; value?: Uint8Array | undefined };

async function isSoon(first: Promise<Chunk>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), limits.stdinWaitMs);
  const soon = await Promise.race([first.then(() => true), late.promise]);
  clearTimeout(timer);
  return soon;
}

async function readAll(reader: { read(): Promise<Chunk>; cancel(): Promise<void> }, first: Promise<Chunk>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let chunk = await first; !chunk.done; chunk = await reader.read()) {
    if (chunk.value === undefined) continue;
    length += chunk.value.length;
    if (length > limits.promptPartBytesMax) {
      await reader.cancel();
      throw new AgentError("usage", `stdin holds more than ${limits.promptPartBytesMax} bytes`);
    }
    chunks.push(chunk.value);
  }
  return Buffer.concat(chunks);
}

/** A BOM is dropped; bytes that are not UTF-8 become U+FFFD, and that is said. */
function decoded(bytes: Uint8Array, warn: (message: string) => void): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    warn("stdin is not UTF-8: the bytes that can't be read are shown as U+FFFD");
    return new TextDecoder("utf-8").decode(bytes);
  }
}
