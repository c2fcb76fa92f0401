import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { ActionDecoder, actionGrammar } from "../../../src/agent/action.ts";
import { jsonForm, markerForm, tagsForm } from "../../../src/agent/action-form.ts";
import { GrammarRules, literal, type JsonSchema } from "../../../src/agent/gbnf.ts";
import { objectBody, schemaRule } from "../../../src/agent/grammar.ts";
import { rangePatterns } from "../../../src/agent/number-ranges.ts";
import type { ToolSpec } from "../../../src/core/tool.ts";
import { accepts, parseGbnf, sample, seededRandom, type Random } from "../../support/gbnf.ts";

const long = process.env["ATOMIC_TEST_LONG"] === "1";
const schemaCount = long ? 1000 : 150;
const samplesPerSchema = long ? 20 : 8;

describe("integers", () => {
  const matcher = (patterns: string[]): RegExp => new RegExp(`^(${patterns.map((pattern) => pattern.replaceAll('"', "").replaceAll(" ", "")).join("|")})$`);

  test("a range matches exactly its numbers", () => {
    for (const [low, high] of [[1, 5000], [0, 20], [7, 7], [13, 456], [99, 1001], [0, 999], [0, 0]] as const) {
      const accepted = matcher(rangePatterns(low, high));
      for (let number = 0; number <= 6000; number += 1) expect([number, accepted.test(String(number))]).toEqual([number, number >= low && number <= high]);
      expect(accepted.test("007")).toBe(false);
    }
  });

  test("negative ranges keep their sign", () => {
    const rules = new GrammarRules();
    const name = schemaRule(rules, { type: "integer", minimum: -12, maximum: 3 }, "n");
    const grammar = parseGbnf(`root ::= ${name}\n${rules}`);
    const random = seededRandom(1);
    const seen = new Set(Array.from({ length: 4000 }, () => Number(sample(grammar, random))));
    expect([...seen].toSorted((a, b) => a - b)).toEqual([-12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3]);
  });
});

describe("numbers and texts with bounds", () => {
  const grammarOf = (schema: JsonSchema) => {
    const rules = new GrammarRules();
    const name = schemaRule(rules, schema, "v");
    return parseGbnf(`root ::= ${name}\n${rules}`);
  };

  test("decimals between whole bounds are exact, an open bound is left out", () => {
    const cases: [JsonSchema, string[], string[]][] = [
      [{ type: "number", minimum: 0, maximum: 1 }, ["0", "0.5", "1", "1.0", "0.000001"], ["1.1", "-0.5", "2", "1e0"]],
      [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, ["0.5", "0.01"], ["0", "0.0", "1", "1.0"]],
      [{ type: "number", minimum: -12, exclusiveMaximum: -2 }, ["-12", "-2.5", "-11.9"], ["-2", "-2.0", "-12.1", "2.5"]],
      [{ type: "number", exclusiveMinimum: -1, maximum: 10 }, ["-0.9", "0", "9.99", "10"], ["-1", "-1.0", "10.1"]],
      [{ type: "number", exclusiveMaximum: 1e12 }, ["999999999999.99"], ["999999999999.999999", "1000000000000"]],
      [{ type: "number", maximum: -1e16 }, ["-10000000000000000"], ["0"]],
      [{ type: "integer", maximum: -1e16 }, ["-10000000000000000"], ["0"]],
      [{ type: "integer", exclusiveMinimum: 0.5, exclusiveMaximum: 3 }, ["1", "2"], ["0", "3"]],
    ];
    for (const [schema, inside, outside] of cases) {
      const grammar = grammarOf(schema);
      expect({ schema, inside: inside.filter((text) => !accepts(grammar, text)), outside: outside.filter((text) => accepts(grammar, text)) }).toEqual({ schema, inside: [], outside: [] });
    }
  });

  test("a text with an upper bound is as long by either count", () => {
    const grammar = grammarOf({ type: "string", minLength: 1, maxLength: 2 });
    expect(['"é中"', '"\\n"'].filter((text) => !accepts(grammar, text))).toEqual([]);
    expect(['"😀"', '"😀😀"', '"abc"', '""'].filter((text) => accepts(grammar, text))).toEqual([]);
    expect(accepts(grammarOf({ type: "string" }), '"😀"')).toBe(true);
  });

  test("a list with a beginning, and a map with listed names", () => {
    const tuple = grammarOf({ type: "array", prefixItems: [{ type: "boolean" }, { type: "null" }], items: { type: "integer" }, minItems: 3, maxItems: 4 });
    expect(["[true,null,1]", "[true,null,1,2]"].filter((text) => !accepts(tuple, text))).toEqual([]);
    expect(["[]", "[true]", "[true,null]", "[1,null,1]", "[true,null,1,2,3]"].filter((text) => accepts(tuple, text))).toEqual([]);
    const map = grammarOf({ type: "object", properties: {}, propertyNames: { enum: ["a", "b"] }, additionalProperties: { type: "null" }, required: ["b"] });
    expect(['{"b":null}', '{"a":null,"b":null}'].filter((text) => !accepts(map, text))).toEqual([]);
    expect(["{}", '{"a":null}', '{"b":null,"c":null}', '{"b":1}'].filter((text) => accepts(map, text))).toEqual([]);
  });
});

