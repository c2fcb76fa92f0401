// Reads an answer that arrives as plain text: what is thought, what is said, what is a tool call. Text that may still
// become a call is held back, so that a call is never shown as an answer; a call inside thinking is thinking.
import { isAction, readCalls, readArguments, unreadableCall, unreadableName, type ToolNames } from "./call-forms.ts";
import { beginningAtEnd } from "./thinking-marks.ts";

export type TextPiece =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "call_start"; name: string }
  | { type: "call_delta"; delta: string }
  | { type: "call_end"; arguments: Record<string, unknown> };

const thinkingTags: readonly (readonly [string, string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["[THINK]", "[/THINK]"],
  ["<|channel|>analysis<|message|>", "<|end|>"],
];
/** Marks of the Harmony form around what is said. */
const dropped = ["<|start|>assistant", "<|channel|>final<|message|>", "<|return|>", "<|end|>"];
const callMarkers = ["<tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "<function=", "<|channel|>commentary"];
/** How an action in the form of our system text begins; white space left out. */
const actionForms = ['{"tool":', '{"goal":"answer","tool":', '{"goal":"change","tool":'];
const jsonForms = [...actionForms, '{"name":"', '{"function":', '{"type":"function"', '[{"name":"', '[{"tool":', '[{"function":'];
/** How a line begins that may be a call; white space left out. */
const lineForms = [...jsonForms, "commentaryto=", "assistantto=", "to=functions."];
const fences = ["```", "```json", "```tool_call", "```tool_code"];
const actionHead = /^\s*\{\s*(?:"goal"\s*:\s*"[a-z]*"\s*,\s*)?"tool"\s*:\s*"([^"\\]*)"\s*,\s*"(?:args|arguments|parameters)"\s*:\s*(?=\{)/;
const actionHeadCharsMax = 200;
/** More than any opening has. */
const lookAheadChars = 200;

type Mode = { at: "open" } | { at: "thinking"; close: string } | { at: "held" } | { at: "action" } | { at: "arguments"; scan: ObjectScan } | { at: "tail" };

type Opening = { at: number; length: number; mode: Mode };

export class TextCalls {
  readonly #names: ToolNames;
  readonly #lineForms: readonly string[];
  readonly #callsAllowed: boolean;
  #mode: Mode = { at: "open" };
  #pending = "";
  #atLineStart = true;
  /** Last character that was said since the beginning or the last thought. */
  #lastSaid = "";
  #afterThinking = false;

  /** Without names nothing is taken for a call. */
  constructor(names: ToolNames) {
    this.#names = names;
    const spelled = names.spellings();
    this.#callsAllowed = spelled.length > 0;
    const written = spelled.flatMap((name) => [`${name}(`, `${name}{`, `[${name}(`, `functions.${name}(`]);
    this.#lineForms = this.#callsAllowed ? [...lineForms, ...fences.flatMap((fence) => jsonForms.map((form) => fence + form)), ...written] : [];
  }

  push(delta: string): TextPiece[] {
    this.#pending += delta;
    return [...this.#drain(false)];
  }

  /** @param cut whether the output limit ended the text: then an open call stays open. */
  end(cut: boolean): TextPiece[] {
    const pieces = [...this.#drain(true)];
    if (this.#mode.at === "held" || this.#mode.at === "action") {
      const text = this.#pending;
      this.#pending = "";
      pieces.push(...this.#settle(text));
    } else if (this.#mode.at === "arguments" && !cut) {
      pieces.push({ type: "call_end", arguments: unreadableCall("", this.#mode.scan.text).arguments });
    }
    this.#mode = { at: "open" };
    return pieces;
  }

  *#drain(final: boolean): Generator<TextPiece> {
    for (;;) {
      const before = this.#pending;
      const { at } = this.#mode;
      yield* this.#advance(final);
      if (this.#pending === "" || (this.#pending === before && this.#mode.at === at)) return;
    }
  }

  *#advance(final: boolean): Generator<TextPiece> {
    const mode = this.#mode;
    switch (mode.at) {
      case "open":
        return yield* this.#readOpen(final);
      case "thinking":
        return yield* this.#readThinking(mode.close, final);
      case "held":
        return;
      case "action":
        return yield* this.#readActionHead();
      case "arguments":
        return yield* this.#readArguments(mode.scan);
      case "tail": {
        const next = this.#pending.search(/[^\s}]/);
        this.#pending = next === -1 ? "" : this.#pending.slice(next);
        if (next !== -1) this.#mode = { at: "open" };
        this.#atLineStart = true;
      }
    }
  }

  *#readOpen(final: boolean): Generator<TextPiece> {
    if (this.#afterThinking) this.#pending = this.#pending.trimStart();
    const blank = this.#lastSaid === "" && !this.#afterThinking;
    // White space before a call is no answer.
    if (blank && !final && this.#pending.trim() === "") return;
    const { keepFrom, opening } = this.#look(final);
    const end = opening ? opening.at : keepFrom;
    const text = this.#pending.slice(0, end);
    if (text !== "" && !(blank && text.trim() === "")) {
      yield { type: "text", text };
      this.#atLineStart = text.endsWith("\n");
      this.#lastSaid = text.at(-1) ?? "";
      this.#afterThinking = false;
    }
    this.#pending = this.#pending.slice(end + (opening?.length ?? 0));
    if (opening) this.#mode = opening.mode;
  }

  /** The first thing that is no plain text, or from where on the text may become one. */
  #look(final: boolean): { opening?: Opening; keepFrom: number } {
    const text = this.#pending;
    let blankLine = this.#atLineStart;
    for (let at = 0; at < text.length; at += 1) {
      const character = text[at] ?? "";
      const lineStart = blankLine;
      if (character === "\n") blankLine = true;
      else if (/\S/.test(character)) blankLine = false;
      if (!lineStart && character !== "<" && character !== "[") continue;
      const found = this.#openingAt(text.slice(at, at + lookAheadChars), lineStart, (at > 0 ? text[at - 1] : this.#lastSaid) === "`");
      if (found === "maybe" && !final) return { keepFrom: at };
      if (found !== "maybe" && found) return { opening: { ...found, at }, keepFrom: at };
    }
    return { keepFrom: text.length };
  }

  #openingAt(rest: string, lineStart: boolean, quoted: boolean): Omit<Opening, "at"> | "maybe" | undefined {
    const maybe = (form: string): boolean => rest.length < form.length && form.startsWith(rest);
    for (const [open, close] of lineStart ? thinkingTags : []) {
      if (rest.startsWith(open)) return { length: open.length, mode: { at: "thinking", close } };
      if (maybe(open)) return "maybe";
    }
    if (!this.#callsAllowed || quoted) return undefined;
    for (const mark of dropped) {
      if (rest.startsWith(mark)) return { length: mark.length, mode: { at: "open" } };
      if (maybe(mark)) return "maybe";
    }
    for (const marker of callMarkers) {
      if (rest.startsWith(marker)) return { length: 0, mode: { at: "held" } };
      if (maybe(marker)) return "maybe";
    }
    return lineStart ? this.#lineOpening(rest) : undefined;
  }

  #lineOpening(rest: string): Omit<Opening, "at"> | "maybe" | undefined {
    if (/^\s/.test(rest)) return undefined;
    const compact = rest.replace(/\s+/g, "");
    const form = this.#lineForms.find((candidate) => compact.startsWith(candidate));
    if (form !== undefined) return { length: 0, mode: { at: actionForms.includes(form) ? "action" : "held" } };
    return this.#lineForms.some((candidate) => candidate.startsWith(compact)) ? "maybe" : undefined;
  }

  *#readThinking(close: string, final: boolean): Generator<TextPiece> {
    const at = this.#pending.indexOf(close);
    const end = at !== -1 ? at : final ? this.#pending.length : this.#pending.length - beginningAtEnd(this.#pending, close);
    const text = this.#pending.slice(0, end);
    if (text !== "") yield { type: "thinking", text };
    this.#pending = this.#pending.slice(at === -1 ? end : at + close.length);
    if (at === -1) return;
    this.#afterThinking = true;
    this.#mode = { at: "open" };
    this.#atLineStart = true;
  }

  *#readActionHead(): Generator<TextPiece> {
    const match = actionHead.exec(this.#pending);
    if (match) {
      const written = match[1] ?? "";
      yield { type: "call_start", name: this.#names.find(written) ?? written };
      this.#pending = this.#pending.slice(match[0].length);
      this.#mode = { at: "arguments", scan: new ObjectScan() };
    } else if (this.#pending.length > actionHeadCharsMax) this.#mode = { at: "held" };
  }

  *#readArguments(scan: ObjectScan): Generator<TextPiece> {
    const length = scan.push(this.#pending);
    const delta = this.#pending.slice(0, length);
    if (delta !== "") yield { type: "call_delta", delta };
    this.#pending = this.#pending.slice(length);
    if (!scan.done) return;
    yield { type: "call_end", arguments: readArguments(scan.text) ?? unreadableCall("", scan.text).arguments };
    this.#mode = { at: "tail" };
  }

  /** What was held back turns out to be calls, or text after all. */
  #settle(held: string): TextPiece[] {
    const calls = readCalls(held, this.#names) ?? (isAction(held) ? [unreadableCall(unreadableName, held)] : undefined);
    if (!calls) return held === "" ? [] : [{ type: "text", text: held }];
    return calls.flatMap((call): TextPiece[] => [
      { type: "call_start", name: call.name },
      { type: "call_delta", delta: JSON.stringify(call.arguments) },
      { type: "call_end", arguments: call.arguments },
    ]);
  }
}

/** Finds the end of a JSON object that arrives in pieces. */
class ObjectScan {
  #pieces: string[] = [];
  #depth = 0;
  #inString = false;
  #escaped = false;
  done = false;

  get text(): string {
    return this.#pieces.join("");
  }

  /** @returns how many characters of the piece belong to the object. */
  push(piece: string): number {
    let at = 0;
    while (at < piece.length && !this.done) {
      this.#step(piece[at] ?? "");
      at += 1;
    }
    this.#pieces.push(piece.slice(0, at));
    return at;
  }

  #step(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inString) {
      if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#inString = false;
    } else if (character === '"') this.#inString = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") {
      this.#depth -= 1;
      this.done = this.#depth === 0;
    }
  }
}
