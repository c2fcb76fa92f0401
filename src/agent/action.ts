// The text form of an action: what a text engine writes in one generation, and how it is read while it is written.
// One JSON object a line, {"goal":GOAL,"tool":NAME,"args":{…}}; several lines only when every call reads. The grammar leaves
// nothing else, so that reading can't fail on what a grammar-bound engine wrote. The goal comes first because a small model
// that has said that it only answers no longer changes files: under that goal the grammar offers nothing that could.
import type { ActionEvent } from "../core/engine.ts";
import type { ToolSpec } from "../core/tool.ts";
import { GrammarRules, characterRule, literal, type JsonSchema } from "./gbnf.ts";
import { objectBody, schemaRule, type ForbiddenObject } from "./grammar.ts";
import { JsonStringReader, JsonValueReader } from "./json-reader.ts";
import { offeredVariants, type OfferOptions } from "./offer.ts";
import { severalCalls } from "./several-calls.ts";

export interface ActionGrammarOptions {
  tools: readonly ToolSpec[];
  /** Reading calls that one action may hold. */
  parallelMax: number;
  /** Arguments, by tool, that must not be written. */
  forbidden?: ReadonlyMap<string, readonly ForbiddenObject[]>;
  offer?: OfferOptions;
  /** False: something has to be tried before the reply. */
  mayReply?: boolean;
  /** Something has to be changed: that is the goal of every action. */
  isChange?: boolean;
  /** False: nothing was changed yet, so that no reply ends a change. */
  mayClaim?: boolean;
  /** The reply is a JSON value of this schema instead of text. */
  outputSchema?: JsonSchema;
}

/** GBNF for one action: a reply, one call, or several calls that only read. */
export function actionGrammar({ tools, parallelMax, forbidden, offer, mayReply = true, mayClaim = true, isChange = false, outputSchema }: ActionGrammarOptions): string {
  const rules = new GrammarRules();
  const replyArguments = outputSchema
    ? schemaRule(rules, outputSchema, "output")
    : `"{\\"text\\":\\"" ${characterRule(rules)}+ "\\"}"`;
  const change = literal(headOf("change"));
  const heads = { any: isChange ? change : rules.add("head", goals.map((goal) => literal(headOf(goal))).join(" | ")), change };
  const reply = rules.add("reply", `${mayClaim || isChange ? heads.any : literal(headOf("answer"))} ${literal('"reply","args":')} ${replyArguments} "}"`);
  const alternatives: string[] = [];
  for (const { tool, offered } of tools.flatMap((each) => offeredVariants(each, offer).map((variant) => ({ tool: each, offered: variant })))) {
    const value = objectBody(rules, offered, tool.name, forbidden?.get(tool.name) ?? [], 0);
    if (value === undefined) continue;
    const head = tool.class === "write" ? heads.change : heads.any;
    const call = rules.add(`${tool.name}-call`, `${head} ${literal(`${JSON.stringify(tool.name)},"args":`)} ${value} "}"`);
    alternatives.push(call);
    const several = tool.class === "read" && severalCalls(rules, tool.name, { offered, forbidden: forbidden?.get(tool.name) ?? [], parallelMax, callOf: (args) => `${head} ${literal(`${JSON.stringify(tool.name)},"args":${JSON.stringify(args)}}`)}` });
    if (several) alternatives.push(several);
  }
  if ((mayReply && (mayClaim || !isChange)) || alternatives.length === 0) alternatives.unshift(reply);
  return `root ::= ${alternatives.join(" | ")}\n${rules}`;
}

const goals = ["answer", "change"] as const;

function headOf(goal: (typeof goals)[number]): string {
  return `{"goal":"${goal}","tool":`;
}

/** The text of calls as the model writes them; for histories whose original text isn't known. */
export function actionText(calls: readonly { name: string; arguments: Record<string, unknown> }[], goal: (typeof goals)[number] = "answer"): string {
  return calls.map((call) => `${headOf(goal)}${JSON.stringify(call.name)},"args":${JSON.stringify(call.arguments)}}`).join("\n");
}

/** The text of a reply as the model writes it. */
export function replyText(text: string): string {
  return actionText([{ name: "reply", arguments: { text } }]);
}

const head = /^\s*\{\s*(?:"goal"\s*:\s*"[a-z]*"\s*,\s*)?"tool"\s*:\s*"([^"\\]*)"\s*,\s*"args"\s*:\s*/;
/** More than any head the grammar allows; a longer one is no action. */
const headCharsMax = 300;

