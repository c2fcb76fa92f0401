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

/**
 * A rule for a text as it is, no JSON, that begins with something to see, nowhere holds `stop` and does not end behind a colon
 * (see replyRule). Its states are the beginnings of `stop` that the text ends with (Knuth, Morris and Pratt), each also behind
 * a colon.
 */
export function plainText(rules: GrammarRules, stop: string, hint: string): string {
  const characters = [...stop];
  const known = [...new Set([...characters, ":", " ", "\t", "\n"])];
  const others = `[^\\x00-\\x08\\x0B-\\x1F\\x7F${known.map(classMember).join("")}]`;
  const stateOf = (written: string): number => characters.findLastIndex((_, index) => written.endsWith(characters.slice(0, index + 1).join(""))) + 1;
  const nameOf = (state: number, isOpen: boolean): string => `${hint}-${state}${isOpen ? "-open" : ""}`;
  const steps = (state: number, isOpen: boolean, among: readonly string[]): string[] =>
    among.flatMap((character) => {
      const next = stateOf(characters.slice(0, state).join("") + character);
      const isStillOpen = character === ":" || (isOpen && character.trim() === "");
      return next > 0 && next === characters.length ? [] : [`${literal(character)} ${nameOf(next, isStillOpen)}`];
    });
  for (let state = 0; state < Math.max(1, characters.length); state += 1) {
    for (const isOpen of [false, true]) rules.add(nameOf(state, isOpen), [...(isOpen ? [] : ['""']), `${others} ${nameOf(0, false)}`, ...steps(state, isOpen, known)].join(" | "));
  }
  return rules.add(hint, [`${others} ${nameOf(0, false)}`, ...steps(0, false, known.filter((character) => character.trim() !== ""))].join(" | "));
}

/** A character inside a class, by its code where the notation has a meaning of its own for it. */
function classMember(character: string): string {
  return /[\p{L}\p{N} ]/u.test(character) ? character : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
