// An action as a text engine writes it in one generation, in a form of action-form.ts, and how it is read while it is written.
// Several calls, each on a line of its own, only when every one reads. The grammar leaves nothing else, so that reading can't
// fail on what a grammar-bound engine wrote. In a form with goals the goal comes first because a small model that has said that
// it only answers no longer changes files: under that goal the grammar offers nothing that could.
import type { ActionEvent } from "../core/engine.ts";
import type { ToolSpec } from "../core/tool.ts";
import { type ActionForm, type Goal, goals, jsonForm } from "./action-form.ts";
import { GrammarRules, literal, replyRule, type JsonSchema } from "./gbnf.ts";
import { objectBody, schemaRule, type ForbiddenObject } from "./grammar.ts";
import { JsonStringReader, JsonValueReader } from "./json-reader.ts";
import { offeredVariants, type OfferOptions } from "./offer.ts";
import { severalCalls } from "./several-calls.ts";
import { oneOf, plainText } from "./text-sets.ts";

export interface ActionGrammarOptions {
  /** Absent = one JSON object. */
  form?: ActionForm;
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
export function actionGrammar({ form = jsonForm, tools, parallelMax, forbidden, offer, mayReply = true, mayClaim = true, isChange = false, outputSchema }: ActionGrammarOptions): string {
  const rules = new GrammarRules();
  const goalsOf = (isOpen: boolean): readonly Goal[] => (isChange ? ["change"] : isOpen ? goals : ["answer"]);
  const opened = (hint: string, among: readonly Goal[], openOf: (goal: Goal) => string): string => oneOf(rules, among.map(openOf), hint);
  const alternatives: string[] = [];
  for (const { tool, offered } of tools.flatMap((each) => offeredVariants(each, offer).map((variant) => ({ tool: each, offered: variant })))) {
    const value = objectBody(rules, offered, tool.name, forbidden?.get(tool.name) ?? [], 0);
    if (value === undefined) continue;
    const { name } = tool;
    const head = opened(`${name}-head`, tool.class === "write" ? ["change"] : goalsOf(true), (goal) => form.call(goal, name).open);
    const tail = literal(form.call("answer", name).close);
    alternatives.push(rules.add(`${name}-call`, `${head} ${value} ${tail}`));
    const several = tool.class === "read" && severalCalls(rules, name, { offered, forbidden: forbidden?.get(name) ?? [], parallelMax, callOf: (args) => `${head} ${literal(JSON.stringify(args))} ${tail}` });
    if (several) alternatives.push(several);
  }
  if ((mayReply && (mayClaim || !isChange)) || alternatives.length === 0) alternatives.unshift(replyAction(rules, form, goalsOf(mayClaim), outputSchema));
  return `root ::= ${alternatives.join(" | ")}\n${rules}`;
}

function replyAction(rules: GrammarRules, form: ActionForm, among: readonly Goal[], outputSchema: JsonSchema | undefined): string {
  const isJson = outputSchema !== undefined;
  const { close } = form.reply("answer", isJson);
  const open = oneOf(rules, among.map((goal) => form.reply(goal, isJson).open), "reply-head");
  const text = isJson ? schemaRule(rules, outputSchema, "output") : close === undefined ? plainText(rules, form.stop ?? "", "plain") : replyRule(rules);
  return rules.add("reply", `${open} ${text}${close === undefined ? "" : ` ${literal(close)}`}`);
}

/** The text of calls as the model writes them; for histories whose original text isn't known. */
export function actionText(calls: readonly { name: string; arguments: Record<string, unknown> }[], form = jsonForm, goal: Goal = "answer"): string {
  return calls.map(({ name, arguments: args }) => `${form.call(goal, name).open}${JSON.stringify(args)}${form.call(goal, name).close}`).join("\n");
}

/** The text of a reply as the model writes it. */
export function replyText(text: string, form = jsonForm, goal: Goal = "answer"): string {
  const { close, open } = form.reply(goal, false);
  return close === undefined ? open + text : open + JSON.stringify(text).slice(1, -1) + close;
}

/** More than any head the grammar allows; a longer one is no action. */
const headCharsMax = 300;

type Phase =
  | { at: "head"; text: string }
  | { at: "string"; reader: JsonStringReader; close: string }
  | { at: "plain" }
  | { at: "value"; reader: JsonValueReader; reply: boolean; close: string }
  | { at: "tail"; close: string };

/** Reads one action piece by piece; says what it is while it is still being written. */
export class ActionDecoder {
  readonly #form: ActionForm;
  readonly #jsonReply: boolean;
  #phase: Phase = { at: "head", text: "" };
  #index = -1;