type Phase =
  | { at: "head"; text: string }
  | { at: "reply-key"; text: string }
  | { at: "reply"; reader: JsonStringReader }
  | { at: "arguments"; reader: JsonValueReader; reply: boolean }
  | { at: "tail" };

/** Reads one action piece by piece; says what it is while it is still being written. */
export class ActionDecoder {
  #phase: Phase = { at: "head", text: "" };
  #index = -1;
  #jsonReply: boolean;

  constructor(options: { jsonReply?: boolean } = {}) {
    this.#jsonReply = options.jsonReply ?? false;
  }

  /** @throws SyntaxError when the text can't be an action. */
  push(text: string): ActionEvent[] {
    const events: ActionEvent[] = [];
    let rest = text;
    while (rest !== "") rest = this.#advance(rest, events);
    return events;
  }

  /** Closes what an output limit or an abort cut; false when the text ended inside an action. */
  end(): { events: ActionEvent[]; complete: boolean } {
    const phase = this.#phase;
    const events: ActionEvent[] = [];
    const complete = (phase.at === "head" && phase.text.trim() === "" && this.#index >= 0) || phase.at === "tail";
    if (phase.at === "reply" || (phase.at === "arguments" && phase.reply)) events.push({ type: "text_end", index: this.#index });
    return { events, complete };
  }

  #advance(text: string, events: ActionEvent[]): string {
    const phase = this.#phase;
    switch (phase.at) {
      case "head":
        return this.#readHead(phase.text + text, events);
      case "reply-key":
        return this.#readReplyKey(phase.text + text);
      case "reply": {
        const { delta, rest, done } = phase.reader.push(text);
        if (delta !== "") events.push({ type: "text_delta", index: this.#index, delta });
        if (done) this.#finish({ type: "text_end", index: this.#index }, events);
        return rest;
      }
      case "arguments":
        return this.#readArguments(phase, text, events);
      case "tail":
        return this.#readTail(text);
    }
  }

  #readHead(text: string, events: ActionEvent[]): string {
    const match = head.exec(text);
    if (!match || match[0].length === text.length) {
      if (text.length > headCharsMax) throw new SyntaxError(`not an action: ${text.slice(0, 80)}`);
      this.#phase = { at: "head", text };
      return "";
    }
    const name = match[1] ?? "";
    this.#index += 1;
    if (name === "reply") {
      events.push({ type: "text_start", index: this.#index, terminal: "reply" });
      this.#phase = this.#jsonReply ? { at: "arguments", reader: new JsonValueReader(), reply: true } : { at: "reply-key", text: "" };
    } else {
      events.push({ type: "call_start", index: this.#index, name });
      this.#phase = { at: "arguments", reader: new JsonValueReader(), reply: false };
    }
    return text.slice(match[0].length);
  }

  #readReplyKey(text: string): string {
    const match = /^\{\s*"text"\s*:\s*"/.exec(text);
    if (match) {
      this.#phase = { at: "reply", reader: new JsonStringReader() };
      return text.slice(match[0].length);
    }
    if (text.length > headCharsMax) throw new SyntaxError(`not a reply: ${text.slice(0, 80)}`);
    this.#phase = { at: "reply-key", text };
    return "";
  }

  #readArguments(phase: { reader: JsonValueReader; reply: boolean }, text: string, events: ActionEvent[]): string {
    const { taken, rest, done } = phase.reader.push(text);
    const index = this.#index;
    if (taken !== "") events.push(phase.reply ? { type: "text_delta", index, delta: taken } : { type: "call_delta", index, delta: taken });
    if (done && phase.reply) this.#finish({ type: "text_end", index }, events);
    else if (done) this.#finish({ type: "call_end", index, arguments: asArguments(phase.reader.text) }, events);
    return rest;
  }

  #finish(event: ActionEvent, events: ActionEvent[]): void {
    events.push(event);
    this.#phase = { at: "tail" };
  }

  /** Closing brackets of the action and the line end before the next one. */
  #readTail(text: string): string {
    const next = text.search(/[^\s}]/);
    if (next < 0) return "";
    this.#phase = { at: "head", text: "" };
    return text.slice(next);
  }
}

function asArguments(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError(`arguments are no object: ${text.slice(0, 80)}`);
  return value as Record<string, unknown>;
}
