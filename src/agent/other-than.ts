// Rules for the rest of a JSON string or number that must be none of some texts: a tree of their characters, with a way out
// at each of its branches.
import { characterRule, literal, type GrammarRules } from "./gbnf.ts";

/** The characters inside a JSON string, escapes whole. */
export function jsonCharacters(text: string): string[] {
  return text.slice(1, -1).match(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gsu) ?? [];
}

/** A rule for the rest of a number's digits that is none of `texts`; ranges are left to the check afterwards. */
export function integerOtherThan(rules: GrammarRules, texts: readonly (readonly string[])[], hint: string, atStart = true): string {
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
export function textOtherThan(rules: GrammarRules, texts: readonly (readonly string[])[], hint: string): string {
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