  constructor(options: { form?: ActionForm; jsonReply?: boolean } = {}) {
    this.#form = options.form ?? jsonForm;
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
    const events: ActionEvent[] = [];
    const short = this.#phase.at === "head" ? this.#phase.text.trimStart() : "";
    // A reply so short that it could have become a call.
    if (short !== "" && this.#index < 0 && this.#form.stop !== undefined && !short.startsWith(this.#form.stop)) {
      this.#beginReply(events);
      this.#advance(short, events);
    }
    const phase = this.#phase;
    const isReply = phase.at === "string" || phase.at === "plain" || (phase.at === "value" && phase.reply);
    if (isReply) events.push({ type: "text_end", index: this.#index });
    const isBetween = phase.at === "head" && phase.text.trim() === "" && this.#index >= 0;
    // The end of a number or of true shows in nothing that follows.
    const isBare = phase.at === "value" && phase.reply && phase.close === "" && /^[^\s{["]/.test(phase.reader.text.trim());
    return { events, complete: isBetween || isBare || phase.at === "tail" || phase.at === "plain" };
  }

  #advance(text: string, events: ActionEvent[]): string {
    const phase = this.#phase;
    switch (phase.at) {
      case "head":
        return this.#readHead(phase.text + text, events);
      case "string": {
        const { delta, rest, done } = phase.reader.push(text);
        if (delta !== "") events.push({ type: "text_delta", index: this.#index, delta });
        if (done) this.#finish({ type: "text_end", index: this.#index }, phase.close.slice(1), events);
        return rest;
      }
      case "plain":
        events.push({ type: "text_delta", index: this.#index, delta: text });
        return "";
      case "value":
        return this.#readValue(phase, text, events);
      case "tail":
        return this.#readTail(phase, text);
    }
  }

  #readHead(text: string, events: ActionEvent[]): string {
    const reply = this.#replyStart(text);
    if (reply !== undefined) {
      this.#beginReply(events);
      return text.slice(reply);
    }
    const match = this.#form.callHead.exec(text);
    const name = match?.[1] ?? "";
    if (!match || match[0].length === text.length || name === "reply") {
      if (text.length > headCharsMax) throw new SyntaxError(`not an action: ${text.slice(0, 80)}`);
      this.#phase = { at: "head", text };
      return "";
    }
    this.#index += 1;
    events.push({ type: "call_start", index: this.#index, name });
    this.#phase = { at: "value", reader: new JsonValueReader(), reply: false, close: this.#form.call("answer", name).close };
    return text.slice(match[0].length);
  }

  /** Where the text of a reply begins; undefined while it is none, or may still be none. */
  #replyStart(text: string): number | undefined {
    const { replyHead, stop } = this.#form;
    if (stop !== undefined) {
      const start = text.length - text.trimStart().length;
      return stop.startsWith(text.slice(start, start + stop.length)) ? undefined : start;
    }
    return replyHead?.[this.#jsonReply ? "json" : "text"].exec(text)?.[0].length;
  }

  #beginReply(events: ActionEvent[]): void {
    const { close } = this.#form.reply("answer", this.#jsonReply);
    this.#index += 1;
    events.push({ type: "text_start", index: this.#index, terminal: "reply" });
    if (this.#jsonReply) this.#phase = { at: "value", reader: new JsonValueReader(), reply: true, close: close ?? "" };
    else this.#phase = close === undefined ? { at: "plain" } : { at: "string", reader: new JsonStringReader(), close };
  }

  #readValue(phase: { reader: JsonValueReader; reply: boolean; close: string }, text: string, events: ActionEvent[]): string {
    const { taken, rest, done } = phase.reader.push(text);
    const index = this.#index;
    if (taken !== "") events.push(phase.reply ? { type: "text_delta", index, delta: taken } : { type: "call_delta", index, delta: taken });
    if (done && phase.reply) this.#finish({ type: "text_end", index }, phase.close, events);
    else if (done) this.#finish({ type: "call_end", index, arguments: asArguments(phase.reader.text) }, phase.close, events);
    return rest;
  }

  #finish(event: ActionEvent, close: string, events: ActionEvent[]): void {
    events.push(event);
    this.#phase = { at: "tail", close: close.replace(/\s/g, "") };
  }

  /** What closes the action and the white space before the next one. */
  #readTail(phase: { close: string }, text: string): string {
    for (const [at, character] of [...text].entries()) {
      if (character.trim() === "") continue;
      if (!phase.close.startsWith(character)) {
        this.#phase = { at: "head", text: "" };
        return [...text].slice(at).join("");
      }
      phase.close = phase.close.slice(character.length);
    }
    return "";
  }
}

function asArguments(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError(`arguments are no object: ${text.slice(0, 80)}`);
  return value as Record<string, unknown>;
}
