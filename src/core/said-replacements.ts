// What a request wants replaced, where it says so in words: `rename A to B`, `B instead of A`, `A wird durch B ersetzt`.
import { isCommonWord } from "./words.ts";

const name = "(\"[^\"\\n]+\"|'[^'\\n]+'|`[^`\\n]+`|[\\p{L}\\p{N}_$@][\\p{L}\\p{N}_$@./:-]*[\\p{L}\\p{N}_$]|[\\p{L}_$])";
const article = "(?:an?\\s+|the\\s+)?";
const pairs: readonly [pattern: RegExp, old: 1 | 2][] = [
  [new RegExp(`${name}\\s+(?:to|by|with|into|becomes|->|→|durch|zu|par|por|con)\\s+${article}${name}`, "giu"), 1],
  [new RegExp(`${name}\\s+(?:is|was|has been)\\s+(?:now\\s+)?(?:called|renamed(?:\\s+to)?|named|replaced\\s+(?:by|with))\\s+${name}`, "giu"), 1],
  [new RegExp(`${name}\\s+(?:instead of|rather than|statt)\\s+${article}${name}`, "giu"), 2],
];

/** Names and words that are to be replaced, each once, as they are written; no numbers, which mean something else at each place. */
export function saidReplacements(request: string): string[] {
  const found = pairs.flatMap(([pattern, old]) => [...request.matchAll(pattern)].map((match) => (match[old] ?? "").replace(/^(["'`])(.*)\1$/, "$2")));
  return [...new Set(found)].filter((text) => /\p{L}/u.test(text) && !isCommonWord(text) && !/^(?:changed|moved|renamed)$/i.test(text));
}

/** Texts in quotes that are to be taken out: `remove the lines with 'a' and 'b'`. */
export function saidRemovals(request: string): string[] {
  const parts = request.split(/[.;!?]\s|,\s*(?:and|but|then)\s/).filter((part) => /\b(?:remove|delete|drop|strip|take\b.*\bout|get rid of)\b/i.test(part));
  const quoted = parts.flatMap((part) => [...part.matchAll(/(?<![\p{L}\p{N}])(["'`])([^"'`\n]+)\1(?![\p{L}\p{N}])/gu)].map(([, , text = ""]) => text));
  return [...new Set(quoted)];
}

/** Those of them that stand in a text by themselves, as they are written there. */
export function standingIn(text: string, wanted: readonly string[]): string[] {
  const found = wanted.flatMap((one) => text.match(new RegExp(`(?<![\\p{L}\\p{N}_])${RegExp.escape(one)}(?![\\p{L}\\p{N}_])`, "giu")) ?? []);
  return [...new Set(found)];
}
