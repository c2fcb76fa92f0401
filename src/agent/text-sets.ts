// Rules for sets of texts: one of them, or none of them. Both are trees of their characters; in the second each branch has
// a way out. A tree keeps the grammar's state small however many texts there are.
import { characterRule, literal, type GrammarRules } from "./gbnf.ts";

/** The name of a rule for exactly these texts, of which there is at least one. */
export function oneOf(rules: GrammarRules, texts: readonly string[], hint: string): string {
  return rules.add(hint, treeOf(rules, [...new Set(texts)].map((text) => [...text]), hint));
}

function treeOf(rules: GrammarRules, texts: readonly (readonly string[])[], hint: string): string {
  const options: string[] = [];
  for (const [head, tails] of byHead(texts)) {
    const shared = [head, ...sharedHead(tails)];
    const rests = tails.map((tail) => tail.slice(shared.length - 1));
    const isWhole = rests.every((rest) => rest.length === 0);
    options.push(isWhole ? literal(shared.join("")) : `${literal(shared.join(""))} ${rules.add(`${hint}-rest`, treeOf(rules, rests, hint))}`);
  }
  if (texts.some((text) => text.length === 0)) options.push('""');
  return options.join(" | ");
}

function sharedHead(texts: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = texts;
  const end = first.findIndex((character, index) => others.some((text) => text[index] !== character));
  return first.slice(0, end < 0 ? first.length : end);
}

/** The characters inside a JSON string, escapes whole. */
export function jsonCharacters(text: string): string[] {
  return text.slice(1, -1).match(/\\u[0-9a-fA-F]{4}|\\.|[^\\]/gsu) ?? [];
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
  const set = plain.map(classMember).join("");
  const escapes = [...'"\\/bfnrt'].filter((escape) => !branches.has(`\\${escape}`)).map(literal);
  options.push(`[^"\\\\\\x00-\\x1F\\x7F${set}] ${character}* "\\""`);
  options.push(`"\\\\" (${escapes.join(" | ")}) ${character}* "\\""`);
  for (const [head, tails] of branches) options.push(`${literal(head)} ${textOtherThan(rules, tails, hint)}`);
  return rules.add(`${hint}-rest`, options.join(" | "));
}

/** A character inside a class, by its code where the notation has a meaning of its own for it. */
function classMember(character: string): string {
  return /[\p{L}\p{N} ]/u.test(character) ? character : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
