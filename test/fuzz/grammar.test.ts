// Zero invalid calls by construction: what a random sampler writes under the grammars of random schemas, of random tools and
// of whole sessions with the real tools parses, and is valid where the grammar is exact. ATOMIC_TEST_SEED repeats a run.
import { afterAll, beforeAll, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import { z } from "zod";
import { ActionDecoder, actionGrammar } from "../../src/agent/action.ts";
import { GrammarRules } from "../../src/agent/gbnf.ts";
import { schemaRule } from "../../src/agent/grammar.ts";
import type { ToolSpec } from "../../src/core/tool.ts";
import { parseGbnf, sample, seededRandom } from "../support/gbnf.ts";
import { below, isExact, oneOf, randomObject, randomSchema, word } from "./grammar-schemas.ts";
import { sessionSteps } from "./grammar-session.ts";

const isLong = process.env["ATOMIC_TEST_LONG"] === "1";
const firstSeed = Number(process.env["ATOMIC_TEST_SEED"] ?? (isLong ? Date.now() % 2 ** 31 : 6));
const schemaCount = isLong ? 20_000 : 400;
const toolsCount = isLong ? 2000 : 40;
const sessionCount = isLong ? 300 : 8;
const samplesOfGrammar = 8;
const limitMs = isLong ? 1_800_000 : 120_000;
const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false, validateFormats: false });

const tally = { exact: 0, loose: 0, calls: 0, replies: 0, sessionCalls: 0, withForbidden: 0, withQuotes: 0, withNames: 0 };
beforeAll(() => process.stderr.write(`grammars from seed ${firstSeed}\n`));
afterAll(() => process.stderr.write(`sampled: ${JSON.stringify(tally)}\n`));

test(`${schemaCount} random schemas from seed ${firstSeed}: each sampled value parses, and is valid where the grammar is exact`, () => {
  for (let seed = firstSeed; seed < firstSeed + schemaCount; seed += 1) {
    const random = seededRandom(seed);
    const schema = randomSchema(random);
    const rules = new GrammarRules();
    const name = schemaRule(rules, schema, "value");
    const grammar = parseGbnf(`root ::= ${name}\n${rules}`);
    const validate = ajv.compile(schema);
    for (let round = 0; round < samplesOfGrammar; round += 1) {
      const text = sample(grammar, random);
      const isValid = validate(parsed(text, seed));
      tally[isExact(schema) ? "exact" : "loose"] += 1;
      if (isExact(schema) && !isValid) throw new Error(`seed ${seed}: ${text} is no value of ${JSON.stringify(schema)}: ${ajv.errorsText(validate.errors)}`);
    }
  }
  expect(tally.exact).toBeGreaterThan(tally.loose);
}, limitMs);

test(`${toolsCount} sets of random tools from seed ${firstSeed}: each sampled action reads back as what is valid`, () => {
  for (let seed = firstSeed; seed < firstSeed + toolsCount; seed += 1) {
    const random = seededRandom(seed);
    const tools = randomTools(seed);
    const outputSchema = random() < 0.3 ? randomSchema(random) : undefined;
    const grammar = parseGbnf(actionGrammar({ tools, parallelMax: 1 + below(random, 6), ...(outputSchema === undefined ? {} : { outputSchema }) }));
    for (let round = 0; round < 2 * samplesOfGrammar; round += 1) {
      const text = sample(grammar, random);
      const { calls, reply } = readAction(text, seed, outputSchema !== undefined, below(random, text.length));
      if (reply !== undefined) {
        tally.replies += 1;
        expect(reply).not.toBe("");
        if (outputSchema !== undefined && isExact(outputSchema) && !ajv.compile(outputSchema)(parsed(reply, seed))) throw new Error(`seed ${seed}: ${reply} is no ${JSON.stringify(outputSchema)}`);
      }
      for (const { args, name } of calls) {
        tally.calls += 1;
        const tool = tools.find((one) => one.name === name);
        if (!tool) throw new Error(`seed ${seed}: no tool ${name}`);
        checkCall(tool, args, `seed ${seed}: ${text}`);
      }
    }
  }
  expect(tally.replies).toBeGreaterThan(toolsCount);
}, limitMs);

