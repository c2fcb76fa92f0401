// Whether an object can be the tolerant parse of the beginning of a JSON text (json-mode.md U5, C6).

/** Equal to the parse where the text is whole; else one of the readable prefixes of the text, or `{}`. */
export function isTolerantParse(value: unknown, text: string, equal: (a: unknown, b: unknown) => boolean): boolean {
  const whole = parse(text);
  if (whole !== undefined) return equal(value, whole);
  if (equal(value, {})) return true;
  return readablePrefixes(text).some((prefix) => {
    const parsed = parse(prefix);
    return parsed !== undefined && equal(value, parsed);
  });
}

/** Prefixes tried from the longest on; values are complete further back, so few are needed. */
const prefixesMax = 8;

function readablePrefixes(text: string): string[] {
  const cuts: { end: number; closers: string }[] = [];
  const open: string[] = [];
  const note = (end: number): void => void cuts.push({ end, closers: open.toReversed().join("") });
  let inString = false;
  let escapeStart = -1;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (inString) {
      if (escapeStart === -1 && character === "\\") escapeStart = index;
      else if (escapeStart !== -1) {
        const length = text.charAt(escapeStart + 1) === "u" ? 6 : 2;
        if (index - escapeStart + 1 >= length) escapeStart = -1;
      } else if (character === '"') {
        inString = false;
        note(index + 1);
      }
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") {
      open.push(character === "{" ? "}" : "]");
      note(index + 1);
    } else if (character === "}" || character === "]") {
      open.pop();
      note(index + 1);
    } else if (character === ",") note(index);
  }
  const closers = open.toReversed().join("");
  const prefixes = cuts.slice(-prefixesMax).toReversed().map(({ end, closers: rest }) => text.slice(0, end) + rest);
  if (!inString) return [text + closers, ...prefixes];
  const readable = escapeStart === -1 ? text : text.slice(0, escapeStart);
  const withoutHalf = readable.replace(/(\\u[dD][89abAB][0-9a-fA-F]{2}|[\ud800-\udbff])$/, "");
  return [`${readable}"${closers}`, `${withoutHalf}"${closers}`, ...prefixes];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
