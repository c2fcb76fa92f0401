// What a few plain programs print for certain: text that a line makes itself and then runs, names or hands to a shell.
import type { Argument } from "./scope.ts";

/** @param input their standard input, where it is certain. @returns undefined when it isn't certain. */
export function printedText(name: string, args: readonly Argument[], input: string | undefined): string | undefined {
  const words = args.map(({ values }) => (values.length === 1 ? values[0] : undefined));
  if (words.some((word) => word === undefined)) return undefined;
  const known = words.filter((word) => word !== undefined);
  if (name === "echo") return echoed(known);
  if (name === "printf") return formatted(known);
  if (input === undefined) return undefined;
  if (name === "cat" || name === "tee") return known.length === 0 || known[0] === "-" ? input : undefined;
  if (name === "rev") return input.split("\n").map((line) => [...line].toReversed().join("")).join("\n");
  if (name === "base64" || name === "base32") return name === "base64" && known.some((word) => /^(-[a-zA-Z]*[dD]|--decode)$/.test(word)) ? Buffer.from(input, "base64").toString("utf8") : undefined;
  if (name === "xxd") return known.some((word) => /^-[a-z]*r/.test(word)) ? Buffer.from(input.replace(/\s/g, ""), "hex").toString("utf8") : undefined;
  if (name === "tr") return translated(known, input);
  return undefined;
}

function echoed(words: readonly string[]): string {
  const from = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const text = from < 0 ? "" : words.slice(from).join(" ");
  return unescape(text);
}

function formatted([format = "", ...values]: readonly string[]): string | undefined {
  const plain = unescape(format);
  const holders = plain.match(/%[sbq]/g)?.length ?? 0;
  if (/%[^sbq%]/.test(plain)) return undefined;
  const rounds = holders === 0 ? 1 : Math.max(1, Math.ceil(values.length / holders));
  const rest = [...values];
  return Array.from({ length: Math.min(rounds, 100) }, () => plain.replace(/%[sbq%]/g, (holder) => (holder === "%%" ? "%" : unescape(rest.shift() ?? "")))).join("");
}

function unescape(text: string): string {
  return text
    .replace(/\\x([0-9A-Fa-f]{1,2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\0?([0-7]{1,3})/g, (_whole, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\\\/g, "\\");
}

/** Ranges such as `a-y b-z`, and `-d`. */
function translated([first = "", second = ""]: readonly string[], input: string): string {
  if (first === "-d") return [...input].filter((character) => !ranged(second).includes(character)).join("");
  const [from, to] = [ranged(first), ranged(second)];
  return [...input].map((character) => (from.includes(character) ? (to[Math.min(from.indexOf(character), to.length - 1)] ?? character) : character)).join("");
}

function ranged(set: string): string[] {
  const whole = set.replace(/(.)-(.)/g, (_range, from: string, to: string) => {
    const [low, high] = [from.charCodeAt(0), to.charCodeAt(0)];
    return high >= low && high - low < 256 ? Array.from({ length: high - low + 1 }, (_each, index) => String.fromCharCode(low + index)).join("") : "";
  });
  return [...whole];
}
