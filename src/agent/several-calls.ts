// Several calls in one action: of a tool that reads one named thing, each thing at most once, in the order of their names.
// A small model that may read one thing twice in an action does.
import { isRecord } from "../core/is-record.ts";
import type { GrammarRules } from "./gbnf.ts";
import type { ForbiddenObject } from "./grammar.ts";
import type { ObjectSchema } from "./offer.ts";

export interface SeveralCallsOptions {
  offered: ObjectSchema;
  forbidden: readonly ForbiddenObject[];
  /** Calls of one action at most. */
  parallelMax: number;
  /** The text of a call with these arguments, as a grammar. */
  callOf: (args: Record<string, unknown>) => string;
}

/** More things than this are not chosen from: the rules grow with their square. */
const choicesMax = 24;

/** The name of a rule for two calls or more; undefined where the tool takes anything else than one name out of a few. */
export function severalCalls(rules: GrammarRules, hint: string, { callOf, forbidden, offered, parallelMax }: SeveralCallsOptions): string | undefined {
  const [member, ...others] = Object.entries(offered.properties);
  if (!member || others.length > 0 || !offered.required.includes(member[0]) || parallelMax < 2) return undefined;
  const [name, schema] = member;
  const made = new Set(forbidden.map((object) => object.get(name)));
  const values = (isRecord(schema) && Array.isArray(schema["enum"]) ? schema["enum"] : []).filter((value) => !made.has(value));
  if (values.length < 2 || values.length > choicesMax) return undefined;
  /** Rules for at most `count` calls that begin with each value. */
  let atMost: string[] = values.map((value, index) => rules.add(`${hint}-${index}`, callOf({ [name]: value })));
  const calls = atMost;
  for (let count = 2; count <= parallelMax; count += 1) {
    const before = atMost;
    atMost = calls.map((call, index) => {
      const later = before.slice(index + 1);
      return later.length === 0 ? call : rules.add(`${hint}-${index}-of-${count}`, `${call} ("\\n" (${later.join(" | ")}))${count === parallelMax ? "" : "?"}`);
    });
  }
  return rules.add(`${hint}-several`, atMost.slice(0, -1).join(" | "));
}
