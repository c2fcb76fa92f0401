// JSON Schema to GBNF: what a model may write as the value of a schema, and as an object that equals none of some known
// ones. Where a schema can't be followed exactly the rule gets looser, never wrong: every valid value that the rule leaves
// out is only a different spelling of one that it accepts. Values are checked against the schema afterwards in any case.
import { isRecord } from "../core/is-record.ts";
import { characterRule, countedCharacterRule, isSchema, literal, repetition, type GrammarRules, type JsonSchema } from "./gbnf.ts";
import { type Bounds, decimalPatterns, integerBounds, integerPatterns } from "./number-ranges.ts";
import { quoteRule } from "./quote-rule.ts";
import { jsonCharacters, oneOf, textOtherThan } from "./text-sets.ts";

/** Members that make an object a forbidden one; a member that is not named may hold anything. `undefined` = left out. */
export type ForbiddenObject = ReadonlyMap<string, unknown>;

const depthMax = 10;

/** The name of a rule for the JSON values of `schema`, written without white space. */
export function schemaRule(rules: GrammarRules, schema: JsonSchema, hint: string, depth = 0): string {
  if (typeof schema === "boolean" || depth > depthMax) return anyRule(rules);
  if (typeof schema["piecesOf"] === "string") {
    const pieces = quoteRule(rules, schema["piecesOf"], hint, schema["oneLine"] === true);
    return schema["mayBeEmpty"] === true ? rules.add(`${hint}-or-none`, `${literal('""')} | ${pieces}`) : pieces;
  }
  if ("const" in schema) return rules.add(hint, literal(JSON.stringify(schema["const"])));
  const choices = schema["enum"];
  if (Array.isArray(choices) && choices.length > 0) {
    return oneOf(rules, choices.map((choice) => JSON.stringify(choice)), hint);
  }
  const union = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(union) && union.length > 0) {
    const names = union.map((part: JsonSchema, index) => schemaRule(rules, part, `${hint}-${index}`, depth + 1));
    return rules.add(hint, names.join(" | "));
  }
  const type = schema["type"];
  if (Array.isArray(type)) {
    return rules.add(hint, type.map((one) => schemaRule(rules, { ...schema, type: one }, `${hint}-${one}`, depth + 1)).join(" | "));
  }
  switch (type) {
    case "string":
      return stringRule(rules, schema, hint);
    case "integer":
      return rules.add(`${hint}-integer`, integerPatterns(integerBounds(schema)).join(" | "));
    case "number":
      return numberRule(rules, schema, hint);
    case "boolean":
      return rules.add("boolean", '"true" | "false"');
    case "null":
      return rules.add("null", '"null"');
    case "array":
      return arrayRule(rules, schema, hint, depth);
    case "object":
      return rules.add(`${hint}-object`, objectBody(rules, schema, hint, [], depth) ?? '"{}"');
    default:
      return anyRule(rules);
  }
}

/**
 * The body of a rule for the objects of `schema`, written without white space, that match none of `forbidden`; undefined
 * when none is left.
 */
export function objectBody(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string, forbidden: readonly ForbiddenObject[], depth: number): string | undefined {
  const properties = propertiesOf(schema);
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const members = Object.entries(properties).map(([name, value]): Member => {
    const rule = schemaRule(rules, isSchema(value) ? value : true, `${hint}-${name}`, depth + 1);
    return { name, rule, required: required.has(name), ...kindOf(value) };
  });
  if (members.length === 0) return forbidden.length > 0 ? undefined : mapBody(rules, schema["additionalProperties"], hint, depth);
  const rest = new MemberWriter(rules, members, hint).from(0, true, forbidden);
  return rest === undefined ? undefined : `"{" ${rest}`;
}

