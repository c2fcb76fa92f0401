// The forms in which models write tool calls as plain text, read from a complete text. Forms and where they come from:
// `<tool_call>` (Hermes, Qwen; with XML parameters: Qwen3-Coder), `<|python_tag|>` and `<function=…>` (Llama 3),
// `[TOOL_CALLS]` (Mistral), `[f(a=1)]` (Llama 3.2/4, "pythonic"), Harmony channels (gpt-oss), bare and fenced JSON.
import { readLiteral, readNamedArguments, skipSpace } from "./literal-reader.ts";

export interface TextCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** Name of a call that has none that can be read; no tool has it, so its result tells the model what there is. */
export const unreadableName = "tool_call";
/** The only argument of a call that can't be read: no tool takes it, so its result quotes it as an error. */
export const unreadableKey = "unreadable_json";
const quotedCharsMax = 200;

export class ToolNames {
  readonly #byPlain: Map<string, string>;

  /** @param names in dot form. */
  constructor(names: readonly string[]) {
    this.#byPlain = new Map(names.map((name) => [plain(name), name]));
  }

  /** The tool that is meant by `fs_list`, `fs-list`, `functions.fs_list` or `fs.list`. */
  find(written: string): string | undefined {
    return this.#byPlain.get(plain(written.replace(/^functions[.:]/, "")));
  }

  /** Every way to begin a call by its name. */
  spellings(): string[] {
    return [...this.#byPlain.values()].flatMap((name) => [name, name.replaceAll(".", "_")]);
  }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

export function unreadableCall(name: string, text: string): TextCall {
  return { name, arguments: { [unreadableKey]: text.slice(0, quotedCharsMax) } };
}

/** Arguments as JSON or nearly; undefined when they are no object. */
export function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  const read = readLiteral(text);
  if (!read || skipSpace(text, read.end) < text.length) return undefined;
  return asObject(typeof read.value === "string" ? readLiteral(read.value)?.value : read.value);
}

/** All calls of a text that began like one. Undefined: it is none, and may be shown. With a marker of a call it always is one. */
export function readCalls(text: string, names: ToolNames): TextCall[] | undefined {
  const trimmed = text.trim();
  for (const form of [harmony, tagged, marked]) {
    const calls = form(trimmed, names);
    if (calls) return calls.length > 0 ? calls : [unreadableCall(unreadableName, trimmed)];
  }
  const [, fenced] = /^```\w*\s*([\s\S]*?)\s*(?:```|$)/.exec(trimmed) ?? [];
  const calls = readBody(fenced ?? trimmed, names);
  return calls?.every((call) => names.find(call.name) !== undefined || isAction(trimmed)) ? calls : undefined;
}

