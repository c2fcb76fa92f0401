// Files that a change is about without naming them: when they are asked for apart, how, and what calls come of it.
import { expect, test } from "bun:test";
import { z } from "zod";
import { selectedCalls, type Selection, selectionChat, selectionGrammar, selectionOf } from "../../../src/agent/selection.ts";
import type { ChosenFile, Tool, WorkspaceView } from "../../../src/core/tool.ts";
import type { WorkKind } from "../../../src/core/work.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";

const tool = (name: string, serves: WorkKind[], callsFor: (files: readonly ChosenFile[]) => Record<string, unknown>[]): Tool => ({ name, description: name, class: "write", serves, callsFor, schema: z.strictObject({}), needs: async () => [], run: async () => ({ content: [] }) });
const move = tool("fs.move", ["move"], (files) => files.map(({ path, to }) => ({ from: path, to })));
const trash = tool("fs.trash", ["delete"], (files) => [{ paths: files.map(({ path }) => path) }]);
const texts: Record<string, string> = { "a b.txt": "open\n", "c d.txt": "paid\n", "e.csv": "x", "old/f.csv": "y" };
const names = { files: Object.keys(texts), folders: [".", "old"] };
const view = { text: async (path: string) => texts[path] } as unknown as WorkspaceView;
const of = async (request: string, ...kinds: WorkKind[]): Promise<Selection | undefined> => selectionOf({ request, names, tools: [move, trash], view, work: { isChange: true, kinds: new Set(kinds) } });
const selection = async (request = "Rename all files.", ...kinds: WorkKind[]): Promise<Selection> => {
  const found = await of(request, ...(kinds.length > 0 ? kinds : (["move"] as const)));
  if (!found) throw new Error("nothing is to be chosen");
  return found;
};

test.each([
  ["Put a dash for each space in the names, so that a b.txt becomes a-b.txt; do it for all files.", ["move"], true],
  ["The csv files go into data.", ["move"], true],
  ["Move the paid ones into old and write done.txt.", ["move", "append"], true],
  ["Rename e.csv to g.csv.", ["move"], false],
  ["Delete the folder old.", ["delete"], false],
  ["Delete the drafts.", ["delete"], true],
  ["Count them and delete the longest.", ["count", "delete"], false],
  ["Change them all.", ["edit"], false],
] as const)("%s", async (request, kinds, isChosen) => {
  expect((await of(request, ...kinds)) !== undefined).toBe(isChosen);
});

test("what the files hold is shown where that may tell which are meant", async () => {
  const shown = async (request: string): Promise<boolean> => (selectionChat(await selection(request)).at(-1)?.text ?? "").includes("paid\n");
  expect([await shown("Move the paid ones into old."), await shown("Move all whose names have a blank into old.")]).toEqual([true, false]);
});

test("each file can be chosen once, in their order, and nothing else", async () => {
  const moving = parseGbnf(selectionGrammar(await selection()));
  expect(["a b.txt -> a-b.txt\n", "a b.txt -> x\nold/f.csv -> y\n", "c d.txt -> old/\ne.csv -> z w\n"].filter((text) => !accepts(moving, text))).toEqual([]);
  expect(["", "a b.txt -> \n", "a b.txt\n", "e.csv -> x\na b.txt -> y\n", "g.csv -> x\n", "e.csv -> x\ne.csv -> y\n", "e.csv -> x"].filter((text) => accepts(moving, text))).toEqual([]);
  const deleting = parseGbnf(selectionGrammar(await selection("Delete the drafts.", "delete")));
  expect([accepts(deleting, "a b.txt\nold/f.csv\n"), accepts(deleting, "a b.txt -> x\n")]).toEqual([true, false]);
});

test("the calls: a folder takes files under their names, what stays is left out", async () => {
  const chosen = await selection();
  expect(selectedCalls(chosen, "a b.txt -> a-b.txt\ne.csv -> data\nold/f.csv -> ./\nc d.txt -> c d.txt\n")).toEqual([{ from: "a b.txt", to: "a-b.txt" }, { from: "e.csv", to: "data/e.csv" }, { from: "old/f.csv", to: "f.csv" }]);
  expect(selectedCalls(await selection("Delete the drafts.", "delete"), "a b.txt\ne.csv\n")).toEqual([{ paths: ["a b.txt", "e.csv"] }]);
});

test.each([
  ["cut", "a b.txt -> a-"],
  ["where nothing moves", "a b.txt -> a b.txt\n"],
  ["that makes one of two", "a b.txt -> x.txt\nc d.txt -> x.txt\n"],
  ["in the place of another file", "a b.txt -> e.csv\n"],
])("no calls of an answer %s", async (_name, answer) => {
  expect(selectedCalls(await selection(), answer)).toBeUndefined();
});