/** Also those of a map whose names are listed. */
function propertiesOf(schema: { [key: string]: unknown }): { [name: string]: unknown } {
  if (isRecord(schema["properties"]) && Object.keys(schema["properties"]).length > 0) return schema["properties"];
  const names = isRecord(schema["propertyNames"]) ? schema["propertyNames"]["enum"] : undefined;
  return Array.isArray(names) ? Object.fromEntries(names.map((name) => [String(name), schema["additionalProperties"] ?? true])) : {};
}

function stringRule(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string): string {
  const most = bound(schema["maxLength"], Infinity);
  const repeat = repetition(bound(schema["minLength"], 0), most);
  const character = most === Infinity ? characterRule(rules) : countedCharacterRule(rules);
  return rules.add(repeat === "*" && most === Infinity ? "string" : `${hint}-text`, `"\\"" ${character}${repeat} "\\""`);
}

function numberRule(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string): string {
  const isBounded = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].some((name) => typeof schema[name] === "number");
  return isBounded ? rules.add(`${hint}-number`, decimalPatterns(schema).join(" | ")) : anyNumberRule(rules);
}

function anyNumberRule(rules: GrammarRules): string {
  return rules.add("number", '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,14})? ([eE] [+-]? [0-9]{1,2})?');
}

function arrayRule(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string, depth: number): string {
  const items = schema["items"];
  const prefix = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const item = schemaRule(rules, isSchema(items) ? items : true, `${hint}-item`, depth + 1);
  const least = bound(schema["minItems"], 0);
  const most = bound(schema["maxItems"], Infinity);
  if (most === 0) return rules.add(`${hint}-list`, '"[]"');
  const heads = prefix.slice(0, most).map((head: unknown, index) => schemaRule(rules, isSchema(head) ? head : true, `${hint}-${index}`, depth + 1));
  const [first = item, ...others] = heads;
  const given = 1 + others.length;
  const more = items === false ? "" : ` ("," ${item})${repetition(Math.max(0, least - given), most - given)}`;
  const filled = `"[" ${[first, ...others].join(' "," ')}${more} "]"`;
  return rules.add(`${hint}-list`, least > 0 || heads.length > 0 ? filled : `"[]" | ${filled}`);
}

function mapBody(rules: GrammarRules, extra: unknown, hint: string, depth: number): string {
  if (extra === false) return '"{}"';
  const value = schemaRule(rules, isSchema(extra) ? extra : true, `${hint}-value`, depth + 1);
  const pair = `"\\"" ${characterRule(rules)}* "\\":" ${value}`;
  return `"{" (${pair} ("," ${pair})*)? "}"`;
}

interface Member {
  name: string;
  rule: string;
  required: boolean;
  kind: "text" | "integer" | "choice" | "other";
  /** JSON texts of a choice. */
  choices: readonly string[];
  bounds?: Bounds;
  /** A text of no characters is refused. */
  isFilled?: boolean;
}

function kindOf(schema: unknown): Pick<Member, "kind" | "choices" | "bounds" | "isFilled"> {
  if (!isRecord(schema)) return { kind: "other", choices: [] };
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : schema["type"] === "boolean" ? [true, false] : "const" in schema ? [schema["const"]] : undefined;
  if (values) return { kind: "choice", choices: values.map((value) => JSON.stringify(value)) };
  if (schema["type"] === "integer") return { kind: "integer", choices: [], bounds: integerBounds(schema) };
  const least = bound(schema["minLength"], 0);
  const isPlainText = schema["type"] === "string" && least <= 1 && schema["maxLength"] === undefined;
  return { kind: isPlainText ? "text" : "other", choices: [], isFilled: least === 1 };
}

class MemberWriter {
  readonly #rules: GrammarRules;
  readonly #members: readonly Member[];
  readonly #hint: string;
  readonly #known = new Map<string, string | undefined>();

  constructor(rules: GrammarRules, members: readonly Member[], hint: string) {
    this.#rules = rules;
    this.#members = members;
    this.#hint = hint;
  }