/** Our own form names itself; anything else that looks like JSON may be an answer. */
export function isAction(text: string): boolean {
  return /^\s*(?:```\w*\s*)?\{\s*(?:"goal"\s*:\s*"[a-z]*"\s*,\s*)?"tool"\s*:/.test(text);
}

type Form = (text: string, names: ToolNames) => TextCall[] | undefined;

const harmony: Form = (text, names) => {
  if (!/(?:^|[\s>])to=(?:functions\.)?[\w.-]+/.test(text)) return undefined;
  const messages = text.matchAll(/\bto=(?:functions\.)?([\w.-]+)([\s\S]*?)(?=<\|call\|>|<\|end\|>|<\|start\|>|\bto=functions\.|$)/g);
  return [...messages].map(([, name = "", rest = ""]) => {
    const brace = rest.indexOf("{");
    const args = brace === -1 ? undefined : asObject(readLiteral(rest, brace)?.value);
    return named(name, args, rest, names);
  });
};

const tagged: Form = (text, names) => {
  if (!/<tool_call>|<function=/.test(text)) return undefined;
  const bodies = text.includes("<tool_call>") ? [...text.matchAll(/<tool_call>([\s\S]*?)(?:<\/tool_call>|(?=<tool_call>)|$)/g)].map(([, body = ""]) => body) : [text];
  return bodies.flatMap((body) => xmlCalls(body, names) ?? readBody(body, names) ?? [unreadableCall(unreadableName, body)]);
};

/** `<function=NAME>` with JSON or `<parameter=KEY>` inside. */
function xmlCalls(body: string, names: ToolNames): TextCall[] | undefined {
  const found = [...body.matchAll(/<function=([\w.-]+)>([\s\S]*?)(?:<\/function>|$)/g)];
  if (found.length === 0) return undefined;
  return found.map(([, name = "", inner = ""]) => {
    const parameters = [...inner.matchAll(/<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
    const args = parameters.length > 0 ? Object.fromEntries(parameters.map(([, key = "", value = ""]) => [key, parameterValue(value)])) : readArguments(inner);
    return named(name, args, inner, names);
  });
}

/** Numbers, booleans, lists and objects are written as JSON, text as it is. */
function parameterValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? text : value;
  } catch {
    return text;
  }
}

const marked: Form = (text, names) => {
  const [, marker, body = ""] = /^(<\|python_tag\|>|\[TOOL_CALLS\])\s*([\s\S]*)$/.exec(text) ?? [];
  if (marker === undefined) return undefined;
  const bare = body.replace(/<\|(?:eom_id|eot_id)\|>|<\/s>/g, "");
  const pairs = [...bare.matchAll(/([\w.-]+)\s*(?:\[CALL_ID\][^[]*)?\[ARGS\]([\s\S]*?)(?=\[TOOL_CALLS\]|$)/g)];
  if (pairs.length > 0) return pairs.map(([, name = "", args = ""]) => named(name, readArguments(args), args, names));
  return readBody(bare, names) ?? [];
};

/** JSON values or Python calls, one after the other; undefined as soon as something is neither. */
function readBody(body: string, names: ToolNames): TextCall[] | undefined {
  const calls: TextCall[] = [];
  let at = skipSpace(body, 0);
  const listed = body[at] === "[" && /^\[\s*[A-Za-z]/.test(body.slice(at));
  if (listed) at += 1;
  while (at < body.length) {
    const read = readWritten(body, at, names) ?? readObjects(body, at, names);
    if (!read) return undefined;
    calls.push(...read.calls);
    at = read.end + (/^[\s,;]*/.exec(body.slice(read.end))?.[0].length ?? 0);
    if (listed && body[at] === "]") at = skipSpace(body, at + 1);
  }
  return calls.length > 0 ? calls : undefined;
}

interface ReadCalls {
  calls: TextCall[];
  end: number;
}

/** `fs.list(path=".")` and `fs.list{"path":"."}`, only for tools that there are. */
function readWritten(text: string, start: number, names: ToolNames): ReadCalls | undefined {
  const head = /\s*(?:functions\.)?([A-Za-z][\w.-]*)\s*([({])/y;
  head.lastIndex = start;
  const [, written = "", bracket] = head.exec(text) ?? [];
  const name = names.find(written);
  if (name === undefined) return undefined;
  if (bracket === "{") {
    const read = readLiteral(text, head.lastIndex - 1);
    const args = asObject(read?.value);
    return { calls: [args ? { name, arguments: args } : unreadableCall(name, text.slice(start))], end: args && read ? read.end : text.length };
  }
  const inner = readNamedArguments(text, head.lastIndex) ?? readOnlyObject(text, head.lastIndex);
  return inner ? { calls: [{ name, arguments: inner.value }], end: inner.end } : { calls: [unreadableCall(name, text.slice(start))], end: text.length };
}

/** `fs.list({"path": "."})` */
function readOnlyObject(text: string, start: number): { value: Record<string, unknown>; end: number } | undefined {
  const read = readLiteral(text, start);
  const value = asObject(read?.value);
  const close = read ? skipSpace(text, read.end) : -1;
  return value && text[close] === ")" ? { value, end: close + 1 } : undefined;
}

function readObjects(text: string, start: number, names: ToolNames): ReadCalls | undefined {
  const read = readLiteral(text, start);
  if (!read) return undefined;
  const values = Array.isArray(read.value) ? read.value : [read.value];
  const calls = values.map((value) => callOf(value, names));
  return calls.every((call) => call !== undefined) && calls.length > 0 ? { calls, end: read.end } : undefined;
}

/** `{"tool","args"}`, `{"name","arguments"|"parameters"}`, or either inside `{"function":…}`. */
function callOf(value: unknown, names: ToolNames): TextCall | undefined {
  const object = asObject(value);
  if (!object) return undefined;
  if (asObject(object["function"])) return callOf(object["function"], names);
  const name = object["tool"] ?? object["name"] ?? object["function"] ?? object["tool_name"];
  if (typeof name !== "string") return undefined;
  const given = object["args"] ?? object["arguments"] ?? object["parameters"] ?? {};
  const args = typeof given === "string" ? readArguments(given) : asObject(given);
  return named(name, args, JSON.stringify(given), names);
}

function named(written: string, args: Record<string, unknown> | undefined, text: string, names: ToolNames): TextCall {
  const name = names.find(written) ?? written;
  return args ? { name, arguments: args } : unreadableCall(name, text.trim());
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}