describe("literals", () => {
  test("any text is one literal that says exactly it", () => {
    for (const text of ['"', "\\", "\n\r\t", "a]b[", "\u0000\u007f", "é中😀", "\u2028"]) {
      const grammar = parseGbnf(`root ::= ${literal(text)}\n`);
      expect(sample(grammar, seededRandom(1))).toBe(text);
    }
  });
});

const awkward = ['"', "\\", "\n", "]", "[", "😀", "\u0000", "\ud800", "}", "{", "é", "a", " ", "-", "'", "\u2028", "|", "::="];

function word(random: Random): string {
  return Array.from({ length: 1 + Math.floor(random() * 5) }, () => awkward[Math.floor(random() * awkward.length)] ?? "a").join("");
}

function randomSchema(random: Random, depth: number): z.ZodType {
  const pick = Math.floor(random() * (depth > 2 ? 6 : 9));
  switch (pick) {
    case 0:
      return z.string().min(Math.floor(random() * 3)).describe(word(random));
    case 1:
      return z.int().min(-Math.floor(random() * 500)).max(Math.floor(random() * 5000));
    case 2:
      return z.number();
    case 3:
      return z.boolean().describe(word(random));
    case 4:
      return z.enum([word(random), word(random), "plain"]);
    case 5:
      return z.literal([word(random), 7, true]);
    case 6:
      return z.array(randomSchema(random, depth + 1)).min(Math.floor(random() * 3)).max(3 + Math.floor(random() * 4));
    case 7:
      return randomObject(random, depth + 1);
    default:
      return z.union([randomSchema(random, depth + 1), randomSchema(random, depth + 1)]);
  }
}

function randomObject(random: Random, depth: number): z.ZodObject {
  const names = new Set(Array.from({ length: Math.floor(random() * 5) }, () => word(random).toWellFormed()));
  const entries = [...names].filter((name) => name !== "__proto__").map((name) => {
    const schema = randomSchema(random, depth);
    return [name, random() < 0.5 ? schema.optional() : schema] as const;
  });
  return z.strictObject(Object.fromEntries(entries));
}

const forms = [jsonForm, markerForm, tagsForm({ open: '<tool_call>\n{"name": "', middle: '", "arguments": ', close: "}\n</tool_call>" })];