  /**
   * The name of a rule for the members from `index` on and the closing brace, commas only between those that are there.
   * `forbidden` are the objects that what was written so far may still become; undefined when nothing may follow.
   */
  from(index: number, first: boolean, forbidden: readonly ForbiddenObject[]): string | undefined {
    const key = `${index} ${first} ${JSON.stringify(forbidden.map((object) => [...object]))}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#write(index, first, forbidden));
    return this.#known.get(key);
  }

  #write(index: number, first: boolean, forbidden: readonly ForbiddenObject[]): string | undefined {
    const member = this.#members[index];
    if (!member) return forbidden.length > 0 ? undefined : '"}"';
    const { name } = member;
    // A value that can't be told from a forbidden one counts as if it were it.
    const free = forbidden.filter((object) => !object.has(name) || (member.kind === "other" && object.get(name) !== undefined));
    const values = [...new Set(forbidden.filter((object) => object.has(name) && object.get(name) !== undefined).map((object) => JSON.stringify(object.get(name))))].filter((value) => isWritable(member, value));
    const label = literal(`${first ? "" : ","}${JSON.stringify(name)}:`);
    const options: string[] = [];
    const other = this.from(index + 1, false, free);
    const otherValue = this.#otherThan(member, values);
    if (other !== undefined && otherValue !== undefined) options.push(`${label} ${otherValue} ${other}`);
    for (const value of member.kind === "other" ? [] : values) {
      const rest = this.from(index + 1, false, forbidden.filter((object) => !object.has(name) || JSON.stringify(object.get(name)) === value));
      if (rest !== undefined) options.push(`${label} ${literal(value)} ${rest}`);
    }
    if (!member.required) {
      const rest = this.from(index + 1, first, forbidden.filter((object) => object.get(name) === undefined));
      if (rest !== undefined) options.push(rest);
    }
    return options.length === 0 ? undefined : this.#rules.add(`${this.#hint}-${first ? "from" : "then"}-${index}`, options.join(" | "));
  }

  /** A rule for the member's values that are none of these JSON texts; undefined when there is no other. */
  #otherThan({ bounds, choices, isFilled, kind, name, rule }: Member, values: readonly string[]): string | undefined {
    if (values.length === 0 || kind === "other") return rule;
    const hint = `${this.#hint}-${name}`;
    if (kind === "text") return this.#rules.add(`${hint}-other`, `"\\"" ${textOtherThan(this.#rules, (isFilled ? ['""', ...values] : values).map(jsonCharacters), hint)}`);
    if (bounds) {
      const patterns = integerPatterns(bounds, values.map(Number));
      return patterns.length === 0 ? undefined : this.#rules.add(`${hint}-other`, patterns.join(" | "));
    }
    const rest = choices.filter((choice) => !values.includes(choice));
    return rest.length === 0 ? undefined : oneOf(this.#rules, rest, `${hint}-other`);
  }
}

/** Whether the member may hold the value at all: what can't be written need not be forbidden. */
function isWritable({ bounds, choices, kind }: Member, value: string): boolean {
  if (bounds) return /^-?\d+$/.test(value) && Number(value) >= bounds.low && Number(value) <= bounds.high;
  return kind === "choice" ? choices.includes(value) : kind === "text" ? value.startsWith('"') : true;
}

/** Any JSON value, nested at most three deep. */
function anyRule(rules: GrammarRules): string {
  const text = rules.add("string", `"\\"" ${characterRule(rules)}* "\\""`);
  const scalar = rules.add("any-scalar", `${text} | ${anyNumberRule(rules)} | "true" | "false" | "null"`);
  let inner = scalar;
  for (let level = 1; level <= 3; level += 1) {
    const pair = `${text} ":" ${inner}`;
    const list = `"[" (${inner} ("," ${inner})*)? "]"`;
    inner = rules.add(`any-${level}`, `${scalar} | "{" (${pair} ("," ${pair})*)? "}" | ${list}`);
  }
  return inner;
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : otherwise;
}
