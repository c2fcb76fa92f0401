// From the bytes of stdout to lines: UTF-8, one object a line, LF only, no BOM (R1), separators and lone surrogates escaped (R2).
// Good for both wires.
import { type Breach, Breaches, isObject, type Line, show } from "./values.ts";

const lineFeed = 0x0a;

export function readLines(bytes: Uint8Array): { lines: Line[]; breaches: Breach[] } {
  const breaches = new Breaches();
  const lines: Line[] = [];
  let start = 0;
  for (let number = 1; start < bytes.length; number++) {
    breaches.line = number;
    const found = bytes.indexOf(lineFeed, start);
    breaches.need(found !== -1, "R1", "the last line doesn't end in LF");
    const end = found === -1 ? bytes.length : found;
    const event = readLine(bytes.subarray(start, end), breaches);
    if (event) lines.push({ number, event });
    start = end + 1;
  }
  return { lines, breaches: breaches.all };
}

function readLine(bytes: Uint8Array, breaches: Breaches): Line["event"] | undefined {
  const text = decode(bytes);
  if (text === undefined) {
    breaches.need(false, "R1", "not UTF-8");
    return undefined;
  }
  breaches.need(!text.startsWith("\ufeff"), "R1", "a BOM");
  const body = text.replace(/^\ufeff/, "");
  breaches.need(body === body.trim() && body !== "", "R1", "a blank line, a CR or blanks around the object");
  breaches.need(!/[\u2028\u2029]/.test(body), "R2", "U+2028 or U+2029 is not escaped");
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    breaches.need(false, "R1", `not JSON: ${show(body)} (${error instanceof Error ? error.message : String(error)})`);
    return undefined;
  }
  if (isObject(value) && typeof value["type"] === "string") return value;
  breaches.need(false, "R1", `no object with a type: ${show(value)}`);
  return undefined;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
