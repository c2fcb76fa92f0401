// Where quoted and bracketed stretches of a command line end, and what the escapes of `$'…'` stand for.

/** Index of the closing `"` of a string that begins at `from`; undefined when it has none. */
export function doubleQuotedEnd(source: string, from: number): number | undefined {
  for (let at = from; at < source.length; ) {
    const character = source[at];
    if (character === '"') return at;
    const next = character === "\\" ? at + 2 : stepOver(source, at, false);
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

export function backtickEnd(source: string, from: number): number | undefined {
  for (let at = from; at < source.length; at += source[at] === "\\" ? 2 : 1) if (source[at] === "`") return at;
  return undefined;
}

/** Index of the bracket that closes one opened right before `from`. */
export function balancedEnd(source: string, from: number, open: "(" | "{", close: ")" | "}"): number | undefined {
  let depth = 1;
  for (let at = from; at < source.length; ) {
    const character = source[at];
    if (character === open) depth++;
    if (character === close && --depth === 0) return at;
    const next = character === "\\" ? at + 2 : stepOver(source, at, true);
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

/** The value of a `$'…'` string's content. */
export function unescapeAnsi(text: string): string {
  return text.replace(/\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|([\s\S]))/g, (_whole, hex, short, long, octal, letter) => {
    const code = hex ?? short ?? long;
    if (code !== undefined) return characterOf(Number.parseInt(String(code), 16));
    if (octal !== undefined) return characterOf(Number.parseInt(String(octal), 8));
    return ansiLetters[String(letter)] ?? String(letter);
  });
}

const ansiLetters: Record<string, string> = { a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "\uFFFD";
}

/** The index after whatever begins at `at`: a quoted stretch, a substitution, or one character. */
function stepOver(source: string, at: number, quotes: boolean): number | undefined {
  const after = (end: number | undefined): number | undefined => (end === undefined ? undefined : end + 1);
  const character = source[at];
  if (character === "$" && source[at + 1] === "(") return after(balancedEnd(source, at + 2, "(", ")"));
  if (character === "$" && source[at + 1] === "{") return after(balancedEnd(source, at + 2, "{", "}"));
  if (character === "`") return after(backtickEnd(source, at + 1));
  if (quotes && character === "'") {
    const end = source.indexOf("'", at + 1);
    return end < 0 ? undefined : end + 1;
  }
  if (quotes && character === '"') return after(doubleQuotedEnd(source, at + 1));
  return at + 1;
}
