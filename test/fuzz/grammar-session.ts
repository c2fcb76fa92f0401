// Sessions without a model: real tools in a real folder, the offer of each step as the loop makes it, and made-up results, so
// that everything that an offer depends on occurs: what exists, what was seen, what failed, what was made before.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { actionGrammar } from "../../src/agent/action.ts";
import { LoopGuard } from "../../src/agent/loop-guard.ts";
import { stepOffer } from "../../src/agent/step-offer.ts";
import { type AgentMessage, type ToolCall, type ToolResultMessage, usageOf } from "../../src/core/message.ts";
import type { Tool } from "../../src/core/tool.ts";
import { workspaceView } from "../../src/tools/workspace-view.ts";
import { seededRandom, type Random } from "../support/gbnf.ts";
import { fixture } from "../unit/tools/fixture.ts";
import { below, oneOf, word } from "./grammar-schemas.ts";

export interface SessionStep {
  random: Random;
  tools: readonly Tool[];
  grammar: string;
  /** What the offer of the step depends on beside the tools. */
  bound: { hasForbidden: boolean; hasQuotes: boolean; hasNames: boolean };
  /** What is wrong with a call that the grammar should have left out. */
  allowed: (name: string, args: Record<string, unknown>) => string | undefined;
  /** The calls that the step makes. */
  take: (calls: readonly { name: string; args: Record<string, unknown> }[]) => void;
}

const stepsOfSession = 8;
const lines = ["TIMEOUT = 30", "  indented \"quoted\" \\ text", "a,b;c\td", "é 😀", "}", "- [ ] task", "\u0000".slice(1), "x^y-z]"];

export async function* sessionSteps(seed: number): AsyncGenerator<SessionStep, void, void> {
  const random = seededRandom(seed);
  using at = fixture({ skills: { list: () => [], ofScript: () => undefined, trust: () => {} } });
  const files = fillFolder(at.workspace, random);
  const { options } = at;
  const tools = ["fs.list", "fs.read", "fs.find", "fs.grep", "fs.count", "table.compute", "fs.write", "fs.edit", "fs.move", "fs.copy", "fs.trash", "shell.run"].map(at.tool);
  const view = workspaceView(at.workspace, options.home);
  const guard = new LoopGuard(tools, { repeatsMax: 100 });
  const messages: AgentMessage[] = [{ role: "user", content: `do ${word(random)} in ${at.outside}/x y.txt`, timestamp: 0 }];
  for (let step = 0; step < stepsOfSession; step += 1) {
    const offer = await stepOffer({ tools, guard, messages, view, existing: await view.names(), work: undefined });
    const grammar = actionGrammar({ tools: offer.tools, parallelMax: 1 + below(random, 8), forbidden: offer.forbidden, offer: offer.options, mayReply: offer.mayReply });
    const { names, quotes } = offer.options;
    const known = new Set([...(names?.files ?? []), ...(names?.folders ?? [])]);
    const severals = new Set(names?.patterns ?? []);
    const takesSeveral = (name: string): boolean => ["fs.move", "fs.copy", "fs.trash"].includes(name);
    const allowed: SessionStep["allowed"] = (name, args) => {
      const pattern = (offer.forbidden.get(name) ?? []).find((object) => [...object].every(([key, value]) => JSON.stringify(args[key]) === JSON.stringify(value)));
      if (pattern) return `made before: ${JSON.stringify([...pattern])}`;
      const quote = quotes?.get(name);
      if (quote && !quote.texts.includes(String(args["oldText"]))) return `quotes what is not in ${quote.file}`;
      if (name === "fs.edit" && offer.options.seen && !quote && !offer.options.seen.includes(String(args["path"]))) return "edits what it has not seen";
      const named = name === "fs.write" || name === "fs.find" || name === "shell.run" ? [] : [args["path"], args["from"], ...(Array.isArray(args["paths"]) ? args["paths"] : [])];
      return names === undefined || named.every((path) => path === undefined || known.has(String(path)) || (takesSeveral(name) && severals.has(String(path)))) ? undefined : "names what does not exist";
    };
    const bound = { hasForbidden: [...offer.forbidden.values()].some((objects) => objects.length > 0), hasQuotes: (quotes?.size ?? 0) > 0, hasNames: names !== undefined };
    yield { random, tools, grammar, bound, allowed, take: (calls) => messages.push(...played(calls, step, random, guard, files)) };
  }
}

/** The calls with results of every kind: new, the same as before, nothing found, failed, with advice. */
function played(calls: readonly { name: string; args: Record<string, unknown> }[], step: number, random: Random, guard: LoopGuard, files: readonly string[]): AgentMessage[] {
  const made = calls.map(({ args, name }, index): ToolCall => ({ type: "toolCall", id: `${step}-${index}`, name, arguments: args }));
  const results = made.map((call): ToolResultMessage => {
    const text = oneOf(random, ["done", "done", "continue with offset 201", "narrow it with limit, recursive or hidden", `did you mean ${oneOf(random, files)}?`, String(random())]);
    const isEmpty = random() < 0.2;
    return { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text }], isError: random() < (call.name === "fs.edit" ? 0.7 : 0.3), timestamp: 0, ...(isEmpty ? { details: { matches: 0 } } : {}) };
  });
  guard.record(made, results);
  return [{ role: "assistant", content: made, api: "", provider: "", model: "", usage: usageOf({}), stopReason: "toolUse", timestamp: 0 }, ...results];
}

/** Files with names that are hard to write, some of them alike; sometimes too many to be listed. */
function fillFolder(workspace: string, random: Random): string[] {
  const names = ["notes.txt", "notes2.txt", "data/a b.csv", "data/\"q\".md", "é/😀.txt", "-x", "new\nline", "back\\slash", "^]-[", ".hidden", "a".repeat(200)];
  const some = names.filter(() => random() < 0.6);
  const many = random() < 0.15 ? Array.from({ length: 320 }, (_, index) => `many/${index}`) : [];
  for (const name of [...some, ...many]) {
    mkdirSync(join(workspace, name, ".."), { recursive: true });
    writeFileSync(join(workspace, name), Array.from({ length: below(random, 8) }, () => oneOf(random, lines)).join(random() < 0.3 ? "\r\n" : "\n"));
  }
  return some.length > 0 ? some : ["none"];
}
