// fs.set, fs.insert, fs.cut and fs.sort: what they change, and that everything else stays byte for byte.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

async function changed(tool: string, file: string, before: string, args: Record<string, unknown>): Promise<string> {
  using at = fixture();
  const path = join(at.workspace, file);
  writeFileSync(path, Buffer.from(before, "latin1"));
  const { isError, text } = await at.call(tool, { path: file, ...args });
  const after = readFileSync(path).toString("latin1");
  if (!isError) return after;
  expect(after).toBe(before);
  return `! ${text}`;
}

const ini = "[audio]\nvolume=7 ; loud\n\n[video]\nwidth = 640\n; height = 480\n";
const toml = 'title = "Old" # shown\n[print]\n# copies = 2\npaper = "A4"\n';
const json = '{\n  "name": "x",\n  "limits": { "beta": false, "size": 5 },\n  "list": [1, 2]\n}\n';
const menu = '{\n  "items": [\n    {\n      "dish": "pie",\n      "price": 6\n    }\n  ]\n}\n';
const settings: [name: string, file: string, before: string, key: string, value: string, after: string][] = [
  ["a text of JSON stays a text", "a.json", json, "name", "1.5", json.replace('"x"', '"1.5"')],
  ["a quoted text", "a.json", json, "name", '"y"', json.replace('"x"', '"y"')],
  ["a truth value further down", "a.json", json, "limits.beta", "true", json.replace("false", "true")],
  ["a switch", "a.json", json, "limits.beta", "on", json.replace("false", "true")],
  ["a number", "a.json", json, "limits.size", "50", json.replace("5 }", "50 }")],
  ["an element of a list", "a.json", json, "list.1", "9", json.replace("[1, 2]", "[1, 9]")],
  ["a new name", "a.json", '{\n  "a": 1\n}\n', "b.c", "two", '{\n  "a": 1,\n  "b": {\n    "c": "two"\n  }\n}\n'],
  ["a name with a dot", "a.json", '{"a.b": 1}', "a.b", "2", '{"a.b": 2}'],
  ["tabs and CRLF", "a.json", '{\r\n\t"a": 1\r\n}\r\n', "b", "2", '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n'],
  ["a comment stays", "a.jsonc", '{ // why\n  "a": 1, /* x */\n}', "a", "2", '{ // why\n  "a": 2, /* x */\n}'],
  ["INI, a comment behind the value stays", "a.ini", ini, "audio.volume", "3", ini.replace("=7", "=3")],
  ["INI, a new key of a section", "a.ini", ini, "audio.mute", "no", ini.replace("loud\n", "loud\nmute=no\n")],
  ["INI, the section is found", "a.ini", ini, "width", "800", ini.replace("640", "800")],
  ["INI, a comment comes into force", "a.ini", ini, "video.height", "600", ini.replace("; height = 480", "height = 600")],
  ["INI, a comment comes into force, whatever section was named", "a.ini", ini, "audio.height", "600", ini.replace("; height = 480", "height = 600")],
  ["INI, a new section", "a.ini", ini, "net.port", "80", `${ini}\n[net]\nport = 80\n`],
  ["INI, CRLF and an open last line", "a.ini", "[a]\r\nx=1", "a.y", "2", "[a]\r\nx=1\r\ny=2"],
  ["INI, a key above all sections", "a.ini", "x=1\n[a]\nx=2\n", "x", "3", "x=3\n[a]\nx=2\n"],
  ["TOML, quoted as before, the comment stays", "a.toml", toml, "title", "New", toml.replace("Old", "New")],
  ["TOML, a comment comes into force", "a.toml", toml, "print.copies", "2", toml.replace("# copies", "copies")],
  ["TOML, a new text is quoted", "a.toml", toml, "print.color", "red", `${toml}color = "red"\n`],
  [".env", ".env", "A=1\nB.C=2\n", "B.C", "x y", "A=1\nB.C=x y\n"],
  ["what an element of a list is called", "a.json", menu, "items.pie.price", "7", menu.replace("6", "7")],
  ["the same without the list's name", "a.json", menu, "pie.price", "7", menu.replace("6", "7")],
  ["a new member of such an element", "a.json", menu, "pie.hot", "yes", menu.replace('"price": 6', '"price": 6,\n      "hot": "yes"')],
  ["a new element of a list", "a.json", menu, "items.tea.price", "2", menu.replace("\n  ]", ',\n    {\n      "dish": "tea",\n      "price": 2\n    }\n  ]').replace("}\n,", "},")],
  ["a new element, the list is found", "a.json", '{"items":[{"dish":"pie","price":6}]}', "tea.price", "2", '{"items":[{"dish":"pie","price":6},{"dish":"tea","price":2}]}'],
  ["an element of two members by its name alone", "a.json", '{"items":[{"dish":"pie","price":6}]}', "items.tea", "2", '{"items":[{"dish":"pie","price":6},{"dish":"tea","price":2}]}'],
  ["the last element of a list", "a.json", '{"n":[1,2]}', "n[-1]", "3", '{"n":[1,3]}'],
  ["a list that is the whole file", "a.json", '[{"dish":"pie","price":6}]', "pie.price", "7", '[{"dish":"pie","price":7}]'],
  ["a byte order mark", "a.json", '\xef\xbb\xbf{"a":1}', "a", "2", '\xef\xbb\xbf{"a":2}'],
];
test.each(settings)("fs.set: %s", async (_name, file, before, key, value, after) => {
  expect(await changed("fs.set", file, before, { key, value })).toBe(after);
});

