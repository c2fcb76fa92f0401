// The parts of a file that a text speaks of by name, such as a function or a column: for telling which of them are not there.

/** Behind these words stands a name, whatever it looks like. */
const codeKinds = "class|column|constant|function|method|variable";
/** Behind these stands one only where it is marked as a name. */
const otherKinds = "entry|field|heading|key|option|parameter|property|section|setting|table";
const noNames = new Set("a all an and are at be by called can declared defined do does exist exists for from has have header headers here if in into is it its itself list name named names of on or return returns takes that the there this to use used uses was were what where which with".split(" "));

/** Each once, as it is written, without its marks. */
export function namedThings(text: string): string[] {
  const kinds = `${codeKinds}|${otherKinds}`;
  const found = [
    ...text.matchAll(/(?<![\w.])([A-Za-z_]\w*)\(\)/g),
    ...text.matchAll(new RegExp(`\\b(?:${codeKinds})\\s+(?:called\\s+|named\\s+)?([A-Za-z_]\\w*)(?![\\w(.])`, "gi")),
    ...text.matchAll(new RegExp(`\\b(?:${kinds})\\s+(?:called\\s+|named\\s+)?(?:"([^"\\n]+)"|\`([^\`\\n]+)\`|'([^'\\n]+)')`, "gi")),
    ...text.matchAll(new RegExp(`(?:"([^"\\n]+)"|\`([^\`\\n]+)\`)\\s+(?:${kinds})\\b`, "gi")),
  ].map(([, ...groups]) => groups.find((group) => group !== undefined) ?? "");
  return [...new Set(found.map((name) => name.replace(/\(\)$/, "")))].filter((name) => name !== "" && !noNames.has(name.toLowerCase()));
}
