// A rule for quotes: exactly the pieces of a text, as a JSON string. It is the text's suffix automaton written as rules, so
// that only one of them is open while a quote is written, whatever the text repeats.
import { type GrammarRules, literal } from "./gbnf.ts";
import { jsonCharacters } from "./text-sets.ts";

interface State {
  /** Length of the longest piece that leads here. */
  length: number;
  link: number;
  next: Map<string, number>;
}

/** The rules that a grammar has already: several tools quote the same file. */
const written = new WeakMap<GrammarRules, Map<string, string>>();

/**
 * The name of a rule for the JSON strings of all pieces of `text` that are not empty. Its size is linear in the text's.
 * @param isOneLine whether a piece ends before the next line
 */
export function quoteRule(rules: GrammarRules, text: string, hint: string, isOneLine = false): string {
  const known = written.get(rules) ?? new Map<string, string>();
  written.set(rules, known);
  const key = `${isOneLine}${text}`;
  const name = known.get(key) ?? writeRules(rules, text, hint, isOneLine);
  known.set(key, name);
  return name;
}

function writeRules(rules: GrammarRules, text: string, hint: string, isOneLine: boolean): string {
  const states = suffixAutomaton(jsonCharacters(JSON.stringify(text)));
  const names = new Map<number, string>();
  // Leaves first: a rule is written when those it leads to have their names.
  for (const index of states.keys().toArray().toSorted((a, b) => lengthOf(states, b) - lengthOf(states, a))) {
    const steps = [...(states[index]?.next ?? [])].filter(([character]) => !isOneLine || character !== "\\n").map(([character, to]) => `${literal(character)} ${names.get(to) ?? ""}`);
    if (index > 0) names.set(index, rules.add(`${hint}-${index}`, ['"\\""', ...steps].join(" | ")));
    else names.set(index, rules.add(hint, `"\\"" (${steps.join(" | ")})`));
  }
  return names.get(0) ?? "";
}

function lengthOf(states: readonly State[], index: number): number {
  return states[index]?.length ?? 0;
}

/** State 0 is the beginning; every state ends a piece. Blumer et al., "The smallest automaton recognizing the subwords of a text". */
function suffixAutomaton(characters: readonly string[]): State[] {
  const states: State[] = [{ length: 0, link: -1, next: new Map() }];
  let last = 0;
  const at = (index: number): State => states[index] ?? { length: -1, link: -1, next: new Map() };
  for (const character of characters) {
    const added = states.push({ length: at(last).length + 1, link: 0, next: new Map() }) - 1;
    let from = last;
    for (; from >= 0 && !at(from).next.has(character); from = at(from).link) at(from).next.set(character, added);
    last = added;
    if (from < 0) continue;
    const target = at(from).next.get(character) ?? 0;
    if (at(target).length === at(from).length + 1) {
      at(added).link = target;
      continue;
    }
    const copy = states.push({ length: at(from).length + 1, link: at(target).link, next: new Map(at(target).next) }) - 1;
    for (; from >= 0 && at(from).next.get(character) === target; from = at(from).link) at(from).next.set(character, copy);
    at(target).link = copy;
    at(added).link = copy;
  }
  return states;
}