test(`${sessionCount} sessions of the real tools from seed ${firstSeed}: names that exist, texts that stand there, nothing again`, async () => {
  for (let seed = firstSeed; seed < firstSeed + sessionCount; seed += 1) {
    for await (const { allowed, bound, grammar: text, random, take, tools } of sessionSteps(seed)) {
      const grammar = parseGbnf(text);
      tally.withForbidden += Number(bound.hasForbidden);
      tally.withQuotes += Number(bound.hasQuotes);
      tally.withNames += Number(bound.hasNames);
      const written: { name: string; args: Record<string, unknown> }[][] = [];
      for (let round = 0; round < samplesOfGrammar; round += 1) {
        const action = sample(grammar, random);
        const { calls } = readAction(action, seed, false, below(random, action.length));
        for (const { args, name } of calls) {
          tally.sessionCalls += 1;
          const tool = tools.find((one) => one.name === name);
          if (!tool) throw new Error(`seed ${seed}: no tool ${name}`);
          checkCall(tool, args, `seed ${seed}: ${action}`);
          expect({ seed, action, fault: allowed(name, args) }).toEqual({ seed, action, fault: undefined });
        }
        expect({ seed, action, twice: new Set(calls.map((call) => JSON.stringify(call))).size }).toEqual({ seed, action, twice: calls.length });
        if (calls.length > 0) written.push(calls);
      }
      // An edit that fails is what binds the next step most.
      const edits = written.filter(([first]) => first?.name === "fs.edit");
      take(written.length === 0 ? [] : oneOf(random, edits.length > 0 && random() < 0.8 ? edits : written));
    }
  }
  expect(tally.sessionCalls).toBeGreaterThan(sessionCount * samplesOfGrammar);
  expect(tally.withForbidden * tally.withNames * (isLong ? tally.withQuotes : 1)).toBeGreaterThan(0);
}, limitMs);

function parsed(text: string, seed: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`seed ${seed}: no JSON: ${text}`, { cause: error });
  }
}

/** Reads an action in two pieces, as the loop reads what an engine streams. */
function readAction(text: string, seed: number, jsonReply: boolean, cut: number): { calls: { name: string; args: Record<string, unknown> }[]; reply?: string } {
  const decoder = new ActionDecoder({ jsonReply });
  const events = [...decoder.push(text.slice(0, cut)), ...decoder.push(text.slice(cut))];
  const { complete } = decoder.end();
  if (!complete) throw new Error(`seed ${seed}: not a whole action: ${text}`);
  const names = new Map(events.flatMap((event) => (event.type === "call_start" ? [[event.index, event.name] as const] : [])));
  const calls = events.flatMap((event) => (event.type === "call_end" ? [{ name: names.get(event.index) ?? "", args: event.arguments }] : []));
  const isReply = events.some((event) => event.type === "text_end");
  expect({ seed, text, actions: calls.length + Number(isReply) > 0 }).toEqual({ seed, text, actions: true });
  return { calls, ...(isReply ? { reply: events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("") } : {}) };
}

/** By the tool's own check before it runs, and by a validator that knows nothing of it. */
function checkCall(tool: ToolSpec, args: Record<string, unknown>, where: string): void {
  const issues = tool.schema.safeParse(args).error?.issues;
  if (issues) throw new Error(`${where}: ${JSON.stringify(issues)}`);
  const validate = ajv.compile(z.toJSONSchema(tool.schema, { io: "input" }));
  if (!validate(args)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)}`);
}

/** Tools whose schemas are exact, so that any call must be valid. */
function randomTools(seed: number): ToolSpec[] {
  const random = seededRandom(seed + 1);
  const tools: ToolSpec[] = [];
  for (let tries = 0; tools.length < 1 + (seed % 4) && tries < 200; tries += 1) {
    const schema = randomObject(random);
    const checked = isExact(schema) && suitsZod(schema) ? asZod(schema) : undefined;
    if (checked) tools.push({ name: `${oneOf(random, ["fs", "root", "tool", "reply"])}.${oneOf(random, ["a", "b-c", "number", "1"])}${tools.length}`, description: word(random), class: oneOf(random, ["read", "write", "shell"]), schema: checked });
  }
  return tools;
}

/** zod compares objects of an enumeration by identity, finds members of Object.prototype, and wants all of listed names. */
function suitsZod(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return true;
  const { const: only, enum: choices, propertyNames } = schema as { const?: unknown; enum?: unknown; propertyNames?: unknown };
  if (propertyNames !== undefined) return false;
  if ([only, ...(Array.isArray(choices) ? choices : [])].some((value) => typeof value === "object" && value !== null)) return false;
  return !Object.hasOwn(schema, "constructor") && Object.values(schema).every(suitsZod);
}

/** undefined for what zod can't take over from a JSON Schema. */
function asZod(schema: { [key: string]: unknown }): z.ZodObject | undefined {
  try {
    const made = z.fromJSONSchema(schema);
    return made instanceof z.ZodObject && Object.keys(made.shape).length > 0 ? made : undefined;
  } catch {
    return undefined;
  }
}
