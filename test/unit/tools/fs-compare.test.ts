// fs.compare: what differs, and nothing else.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { hintOf } from "../../../src/agent/hint.ts";
import { fixture } from "./fixture.ts";

test.each([
  ["settings by their sections", "ini", "; c\n[db]\nhost = a\nport=1\n[log]\nlevel: 2\n", "[db]\nport = 1\nhost = b\n[log]\nkeep = 3\n", ["db.host differs: a in a.ini, b in b.ini", "log.level is only in a.ini: 2", "log.keep is only in b.ini: 3"]],
  ["settings in a copy", "toml.old", '[a]\nx = "1"\ny = "2"\n', '[a]\ny = "3"\n', ['a.y differs: "2" in a.toml.old, "3" in b.toml.old', 'a.x is only in a.toml.old: "1"']],
  ["values of JSON", "json", '{"a":{"b":1,"c":[1,2]},"d":true}', '{"d":true,"a":{"c":[1,3],"b":1}}', ["a.c[1] differs: 2 in a.json, 3 in b.json"]],
  ["JSON in another order", "json", '{"a":1,"b":{}}', '{"b":{},"a":1}', ["all settings of a.json and b.json have the same values"]],
  ["lines of a text", "txt", "x\ny\nz\n", "x\nY\nz\nw\n", ['line 2 differs: "y" in a.txt, "Y" in b.txt', "only in b.txt: w"]],
  ["a changed line side by side", "txt", "a\nthe river turning west.\nz\n", "a\nthe valley turning west.\nz\n", ['line 2 differs: "the river turning west." in a.txt, "the valley turning west." in b.txt']],
  ["rows by their first cells", "csv", "item,euros\nHoney,6.50\nSoap,4.20\nTea,7\nJam,3\n", "item,euros\nSoap,3.90\nHoney,7.20\nTea,7\nBalm,4\n", ["Honey: euros is 6.50 in a.csv and 7.20 in b.csv, 0.7 higher there", "Soap: euros is 4.20 in a.csv and 3.90 in b.csv, 0.3 lower there", "[lower by most: Soap (0.3); higher by most: Honey (0.7)]", "only in a.csv: Jam,3", "only in b.csv: Balm,4"]],
  ["rows whose words and empty cells differ", "csv", "name,town,age\nAnn,Bern,\n", "name,town,age\nAnn,Chur,30\n", ["Ann: town is Bern in a.csv and Chur in b.csv", "Ann: age is empty in a.csv and 30 in b.csv"]],
  ["rows of the same first cell as lines", "csv", "name,n\nAnn,1\nAnn,2\n", "name,n\nAnn,1\nAnn,3\n", ['line 3 differs: "Ann,2" in a.csv, "Ann,3" in b.csv']],
  ["lines whose first parts say which they are", "txt", "Bram, cello\nIda, flute\nLin, violin\n", "Ida, flute\nLin, viola\nYuki, cello\n", ["Lin: violin in a.txt and viola in b.txt", "only in a.txt: Bram, cello", "only in b.txt: Yuki, cello"]],
  ["a list in another order", "txt", "a\nb\nc\nd\n", "d\na\nx\n", ["only in a.txt: b", "only in a.txt: c", "only in b.txt: x", "(1 line is in both, at another place)"]],
  ["nothing but the order", "txt", "a\nb\n", "b\na\n", ["(1 line is in both, at another place)"]],
  ["a text that only has the ending of settings", "ini", "hello\n", "hello you\n", ['line 1 differs: "hello" in a.ini, "hello you" in b.ini']],
  ["the same line several times", "txt", "x\n", "x\ny\ny\n", ["only in b.txt (2 times): y"]],
  ["elements of a list by what they are called", "json", '[{"id":"a","n":1},{"id":"b","n":2}]', '[{"id":"b","n":2},{"id":"a","n":3}]', ["a.n differs: 1 in a.json, 3 in b.json"]],
  ["the same text", "txt", "x\n", "x\n", ["a.txt and b.txt hold the same text"]],
  ["the same text with other line ends", "txt", "x\ny\n", "\uFEFFx\r\ny\r\n", ["a.txt and b.txt hold the same text, with other line ends"]],
])("%s", async (_name, ending, one, other, lines) => {
  using at = fixture();
  writeFileSync(join(at.workspace, `a.${ending}`), one);
  writeFileSync(join(at.workspace, `b.${ending}`), other);
  expect(await at.call("fs.compare", { path: `a.${ending}`, other: `b.${ending}` })).toMatchObject({ isError: false, text: lines.join("\n") });
});

test("what can't be compared, and a difference that does not fit", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a"), "x\n".repeat(9000));
  writeFileSync(join(at.workspace, "b"), "y\n".repeat(9000));
  writeFileSync(join(at.workspace, "c"), "\0");
  writeFileSync(join(at.workspace, "d"), Array.from({ length: 450 }, (_, index) => `${"z".repeat(300)}${index}\n`).join(""));
  for (const [path, other, text] of [["a", "a", "a and a are the same file; name two files"], ["a", "c", "c is a binary file; fs.compare takes plain text only"], ["a", "none", "none"]] as const) {
    expect(await at.call("fs.compare", { path, other })).toMatchObject({ isError: true, text: expect.stringContaining(text) });
  }
  expect((await at.call("fs.compare", { path: "a", other: "b" })).text).toBe("a and b differ in more than 1000 lines");
  writeFileSync(join(at.workspace, "e"), Array.from({ length: 450 }, (_, index) => `${"w".repeat(300)}${index}\n`).join(""));
  const { details, text } = await at.call("fs.compare", { path: "d", other: "e" });
  expect([details["differences"], text.split("\n").length < 901, /\[\d+ more lines differ\]$/.test(text)]).toEqual([900, true, true]);
});

test("of lists with amounts the sums are told where the request is about them", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.txt"), "Offer\nTiles 1380\nBasin 1165\n");
  writeFileSync(join(at.workspace, "b.txt"), "Offer\nTiles 1450\nBasin 980\n");
  writeFileSync(join(at.workspace, "c.txt"), "nothing of it\n");
  const told = async (other: string, request: string): Promise<string> => {
    const { details, text } = await at.call("fs.compare", { path: "a.txt", other });
    return hintOf({ role: "toolResult", toolCallId: "1", toolName: "fs.compare", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("fs.compare")], request);
  };
  expect(await told("b.txt", "Which offer is cheaper?")).toBe("(the sum of the amounts: 2545 in a.txt, 2430 in b.txt)");
  expect(await told("b.txt", "Where do they differ?")).toBe("");
  expect(await told("c.txt", "Which offer is cheaper?")).toBe("");
});
