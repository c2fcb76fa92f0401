// Files that are to be moved or copied without being named: when they are asked for apart, how, and what calls come of it.
import { expect, test } from "bun:test";
import { z } from "zod";
import { selectedCalls, type Selection, selectionChat, selectionGrammar, selectionOf } from "../../../src/agent/selection.ts";
import type { Tool, WorkspaceView } from "../../../src/core/tool.ts";
import type { WorkKind } from "../../../src/core/work.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";

const move: Tool = { name: "fs.move", description: "", class: "write", serves: ["move"], callsFor: (files) => files.map(({ path, to }) => ({ from: path, to })), schema: z.strictObject({}), needs: async () => [], run: async () => ({ content: [] }) };
const texts: Record<string, string> = { "a b.txt": "open\n", "c d.txt": "paid\n", "e.csv": "x", "old/f.csv": "y" };
const names = { files: Object.keys(texts), folders: [".", "old"] };
const view = { text: async (path: string) => texts[path] } as unknown as WorkspaceView;
const of = async (request: string, ...kinds: WorkKind[]): Promise<Selection | undefined> => selectionOf({ request, names, tools: [move], view, work: { isChange: true, kinds: new Set(kinds) } });

async function selection(request: string): Promise<Selection> {
  const found = await of(request, "move");
  if (!found) throw new Error("nothing is to be chosen");
  return found;
}

const byName = "Rename all files so that their names have dashes for spaces.";
const byText = "Move the paid ones into old, and the files with an x.";

test.each([
  ["Put a dash for each space in the names, so that a b.txt becomes a-b.txt; do it for all files.", ["move"], true],
  ["Put a dash for each space in the names, for all files.", ["move"], true],
  ["The csv files go into a new folder data.", ["move", "create"], true],
  ["Move the two texts into old.", ["move"], true],
  ["Move the paid ones into old and write done.txt.", ["move", "create"], false],
  ["Move the paid ones into old and sort e.csv.", ["move", "sort"], false],
  ["Rename e.csv to g.csv.", ["move"], false],
  ["Copy all files into old.", ["copy"], false],
  ["Change them all.", ["edit"], false],
] as const)("%s %j", async (request, kinds, isChosen) => {
  expect((await of(request, ...kinds)) !== undefined).toBe(isChosen);
});

test("what the files hold is shown where that may tell which are meant, and then something is said of each", async () => {
  const shown = async (request: string): Promise<boolean> => (selectionChat(await selection(request)).at(-1)?.text ?? "").includes("paid\n");
  expect([await shown(byText), await shown(byName)]).toEqual([true, false]);
  const grammar = parseGbnf(selectionGrammar(await selection(byText)));
  const stays = "a b.txt (open) -> a b.txt\nc d.txt (paid) -> old/c d.txt\ne.csv (an x) -> old/e.csv\n";
  expect([accepts(grammar, `${stays}old/f.csv (no) -> old/f.csv\n`), accepts(grammar, stays), accepts(grammar, stays.replaceAll(" (open)", ""))]).toEqual([true, false, false]);
});

test("by their names each can be chosen once, in their order, and nothing else", async () => {
  const grammar = parseGbnf(selectionGrammar(await selection(byName)));
  expect(["a b.txt -> a-b.txt\n", "a b.txt -> x\nold/f.csv -> y\n", "c d.txt -> old/\ne.csv -> z w\n"].filter((text) => !accepts(grammar, text))).toEqual([]);
  expect(["", "a b.txt -> \n", "a b.txt\n", "e.csv -> x\na b.txt -> y\n", "g.csv -> x\n", "e.csv -> x\ne.csv -> y\n", "e.csv -> x"].filter((text) => accepts(grammar, text))).toEqual([]);
});

test("the calls: a folder takes files under their names, what keeps its path is left out", async () => {
  expect(selectedCalls(await selection(byName), "a b.txt -> a-b.txt\ne.csv -> data\nold/f.csv -> ./\nc d.txt -> c d.txt\n")).toEqual([{ from: "a b.txt", to: "a-b.txt" }, { from: "e.csv", to: "data/e.csv" }, { from: "old/f.csv", to: "f.csv" }]);
  expect(selectedCalls(await selection(byText), "a b.txt (open) -> a b.txt\nc d.txt (paid) -> old\ne.csv (x) -> e.csv\nold/f.csv (y) -> old/f.csv\n")).toEqual([{ from: "c d.txt", to: "old/c d.txt" }]);
});

test.each([
  ["cut", "a b.txt -> a-"],
  ["where nothing moves", "a b.txt -> a b.txt\n"],
  ["that makes one of two", "a b.txt -> x.txt\nc d.txt -> x.txt\n"],
  ["in the place of another file", "a b.txt -> c d.txt\n"],
  ["that makes another kind of file", "a b.txt -> a.pdf\n"],
])("no calls of an answer %s", async (_name, answer) => {
  expect(selectedCalls(await selection(byName), answer)).toBeUndefined();
});

test("nor of one that moves everything, where not all is meant", async () => {
  const everything = "a b.txt -> new/a b.txt\nc d.txt -> new/c d.txt\ne.csv -> new/e.csv\nold/f.csv -> new/f.csv\n";
  expect([selectedCalls(await selection("Move those with a space in their names into new."), everything), selectedCalls(await selection(byName), everything)?.length]).toEqual([undefined, 4]);
});