test.each([
  ["a name that is only further down", "a.json", json, "beta", "true", /no beta at the top; there is limits\.beta/],
  ["settings as one", "a.json", '{"s":{"x":1,"y":2}}', "s", "3", /s holds settings of its own: s\.x, s\.y\. Name one/],
  ["a list as a text", "a.json", '{"s":["x"]}', "s", "y", /s holds a list: s\[0\]\. Name one/],
  ["a text as an object", "a.json", json, "name.first", "y", /name is no object/],
  ["a list", "a.json", "[1]", "a", "1", /no JSON object/],
  ["broken JSON", "a.json", "{", "a", "1", /can't be read as JSON/],
  ["a key of two sections", "a.ini", "[a]\nx=1\n[b]\nx=2\n", "x", "3", /in the sections a, b/],
  ["a new key without a section", "a.ini", "[a]\nx=1\n", "y", "3", /put a section before it: a\.y/],
  ["a value of several lines", "a.ini", "x=1\n", "x", "1\n2", /one line/],
  ["TOML that would break", "a.toml", "a = [\n  1,\n]\n", "a", "2", /in one line of TOML/],
  ["another format", "a.yaml", "a: 1\n", "a", "2", /fs\.edit/],
] as const)("fs.set refuses %s", async (_name, file, before, key, value, reason) => {
  expect(await changed("fs.set", file, before, { key, value })).toMatch(new RegExp(`^! .*${reason.source}`));
});

test.each([
  ["in the middle", "a\nb\n", { below: "a", text: "x\ny" }, "a\nx\ny\nb\n"],
  ["below a part of a line", "one two\nb\n", { below: "two", text: "x" }, "one two\nx\nb\n"],
  ["below several lines", "a\nb\nc\n", { below: "a\nb\n", text: "x\n" }, "a\nb\nx\nc\n"],
  ["below an open last line", "a\nb", { below: "b", text: "x" }, "a\nb\nx"],
  ["a blank line before it", "a\nb\n", { below: "a", text: "\nx" }, "a\n\nx\nb\n"],
  ["what is there already", "a\nx\nb\n", { below: "a", text: "x" }, "a\nx\nb\n"],
  ["CRLF", "a\r\nb\r\n", { below: "a", text: "x\ny" }, "a\r\nx\r\ny\r\nb\r\n"],
  ["the whole line among its parts", "ab\na\n", { below: "a", text: "x" }, "ab\na\nx\n"],
  ["bytes of an unknown encoding", "caf\xe9\xff\nb\n", { below: "b", text: "x" }, "caf\xe9\xff\nb\nx\n"],
  ["at the top", "a\nb\n", { below: "", text: "x\n" }, "x\na\nb\n"],
])("fs.insert: %s", async (_name, before, args, after) => {
  expect(await changed("fs.insert", "f", before, args)).toBe(after);
});

test.each([
  ["a line", "a\nb\nc\n", "b", "a\nc\n"],
  ["the line of a part", "one 1\ntwo 2\n", "two", "one 1\n"],
  ["several lines", "a\nb\nc\n", "a\nb", "c\n"],
  ["an open last line", "a\nb", "b", "a\n"],
  ["CRLF", "a\r\nb\r\n", "a", "b\r\n"],
])("fs.cut: %s", async (_name, before, line, after) => {
  expect(await changed("fs.cut", "f", before, { which: "one", line })).toBe(after);
});

test("what stands on several lines is refused, and what stands on none", async () => {
  expect(await changed("fs.cut", "f", "xa\nya\n", { which: "one", line: "a" })).toMatch(/^! line is in f on lines 1, 2/);
  expect(await changed("fs.insert", "f", "a\na\n", { below: "a", text: "x" })).toMatch(/^! below is in f on lines 1, 2/);
  expect(await changed("fs.cut", "f", "xa\nb\nya\n", { which: "all", line: "a" })).toBe("b\n");
  expect(await changed("fs.cut", "f", "alpha\n", { which: "one", line: "alpho" })).toContain("the nearest is line 1");
});

test.each([
  ["lines", "f", "b\na\nc\n", {}, "a\nb\nc\n"],
  ["numbers, largest first", "f", "9\n10\n-1\n", { order: "descending" }, "10\n9\n-1\n"],
  ["rows by a column, the header on top", "t.csv", "name,age\nB,9\nA,10\n", { column: "age", order: "descending" }, "name,age\nA,10\nB,9\n"],
  ["quoted cells", "t.csv", 'n,t\n2,"x,\ny"\n1,z\n', { column: "n" }, 'n,t\n1,z\n2,"x,\ny"\n'],
  ["CRLF and an open last line", "f", "b\r\na", {}, "a\r\nb"],
  ["in order already", "f", "a\nb\n", {}, "a\nb\n"],
  ["bytes of an unknown encoding", "f", "b\xff\na\xe9\n", {}, "a\xe9\nb\xff\n"],
])("fs.sort: %s", async (_name, file, before, args, after) => {
  expect(await changed("fs.sort", file, before, args)).toBe(after);
});

test.each([
  ["a table without a column", "t.csv", "a,b\n1,2\n3,4\n", {}, /needs a column\. The columns are a, b\./],
  ["a column that is not there", "t.csv", "name,age\nB,9\n", { column: "size" }, /no column "size"/],
  ["several lists", "f", "b\n\na\n", {}, /blank lines/],
  ["what means something by its order", "a.json", "[1,\n2]\n", {}, /can't be sorted/],
])("fs.sort refuses %s", async (_name, file, before, args, reason) => {
  expect(await changed("fs.sort", file, before, args)).toMatch(new RegExp(`^! .*${reason.source}`));
});

test("a question shows the true effect, and outside the workspace nothing of the file", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "b\na\n");
  writeFileSync(join(at.outside, "f"), "secret\na\n");
  expect((await at.needs("fs.sort", { path: "f" }))[0]?.preview).toContain("-b\n a\n+b");
  expect(JSON.stringify(await at.needs("fs.sort", { path: join(at.outside, "f") }))).not.toContain("secret");
});

