// fs.append: what was there stays byte for byte, and the new lines are lines of their own.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

const additions: [name: string, before: string, text: string, after: string][] = [
  ["a whole last line", "a\n", "b", "a\nb\n"],
  ["text with its line end", "a\n", "b\n", "a\nb\n"],
  ["an open last line stays a line of its own", "a", "b", "a\nb"],
  ["an open last line that the text ends itself", "a\r\nb", "\r\nc", "a\r\nb\r\nc"],
  ["an open last line and a blank one", "a", "\n\nb", "a\n\nb"],
  ["several lines", "a\n", "b\nc", "a\nb\nc\n"],
  ["a blank line is kept", "a\n", "\nb\n", "a\n\nb\n"],
  ["an empty file", "", "b", "b\n"],
  ["CRLF", "a\r\n", "b\nc", "a\r\nb\r\nc\r\n"],
  ["CRLF, open last line", "a\r\nb", "c\r\n", "a\r\nb\r\nc"],
  ["bytes of an unknown encoding", "caf\xe9\xff\n", "b", "caf\xe9\xff\nb\n"],
];
test.each(additions)("appends: %s", async (_name, before, text, after) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), bytes(before));
  const appended = await at.call("fs.append", { path: "f", text });
  expect(appended).toMatchObject({ isError: false, details: { path: join(at.workspace, "f"), created: false } });
  expect(readFileSync(join(at.workspace, "f")).toString("latin1")).toBe(after);
});

test("shows the end of the file", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "1\n2\n3\n4\n");
  expect((await at.call("fs.append", { path: "f", text: "5\n6" })).text).toBe("appended to f; it now ends:\n3\n4\n5\n6");
});

test("makes the file and its folder", async () => {
  using at = fixture();
  const made = await at.call("fs.append", { path: "new/f", text: "a" });
  expect(made).toMatchObject({ isError: false, text: "wrote new/f; it now ends:\na", details: { bytes: 2, created: true } });
  expect(readFileSync(join(at.workspace, "new/f"), "utf8")).toBe("a\n");
});

test("a folder takes no lines", async () => {
  using at = fixture();
  expect(await at.call("fs.append", { path: ".", text: "a" })).toMatchObject({ isError: true });
  expect(existsSync(join(at.workspace, "a"))).toBe(false);
});

test.each([
  ["a cell too many", "t.csv", "id,name\n1,a\n", "2,b,c", true],
  ["a blank that no other row has", "t.csv", "id,name\n1,a\n", "2, b", true],
  ["a row like the others", "t.csv", "id,name\n1,a\n", "2,b", false],
  ["blanks that the others have too", "t.csv", "id, name\n1, a\n", "2, b", false],
  ["decimal commas between semicolons", "t.csv", "id;size\n1;2\n", "2;3,5", false],
  ["a table whose own rows differ", "t.csv", "id,name\n1,a,x\n2,b\n", "3,c,y", false],
  ["a quoted cell", "t.csv", "id,name\n1,a\n", '2,"b,c"', false],
  ["a file that is no table", "t.txt", "a, b\n", "c", false],
])("a row that is not like the others is refused: %s", async (_name, file, before, text, isRefused) => {
  using at = fixture();
  writeFileSync(join(at.workspace, file), before);
  const called = await at.call("fs.append", { path: file, text });
  expect([called.isError, called.text.includes("is not written like"), readFileSync(join(at.workspace, file), "utf8") === before]).toEqual([isRefused, isRefused, isRefused]);
});

test("a row that only has blanks too many is said as it should be, by fs.insert too", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "t.csv"), "id,name\n1,a\n");
  for (const [tool, args] of [["fs.append", { text: "2, b" }], ["fs.insert", { text: "2, b", below: "1,a" }]] as const) {
    expect(await at.call(tool, { path: "t.csv", ...args })).toMatchObject({ isError: true, text: "nothing was added: the row 2, b is not written like the others of t.csv: id,name. Write 2,b" });
  }
});

const menu = '{\n  "items": [\n    { "dish": "pie", "price": 6 }\n  ]\n}\n';
test.each([
  ["one more element of its list", '{"tags":["a"]}\n', '"b"', '{"tags":["a","b"]}\n'],
  ["plain lines as texts", '["a"]', "b\nc", '["a","b","c"]'],
  ["an element with the comma before the next one", '[{"n":1}]', '{"n":2},', '[{"n":1},{"n":2}]'],
  ["several elements", "[1]\n", "[2, 3]", "[1,2,3]\n"],
  ["elements one after another", "[1]", "2, 3", "[1,2,3]"],
  ["members of an object without lists", '{"a":1}', '"b": 2', '{"a":1,"b": 2}'],
  ["an element as the others are laid out", menu, '{"dish":"tea","price":2}', menu.replace("6 }", '6 },\n    { "dish": "tea", "price": 2 }')],
])("what is added to JSON stays JSON: %s", async (_name, before, text, after) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.json"), before);
  expect(await at.call("fs.append", { path: "f.json", text })).toMatchObject({ isError: false });
  expect(readFileSync(join(at.workspace, "f.json"), "utf8")).toBe(after);
});

test.each([
  ["what is no element", menu, '"tea": 2', 'text is to be one more element of items in f.json, written like {"dish":"pie","price":6}'],
  ["a text for an object", menu, "tea", 'written like {"dish":"pie","price":6}'],
  ["one of several lists", '{"a":[1],"b":[]}', "2", 'f.json holds several lists: a, b. To add to one use fs.set with the key "a[1]"'],
  ["a member that is there", '{"a":1}', '"a": 2', "f.json has a already"],
  ["text for an object", '{"a":1}', "b = 2", "f.json is JSON. To give it a setting use fs.set"],
])("what would break JSON is not added: %s", async (_name, before, text, reason) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.json"), before);
  const refused = await at.call("fs.append", { path: "f.json", text });
  expect(refused).toMatchObject({ isError: true });
  expect(refused.text).toContain(reason);
  expect(readFileSync(join(at.workspace, "f.json"), "utf8")).toBe(before);
});

test("to a file that is no JSON in spite of its name lines are added", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.json"), "{\n");
  expect(await at.call("fs.append", { path: "f.json", text: "}" })).toMatchObject({ isError: false });
  expect(readFileSync(join(at.workspace, "f.json"), "utf8")).toBe("{\n}\n");
});
