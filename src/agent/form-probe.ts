// Which form of an action a model does best with, where nobody knows: it is asked for a few actions in each of them, apart from
// any conversation, and what it writes is judged.
import { z } from "zod";
import type { ActionEvent, ChatMessage, TextEngine } from "../core/engine.ts";
import type { Usage } from "../core/message.ts";
import type { ToolSpec } from "../core/tool.ts";
import { ActionDecoder, actionGrammar, actionText } from "./action.ts";
import type { ActionForm } from "./action-form.ts";
import { systemText } from "./prompt.ts";

const file = z.string().meta({ existing: "file" });
const tools: readonly ToolSpec[] = [
  { name: "fs.read", description: "Read a text file.", class: "read", schema: z.strictObject({ path: file }) },
  { name: "fs.edit", description: "Replace a piece of text in a file.", class: "write", schema: z.strictObject({ path: file, oldText: z.string(), newText: z.string() }) },
  { name: "fs.trash", description: "Delete a file.", class: "write", schema: z.strictObject({ path: file }) },
];
const names = { files: ["app.ini", "house.txt", "notes.md"], folders: ["."] };

interface Written {
  reply?: string;
  call?: { name: string; arguments: Record<string, unknown> };
}

interface Trial {
  request: string;
  /** Calls that were made, with their results. */
  done: readonly (readonly [name: string, args: Record<string, unknown>, result: string])[];
  isRight(written: Written): boolean;
}

const read = (path: string): readonly [string, Record<string, unknown>] => ["fs.read", { path }];
const edit = { path: "app.ini", oldText: "limit = 5", newText: "limit = 8" };

/** Look, answer, change, say that it is done, just reply. */
export const trials: readonly Trial[] = [
  { request: "Which limit is set in app.ini?", done: [], isRight: ({ call }) => call?.name === "fs.read" && call.arguments["path"] === "app.ini" },
  { request: "Which colour has the roof in house.txt?", done: [[...read("house.txt"), "door red\nroof blue\nwall white"]], isRight: ({ reply = "" }) => /blue/i.test(reply) && !/red|white/i.test(reply) },
  { request: "Set the limit in app.ini to 8.", done: [[...read("app.ini"), "size = 3\nlimit = 5"]], isRight: ({ call }) => call?.name === "fs.edit" && String(call.arguments["oldText"]).includes("5") && String(call.arguments["newText"]).includes("8") },
  { request: "Set the limit in app.ini to 8.", done: [[...read("app.ini"), "size = 3\nlimit = 5"], ["fs.edit", edit, "replaced 1 place"]], isRight: ({ reply }) => reply !== undefined },
  { request: "Thanks!", done: [], isRight: ({ reply }) => reply !== undefined },
];

const tokensMax = 64;

/** @returns how many of the trials the model does right in this form; undefined when the engine failed or was stopped */
export async function probeForm(engine: TextEngine, form: ActionForm, signal: AbortSignal, spend: (usage: Usage) => void): Promise<number | undefined> {
  const system: ChatMessage = { role: "system", text: systemText({ tools, additions: [] }).text(form) };
  const grammar = actionGrammar({ form, tools, parallelMax: 1, offer: { names } });
  let right = 0;
  for (const { done, isRight, request } of trials) {
    const told = done.flatMap(([name, args, result]): ChatMessage[] => [
      { role: "assistant", text: actionText([{ name, arguments: args }], form, done.length > 1 ? "change" : "answer") },
      { role: "user", text: `Result of ${name}:\n${result}\n\n(The user's request: ${request})` },
    ]);
    const written = await answerTo([system, { role: "user", text: request }, ...told], { engine, form, grammar, signal, spend });
    if (written === undefined) return undefined;
    if (isRight(written)) right += 1;
  }
  return right;
}

interface Asking {
  engine: TextEngine;
  form: ActionForm;
  grammar: string;
  signal: AbortSignal;
  spend: (usage: Usage) => void;
}

async function answerTo(chat: readonly ChatMessage[], { engine, form, grammar, signal, spend }: Asking): Promise<Written | undefined> {
  const decoder = new ActionDecoder({ form });
  const events: ActionEvent[] = [];
  for await (const event of engine.complete({ purpose: "plan", chat, grammar, temperature: 0, maxTokens: tokensMax, signal })) {
    if (event.type === "text") events.push(...decoder.push(event.text));
    if (event.type === "ended" || event.type === "failed") spend(event.usage);
    if (event.type === "failed" || (event.type === "ended" && event.stop === "aborted")) return undefined;
  }
  const isReply = events.some(({ type }) => type === "text_start");
  const start = events.find((event) => event.type === "call_start");
  const end = events.find((event) => event.type === "call_end");
  const reply = events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");
  return { ...(isReply ? { reply } : {}), ...(start && end ? { call: { name: start.name, arguments: end.arguments } } : {}) };
}