test.each([
  ["to the end of a section", "# T\n\n## A\n\na\n\n## B\n\nb\n", "## A", "## N\n\nn", "# T\n\n## A\n\na\n\n## N\n\nn\n\n## B\n\nb\n"],
  ["behind what is below it", "## A\na\n### A1\nx\n## B\n", "## A", "## N\nn\n", "## A\na\n### A1\nx\n\n## N\nn\n\n## B\n"],
  ["behind fenced code with a comment", "## A\n```sh\n# x\n```\n## B\n", "## A", "## N\nn", "## A\n```sh\n# x\n```\n\n## N\nn\n\n## B\n"],
  ["to the end of the document", "# T\n\n## A\n\na\n", "## A", "## N\n\nn\n", "# T\n\n## A\n\na\n\n## N\n\nn\n"],
  ["but text right below its heading", "## A\n\na\n", "## A", "new", "## A\nnew\n\na\n"],
  ["and a smaller heading too", "## A\n\na\n", "## A", "### N\nn", "## A\n### N\nn\n\na\n"],
  ["with the line ends of the file", "## A\r\na\r\n", "## A", "## N\nn", "## A\r\na\r\n\r\n## N\r\nn\r\n"],
] as const)("fs.insert puts a section of Markdown %s", async (_name, before, below, text, after) => {
  expect(await changed("fs.insert", "a.md", before, { below, text })).toBe(after);
});

