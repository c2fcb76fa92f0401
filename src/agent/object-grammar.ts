// The grammar of a JSON object whose members stand in the order of its schema, and of one that must not equal any of
// some known objects: so a call that was made before can't be made again.
import { characterRule, isRecord, isSchema, literal, schemaRule, type GrammarRules } from "./grammar.ts";

/** Members that make an object a forbidden one; a member that is not named may hold anything. `undefined` = left out. */
export type ForbiddenObject = ReadonlyMap<string, unknown>;

interface Member {
  name: string;
  rule: string;
  required: boolean;
  kind: "text" | "integer" | "choice" | "other";
  /** JSON texts of a choice. */
  choices: readonly string[];
}

/**
 * The body of a rule for the objects of `schema`, written without white space, that match none of `forbidden`; undefined
 * when none is left.
 */
export function objectBody(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string, forbidden: readonly ForbiddenObject[], depth: number): string | undefined {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const members = Object.entries(properties).map(([name, value]): Member => {
    const rule = schemaRule(rules, isSchema(value) ? value : true, `${hint}-${name}`, depth + 1);
    return { name, rule, required: required.has(name), ...kindOf(value) };
  });
  if (members.length === 0) return forbidden.length > 0 ? undefined : mapBody(rules, schema["additionalProperties"], hint, depth);
  const rest = new MemberWriter(rules, members, hint).from(0, true, forbidden);
  return rest === undefined ? undefined : `"{" ${rest}`;
}

function mapBody(rules: GrammarRules, extra: unknown, hint: string, depth: number): string {
  if (extra === false) return '"{}"';
  const value = schemaRule(rules, isSchema(extra) ? extra : true, `${hint}-value`, depth + 1);
  const pair = `"\\"" ${characterRule(rules)}* "\\":" ${value}`;
  return `"{" (${pair} ("," ${pair})*)? "}"`;
}

function kindOf(schema: unknown): Pick<Member, "kind" | "choices"> {
  if (!isRecord(schema)) return { kind: "other", choices: [] };
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : schema["type"] === "boolean" ? [true, false] : "const" in schema ? [schema["const"]] : undefined;
  if (values) return { kind: "choice", choices: values.map((value) => JSON.stringify(value)) };
  return { kind: schema["type"] === "string" ? "text" : schema["type"] === "integer" ? "integer" : "other", choices: [] };
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
    const values = [...new Set(forbidden.filter((object) => object.has(name) && object.get(name) !== undefined).map((object) => JSON.stringify(object.get(name))))];
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
  #otherThan({ choices, kind, name, rule }: Member, values: readonly string[]): string | undefined {
    if (values.length === 0 || kind === "other") return rule;
    const hint = `${this.#hint}-${name}`;
    if (kind === "text") return this.#rules.add(`${hint}-other`, `"\\"" ${textOtherThan(this.#rules, values.map(jsonCharacters), hint)}`);
    if (kind === "integer") return integerOtherThan(this.#rules, values.map((value) => [...value]), hint);
    const rest = choices.filter((choice) => !values.includes(choice));
    return rest.length === 0 ? undefined : this.#rules.add(`${hint}-other`, rest.map(literal).join(" | "));
  }
}

/** The characters inside a JSON string, escapes whole. */
function jsonCharacters(text: string): string[] {
  return text.slice(1, -1).match(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gsu) ?? [];
}

/** A rule for the rest of a number's digits that is none of `texts`; ranges are left to the check afterwards. */
function integerOtherThan(rules: GrammarRules, texts: readonly (readonly string[])[], hint: string, atStart = true): string {
  const branches = byHead(texts);
  const other = (atStart ? "123456789" : "0123456789").split("").filter((head) => !branches.has(head)).join("");
  const options = other === "" ? [] : [`[${other}] [0-9]{0,14}`];
  if (!atStart && texts.every((text) => text.length > 0)) options.push('""');
  for (const [head, tails] of branches) options.push(`${literal(head)} ${integerOtherThan(rules, tails, hint, false)}`);
  return rules.add(`${hint}-digits`, options.join(" | "));
}

function byHead(texts: readonly (readonly string[])[]): Map<string, (readonly string[])[]> {
  const branches = new Map<string, (readonly string[])[]>();
  for (const [head, ...tail] of texts) if (head !== undefined) branches.set(head, [...(branches.get(head) ?? []), tail]);
  return branches;
}

/** A rule for the rest of a JSON string, closing quote included, that is none of `texts`. */
function textOtherThan(rules: GrammarRules, texts: readonly (readonly string[])[], hint: string): string {
  const character = characterRule(rules);
  const branches = byHead(texts);
  const options: string[] = [];
  if (texts.every((text) => text.length > 0)) options.push('"\\""');
  const plain = [...branches.keys()].filter((head) => !head.startsWith("\\"));
  const set = plain.map((head) => (/[\]\\^-]/.test(head) ? `\\${head}` : head)).join("");
  const escapes = [...'"\\/bfnrt'].filter((escape) => !branches.has(`\\${escape}`)).map(literal);
  options.push(`[^"\\\\\\x00-\\x1F\\x7F${set}] ${character}* "\\""`);
  options.push(`"\\\\" (${escapes.join(" | ")}) ${character}* "\\""`);
  for (const [head, tails] of branches) options.push(`${literal(head)} ${textOtherThan(rules, tails, hint)}`);
  return rules.add(`${hint}-rest`, options.join(" | "));
}
