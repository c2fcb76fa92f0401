// Rules for the numbers of a range: whole ones exactly, decimals exactly between whole bounds.
import { literal } from "./gbnf.ts";

/** More digits than this lose precision in a reader. */
const digitsMax = 15;
const ceiling = 10 ** digitsMax - 1;
const placesMax = 6;

export interface Bounds {
  low: number;
  high: number;
}

/** The whole numbers that a schema allows, as far as they can be written. */
export function integerBounds(schema: { [key: string]: unknown }): Bounds {
  const { high, low } = decimalBounds(schema);
  return { low: low.open ? Math.floor(low.value) + 1 : Math.ceil(low.value), high: high.open ? Math.ceil(high.value) - 1 : Math.floor(high.value) };
}

/** Alternatives that together match exactly the whole numbers within the bounds, but those left out. */
export function integerPatterns({ high, low }: Bounds, leftOut: readonly number[] = []): string[] {
  const from = Math.max(low, -ceiling);
  const to = Math.min(high, ceiling);
  // What no other number can stand for is written as it is.
  if (from > to) return leftOut.length > 0 ? [] : [onlyNumber(low, high)];
  const patterns: string[] = [];
  let next = from;
  for (const number of [...leftOut.filter((one) => one >= from && one <= to).toSorted((a, b) => a - b), to + 1]) {
    if (next < number) patterns.push(...signedPatterns(next, number - 1));
    next = number + 1;
  }
  return patterns;
}

/** Alternatives for the decimal numbers that a schema with bounds allows; bounds that are not whole are widened to whole ones. */
export function decimalPatterns(schema: { [key: string]: unknown }): string[] {
  const { high, low } = decimalBounds(schema);
  const from = { value: Math.max(Math.floor(low.value), -ceiling), open: low.open && Number.isInteger(low.value) };
  const to = { value: Math.min(Math.ceil(high.value), ceiling), open: high.open && Number.isInteger(high.value) };
  const patterns: string[] = [];
  if (from.value < 0) patterns.push(...sizePatterns(to.value < 0 ? negated(to) : { value: 0, open: to.open && to.value === 0 }, negated(from)).map((pattern) => `"-" ${pattern}`));
  if (to.value >= 0) patterns.push(...sizePatterns(from.value >= 0 ? from : { value: 0, open: false }, to));
  return patterns.length > 0 ? patterns : [onlyNumber(low.value, high.value)];
}

/** Alternatives that together match exactly the decimal numbers from `low` to `high`, whole and both ≥ 0. */
export function rangePatterns(low: number, high: number): string[] {
  const patterns: string[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits += 1) {
    const from = Math.max(low, digits === 1 ? 0 : 10 ** (digits - 1));
    const to = Math.min(high, 10 ** digits - 1);
    if (from <= to) patterns.push(...sameLength(String(from), String(to)));
  }
  return patterns;
}

/** `open`: the bound itself is not allowed. */
interface Bound {
  value: number;
  open: boolean;
}

function decimalBounds(schema: { [key: string]: unknown }): { low: Bound; high: Bound } {
  const of = (inclusive: unknown, exclusive: unknown, sign: 1 | -1): Bound => {
    const closed = typeof inclusive === "number" ? inclusive : -sign * Infinity;
    const open = typeof exclusive === "number" ? exclusive : -sign * Infinity;
    return Number.isFinite(open) && sign * open >= sign * closed ? { value: open, open: true } : { value: closed, open: false };
  };
  return { low: of(schema["minimum"], schema["exclusiveMinimum"], 1), high: of(schema["maximum"], schema["exclusiveMaximum"], -1) };
}

function onlyNumber(low: number, high: number): string {
  return literal(String(Number.isFinite(low) ? low : Number.isFinite(high) ? high : 0));
}

function negated({ open, value }: Bound): Bound {
  return { value: -value, open };
}

function sizePatterns(low: Bound, high: Bound): string[] {
  const from = low.open ? low.value + 1 : low.value;
  const patterns: string[] = [];
  // With more digits than these it might be read as the bound itself.
  const places = Math.min(placesMax, digitsMax - String(high.value).length);
  const fraction = (digits: string): string => (places > 0 ? ` ("." ${digits}{1,${places}})?` : "");
  if (low.open && low.value < high.value && places > 0) patterns.push(`${literal(String(low.value))} "." [0-9]{0,${places - 1}} [1-9]`);
  if (from < high.value) patterns.push(...rangePatterns(from, high.value - 1).map((pattern) => pattern + fraction("[0-9]")));
  if (!high.open && from <= high.value) patterns.push(literal(String(high.value)) + fraction("[0]"));
  return patterns;
}

function signedPatterns(low: number, high: number): string[] {
  const patterns: string[] = [];
  if (low < 0) patterns.push(...rangePatterns(Math.max(1, -high), -low).map((pattern) => `"-" ${pattern}`));
  if (high >= 0) patterns.push(...rangePatterns(Math.max(0, low), high));
  return patterns;
}

function sameLength(from: string, to: string): string[] {
  if (from === to) return [literal(from)];
  if (from.length === 1) return [`[${from}-${to}]`];
  const rest = from.length - 1;
  if (/^0+$/.test(from.slice(1)) && /^9+$/.test(to.slice(1))) return [`${digit(from[0], to[0])} [0-9]{${rest}}`];
  if (from[0] === to[0]) return sameLength(from.slice(1), to.slice(1)).map((tail) => `${literal(from[0] ?? "")} ${tail}`);
  const first = Number(from[0]);
  const last = Number(to[0]);
  const patterns = sameLength(from.slice(1), "9".repeat(rest)).map((tail) => `"${first}" ${tail}`);
  if (last - first > 1) patterns.push(`${digit(String(first + 1), String(last - 1))} [0-9]{${rest}}`);
  return [...patterns, ...sameLength("0".repeat(rest), to.slice(1)).map((tail) => `"${last}" ${tail}`)];
}

function digit(from = "0", to = "9"): string {
  return from === to ? `"${from}"` : `[${from}-${to}]`;
}
