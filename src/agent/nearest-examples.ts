// Which examples are most like a request: told right before it, they weigh more with a small model than many others before them.
import { stemOf } from "../core/words.ts";

export type WorkExample = readonly [request: string, work: string];

/** Names of files, numbers and quoted texts say nothing but that they are such. */
const patterns = /"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|[\p{L}\p{N}_./*-]*\.[a-z]\w{0,6}\b|\p{L}+|\d+|\?/gu;

/** Words, and pairs of words that follow each other. */
function features(text: string): Set<string> {
  const tokens = (text.match(patterns) ?? []).map((token) => (/^["'`]/.test(token) ? "TEXT" : /\.[a-z]/.test(token) ? "FILE" : /^\d/.test(token) ? "NUMBER" : stemOf(token)));
  return new Set([...tokens, ...tokens.slice(1).map((token, index) => `${tokens[index]} ${token}`)]);
}

/** The most alike last; what few examples have weighs more. None that shares little with the request. */
export function nearestExamples(request: string, pool: readonly WorkExample[], most: number): WorkExample[] {
  const all = pool.map((example) => ({ example, has: features(example[0]) }));
  const holders = new Map<string, number>();
  for (const { has } of all) for (const feature of has) holders.set(feature, (holders.get(feature) ?? 0) + 1);
  const weight = (feature: string): number => Math.log((1 + pool.length) / (holders.get(feature) ?? 1)) ** 2;
  const sum = (some: Iterable<string>): number => [...some].reduce((total, feature) => total + weight(feature), 0);
  const asked = features(request);
  const askedLength = Math.sqrt(sum(asked));
  const scored = all.map(({ example, has }) => ({ example, score: sum([...has].filter((feature) => asked.has(feature))) / (Math.sqrt(sum(has)) * askedLength || 1) }));
  const near = scored.filter(({ score }) => score >= scoreMin).toSorted((a, b) => b.score - a.score);
  return near.slice(0, most).map(({ example }) => example).toReversed();
}

/** Of 1, for the same words. */
const scoreMin = 0.1;
