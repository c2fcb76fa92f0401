// Random configurations with comments anywhere: an edit changes the one value and loses no comment.
import { expect, test } from "bun:test";
import { parse, type ParseError } from "jsonc-parser";
import { withoutValue, withValue } from "../../../src/config/edit.ts";

/** A repeatable stream of numbers in [0, 1) (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Data = { [name: string]: number | string | Data };
const groups = ["a", "b", "c"];
const leaves = ["x", "y", "z"];

function make(next: () => number): { text: string; comments: string[] } {
  const eol = next() < 0.5 ? "\n" : "\r\n";
  const comments: string[] = [];
  const gap = (): string => {
    const kind = next();
    if (kind < 0.45) return "";
    if (kind < 0.6) return " ";
    if (kind < 0.75) return `${eol}${" ".repeat(Math.floor(next() * 4))}`;
    const comment = `c${comments.length},}`;
    comments.push(comment);
    return kind < 0.88 ? ` /* ${comment} */` : ` // ${comment}${eol}  `;
  };
  const object = (depth: number): string => {
    const names = [...leaves, ...(depth < 2 ? groups : [])].filter(() => next() < 0.5);
    const members = names.map((name) => `${gap()}"${name}"${gap()}:${gap()}${groups.includes(name) ? object(depth + 1) : next() < 0.5 ? "1" : '"s // , }"'}${gap()}`);
    const trailing = members.length > 0 && next() < 0.3 ? `,${gap()}` : "";
    return `{${members.length === 0 ? gap() : members.join(",")}${trailing}}`;
  };
  const text = `${gap()}${object(0)}${gap()}`;
  return { text, comments };
}

function read(text: string): Data {
  const errors: ParseError[] = [];
  const data = parse(text, errors, { allowTrailingComma: true }) as Data;
  expect(errors).toEqual([]);
  return data;
}

function changed(data: Data, [step = "", ...rest]: string[], value: number | undefined): Data {
  const { [step]: inner, ...others } = data;
  if (rest.length > 0) {
    if (value === undefined && inner === undefined) return data;
    return { ...others, [step]: changed(typeof inner === "object" ? inner : {}, rest, value) };
  }
  return value === undefined ? others : { ...others, [step]: value };
}

test("2000 random edits", () => {
  for (let seed = 1; seed <= 2000; seed++) {
    const next = random(seed);
    const { text, comments } = make(next);
    const pick = (names: string[]): string => names[Math.floor(next() * names.length)] ?? "";
    const path = [...(next() < 0.7 ? [pick(groups)] : []), ...(next() < 0.4 ? [pick(groups)] : []), pick(leaves)];
    const value = next() < 0.5 ? 7 : undefined;
    const after = value === undefined ? withoutValue(text, path.join(".")) : withValue(text, path.join("."), value);
    expect([seed, read(after)]).toEqual([seed, changed(read(text), path, value)]);
    const isInside = (comment: string): boolean => after.includes(comment);
    // A comment between a removed key and its own value goes with them.
    const lost = comments.filter((comment) => !isInside(comment));
    if (value !== undefined) expect([seed, lost]).toEqual([seed, []]);
    else expect([seed, lost.filter((comment) => !new RegExp(`"${path.at(-1)}"[^"]*${comment}`).test(text))]).toEqual([seed, []]);
  }
});