describe("tool schemas", () => {
  test(`${schemaCount} random schemas: every sampled action is read back and fits its schema`, () => {
    let sampled = 0;
    for (let seed = 1; seed <= schemaCount; seed += 1) {
      const random = seededRandom(seed);
      const tools: ToolSpec[] = ["one.read", "two.write"].map((name, index) => ({
        name,
        description: word(random),
        schema: randomObject(random, 0),
        class: index === 0 ? "read" : "write",
      }));
      const form = forms[seed % forms.length] ?? jsonForm;
      const grammar = parseGbnf(actionGrammar({ form, tools, parallelMax: 4 }));
      for (let round = 0; round < samplesPerSchema; round += 1) {
        const text = sample(grammar, random);
        const decoder = new ActionDecoder({ form });
        const cut = Math.floor(random() * text.length);
        const events = [...decoder.push(text.slice(0, cut)), ...decoder.push(text.slice(cut))];
        expect({ seed, text, complete: decoder.end().complete }).toEqual({ seed, text, complete: true });
        for (const event of events) {
          if (event.type !== "call_end") continue;
          const start = events.find((other) => other.type === "call_start" && other.index === event.index);
          const tool = tools.find((candidate) => start?.type === "call_start" && candidate.name === start.name);
          const checked = tool?.schema.safeParse(event.arguments);
          expect({ seed, text, issues: checked?.error?.issues }).toEqual({ seed, text, issues: undefined });
        }
        sampled += 1;
      }
    }
    expect(sampled).toBe(schemaCount * samplesPerSchema);
  });

  test("the text of a description does not change the language", () => {
    const grammarFor = (description: string): string =>
      actionGrammar({ tools: [{ name: "t", description, schema: z.strictObject({ a: z.string().describe(description) }), class: "read" }], parallelMax: 1 });
    expect(grammarFor('root ::= "x"\n"\\')).toBe(grammarFor("plain"));
  });

  test("every enum value can be written", () => {
    const values = ['a"b', "\\", "\n", "]", "😀", "\u0000", "x"];
    const rules = new GrammarRules();
    const name = schemaRule(rules, { enum: values }, "e");
    const grammar = parseGbnf(`root ::= ${name}\n${rules}`);
    const random = seededRandom(3);
    const seen = new Set(Array.from({ length: 500 }, () => JSON.parse(sample(grammar, random))));
    expect([...seen].toSorted()).toEqual(values.toSorted());
  });

  test("what can't be followed gets looser instead of failing", () => {
    let nested: JsonSchema = { type: "string", maxLength: 65_536, pattern: "^[a-z]+$" };
    for (let depth = 0; depth < 12; depth += 1) nested = { type: "object", properties: { inner: nested }, required: ["inner"], additionalProperties: false };
    for (const schema of [nested, { type: "array", minItems: 1000 }, { oneOf: [{ type: "string" }, { type: "null" }] }, {}, true, { type: "object", additionalProperties: { type: "integer" } }] as JsonSchema[]) {
      const rules = new GrammarRules();
      const name = schemaRule(rules, schema, "loose");
      const grammar = parseGbnf(`root ::= ${name}\n${rules}`);
      expect(() => JSON.parse(sample(grammar, seededRandom(5)))).not.toThrow();
      expect(rules.toString().length).toBeLessThan(20_000);
    }
  });
});

describe("forbidden objects", () => {
  const schema = z.toJSONSchema(
    z.strictObject({ path: z.string(), mode: z.enum(["replace", "append"]).optional(), all: z.boolean().optional(), limit: z.int().min(1).optional(), tags: z.array(z.string()).optional() }),
    { io: "input" },
  ) as { [key: string]: unknown };
  const grammarWithout = (forbidden: Record<string, unknown>[]) => {
    const rules = new GrammarRules();
    const names = ["path", "mode", "all", "limit", "tags"];
    const body = objectBody(rules, schema, "o", forbidden.map((object) => new Map(names.filter((name) => object[name] !== "*").map((name) => [name, object[name]]))), 0);
    return parseGbnf(`root ::= ${body}\n${rules}`);
  };
  const paths = ["a", "ab", "abc", "", "b", 'a"', "é", "a\\", "\n", "-", "a-", "^", "a^b", "]", "a]", "😀"];
  const objects = paths.flatMap((path) =>
    [{}, { mode: "append" }, { mode: "replace", all: true }, { all: false }, { limit: 1 }, { limit: 12 }, { limit: 13 }, { all: true, limit: 1 }].map((more): Record<string, unknown> => ({ path, ...more })),
  );

  test("exactly the forbidden ones can't be written", () => {
    for (let seed = 1; seed <= (long ? 200 : 15); seed += 1) {
      const random = seededRandom(seed);
      const forbidden = objects.filter(() => random() < 0.15);
      const grammar = grammarWithout(forbidden);
      for (const object of objects) expect([seed, object, accepts(grammar, JSON.stringify(object))]).toEqual([seed, object, !forbidden.includes(object)]);
      for (let round = 0; round < 20; round += 1) {
        const text = sample(grammar, random);
        expect(forbidden.map((object) => JSON.stringify(object))).not.toContain(text);
      }
    }
  });

  test("a member that is not named may hold anything", () => {
    const grammar = grammarWithout([{ path: "a", mode: undefined, all: "*", limit: "*", tags: "*" }]);
    expect(accepts(grammar, '{"path":"a","limit":3}')).toBe(false);
    expect(accepts(grammar, '{"path":"a"}')).toBe(false);
    expect(accepts(grammar, '{"path":"a","mode":"append","limit":3}')).toBe(true);
    expect(accepts(grammar, '{"path":"b","limit":3}')).toBe(true);
  });

  test("what is written instead keeps to its bounds", () => {
    const bounded = z.toJSONSchema(z.strictObject({ path: z.enum(["a", "b"]), text: z.string().min(1), count: z.int().min(0).max(20) }), { io: "input" }) as { [key: string]: unknown };
    const rules = new GrammarRules();
    const made = [{ path: "a", text: "x", count: 0 }, { path: "gone", text: "x", count: 5 }, { path: "b", text: "x", count: "7" }, { path: "b", text: "x", count: 13 }];
    const grammar = parseGbnf(`root ::= ${objectBody(rules, bounded, "o", made.map((object) => new Map(Object.entries(object))), 0)}\n${rules}`);
    const inside = ['{"path":"a","text":"x","count":1}', '{"path":"b","text":"x","count":0}', '{"path":"b","text":"x","count":20}', '{"path":"a","text":"y","count":0}'];
    const outside = ['{"path":"a","text":"x","count":0}', '{"path":"gone","text":"x","count":6}', '{"path":"b","text":"x","count":13}', '{"path":"a","text":"","count":1}', '{"path":"a","text":"x","count":21}', '{"path":"b","text":"x","count":"7"}'];
    expect({ missing: inside.filter((text) => !accepts(grammar, text)), wrong: outside.filter((text) => accepts(grammar, text)) }).toEqual({ missing: [], wrong: [] });
  });

  test("a value that can't be told apart is left out with it", () => {
    const grammar = grammarWithout([{ path: "a", tags: ["x"] }]);
    expect(accepts(grammar, '{"path":"a","tags":["x"]}')).toBe(false);
    expect(accepts(grammar, '{"path":"a"}')).toBe(true);
    expect(accepts(grammar, '{"path":"b","tags":["x"]}')).toBe(true);
  });
});

