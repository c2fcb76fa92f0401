// How a script's text is cut into pieces: plain text by its length, everything else never inside a grapheme.
import { expect, test } from "bun:test";
import { createScriptedEngine, ScriptedFile } from "../../../src/engines/scripted.ts";

async function deltasOf(text: string, chunk?: number): Promise<string[]> {
  const script = ScriptedFile.parse({ steps: [[{ text, ...(chunk === undefined ? {} : { chunk }) }]] });
  const request = { purpose: "step", system: "", messages: [], tools: [], thinking: "off", temperature: 0, maxTokens: 1, signal: new AbortController().signal } as const;
  const events = await Array.fromAsync(createScriptedEngine(script, "x").act(request));
  return events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
}

test("plain text is cut by its length, four characters by default; no text has no piece", async () => {
  expect(await deltasOf("one two\tthree\n")).toEqual(["one ", "two\t", "thre", "e\n"]);
  expect(await deltasOf("abcdef", 6)).toEqual(["abcdef"]);
  expect(await deltasOf("abcdefg", 6)).toEqual(["abcdef", "g"]);
  expect(await deltasOf("")).toEqual([]);
});

test("a grapheme stays whole, also when it is longer than a piece", async () => {
  const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
  expect(await deltasOf(`ab${family}cd`)).toEqual(["ab", family, "cd"]);
  expect(await deltasOf("abc\r\nd")).toEqual(["abc", "\r\nd"]);
  expect(await deltasOf("e\u0301e\u0301e\u0301")).toEqual(["e\u0301e\u0301", "e\u0301"]);
});