test.each([
  ["of JSON, with what stands around it", "a.json", '{\n  "a": 1,\n  "b": [1, 2],\n  "c": {"d": true}\n}\n', "b", '{\n  "a": 1,\n  "c": {"d": true}\n}\n'],
  ["inside of another", "a.json", '{"c": {"d": true, "e": 2}}', "c.d", '{"c": {"e": 2}}'],
  ["of a list", "a.json", '{"b": ["x", "y"]}', "b[0]", '{"b": ["y"]}'],
  ["of a list, by what it is called", "a.json", '{"b":[{"name":"x","n":1},{"name":"y"}]}', "b.x", '{"b":[{"name":"y"}]}'],
  ["of a list of texts, by the text", "a.json", '{"b": ["x", "y"]}', "b.y", '{"b": ["x"]}'],
  ["of a section", "a.ini", "[a]\nx = 1\ny = 2\n[b]\nx = 3\n", "a.x", "[a]\ny = 2\n[b]\nx = 3\n"],
  ["of the environment, CRLF", "a.env", "A=1\r\nB=2\r\n", "A", "B=2\r\n"],
] as const)("fs.unset: a setting %s", async (_name, file, before, key, after) => {
  expect(await changed("fs.unset", file, before, { key })).toBe(after);
});

test.each([
  ["no such key of JSON", "a.json", '{"a":1}', "b", "there is no setting b; there is a. Nothing was changed"],
  ["no such key of lines", "a.env", "A=1\n#B=2\n", "B", "there is no setting B; there is A. Nothing was changed"],
  ["another format", "a.yaml", "a: 1\n", "a", "a.yaml is none of .json"],
  ["a key of two sections", "a.ini", "[a]\nx=1\n[b]\nx=2\n", "x", "x is in the sections a, b"],
] as const)("fs.unset refuses %s", async (_name, file, before, key, reason) => {
  expect(await changed("fs.unset", file, before, { key })).toStartWith(`! ${reason}`);
});

test("a section of Markdown goes with its heading, at the end of the file with the blank lines above it", async () => {
  using at = fixture();
  const cut = async (line: string): Promise<string> => {
    writeFileSync(join(at.workspace, "a.md"), "# A\n\n## Parking\n\n- two\n\n### Bikes\n\nhere\n\n## On foot\n\nbridge\n");
    const { isError, text } = await at.call("fs.cut", { path: "a.md", which: "section", line });
    return isError ? text : readFileSync(join(at.workspace, "a.md"), "utf8");
  };
  expect(await cut("## Parking")).toBe("# A\n\n## On foot\n\nbridge\n");
  expect(await cut("## On foot")).toBe("# A\n\n## Parking\n\n- two\n\n### Bikes\n\nhere\n");
  expect(await cut("- two")).toStartWith("line 5 of a.md is no heading of Markdown");
});