describe("several calls in one action", () => {
  const tool = (values: string[]): ToolSpec => ({ name: "fs.read", description: "", class: "read", schema: z.strictObject({ path: z.enum(values as [string, ...string[]]) }) });
  const call = (path: string): string => `{"goal":"answer","tool":"fs.read","args":{"path":${JSON.stringify(path)}}}`;
  const grammarOf = (values: string[], parallelMax = 3, made: string[] = []) =>
    parseGbnf(actionGrammar({ tools: [tool(values)], parallelMax, forbidden: new Map([["fs.read", made.map((path) => new Map([["path", path]]))]]) }));

  test("each thing once, in order, up to the limit", () => {
    const grammar = grammarOf(["a", "b", "c", "d"]);
    for (const [paths, accepted] of [
      [["a"], true],
      [["a", "b"], true],
      [["a", "c", "d"], true],
      [["a", "a"], false],
      [["b", "a"], false],
      [["a", "b", "c", "d"], false],
    ] as const) {
      expect([paths, accepts(grammar, paths.map(call).join("\n"))]).toEqual([paths, accepted]);
    }
  });

  test("what was read before is not read again with others", () => {
    const grammar = grammarOf(["a", "b", "c"], 3, ["a"]);
    expect(accepts(grammar, [call("b"), call("c")].join("\n"))).toBe(true);
    expect(accepts(grammar, [call("a"), call("b")].join("\n"))).toBe(false);
    expect(accepts(grammar, call("a"))).toBe(false);
  });

  test("a tool that takes any text makes one call", () => {
    const grammar = parseGbnf(actionGrammar({ tools: [{ name: "fs.find", description: "", class: "read", schema: z.strictObject({ pattern: z.string() }) }], parallelMax: 4 }));
    const find = '{"goal":"answer","tool":"fs.find","args":{"pattern":"x"}}';
    expect(accepts(grammar, find)).toBe(true);
    expect(accepts(grammar, `${find}\n${find}`)).toBe(false);
  });

  test("a call that only changes things says so", () => {
    const grammar = parseGbnf(actionGrammar({ tools: [{ name: "fs.trash", description: "", class: "write", schema: z.strictObject({ path: z.string() }) }], parallelMax: 4 }));
    expect(accepts(grammar, '{"goal":"change","tool":"fs.trash","args":{"path":"x"}}')).toBe(true);
    expect(accepts(grammar, '{"goal":"answer","tool":"fs.trash","args":{"path":"x"}}')).toBe(false);
  });

  test("a reply may be withheld, unless nothing else is left", () => {
    const reply = '{"goal":"answer","tool":"reply","args":{"text":"x"}}';
    const tools = [tool(["a"])];
    expect(accepts(parseGbnf(actionGrammar({ tools, parallelMax: 1, mayReply: false })), reply)).toBe(false);
    expect(accepts(parseGbnf(actionGrammar({ tools, parallelMax: 1 })), reply)).toBe(true);
    expect(accepts(parseGbnf(actionGrammar({ tools: [], parallelMax: 1, mayReply: false })), reply)).toBe(true);
  });
});
