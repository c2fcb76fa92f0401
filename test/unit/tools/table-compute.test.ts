// table.compute on files of every kind that it reads: the right number, and what to do when there is none.
import { expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../../src/core/limits.ts";
import { operations } from "../../../src/tools/table/compute.ts";
import { hintOf } from "../../../src/agent/hint.ts";
import { fixture, type Called, type Fixture } from "./fixture.ts";

const people = "name,age,city\nAnn,52,Oslo\nBob,31,Bergen\n\"Cem, Jr.\",52,Oslo\nDag,,Tromso\n";

type Question = { operation: (typeof operations)[number]; column?: string; where?: string };

function withFile(content: string, name = "people.csv"): Fixture & { ask: (question: Question) => Promise<Called> } {
  const at = fixture();
  writeFileSync(join(at.workspace, name), content);
  return Object.assign(at, { ask: (question: Question) => at.call("table.compute", { path: name, ...question }) });
}

test("each operation over a CSV file", async () => {
  using at = withFile(people);
  const texts = { } as Record<string, string>;
  for (const operation of operations) texts[operation] = (await at.ask({ operation, column: operation === "distinct" ? "city" : "age" })).text;
  expect(texts).toEqual({
    count: "count: 4 rows, in 3 of them the column holds something",
    sum: "sum of age: 135 (3 of 4 rows)\n[left out: 1 row without a number in age: (empty)]",
    average: "average of age: 45 (3 of 4 rows, sum 135)\n[left out: 1 row without a number in age: (empty)]",
    min: "min of age: 31 (4 rows)\nrow: name=Bob, age=31, city=Bergen\n[left out: 1 row without a number in age: (empty)]",
    max: "max of age: 52 (4 rows)\nrow: name=Ann, age=52, city=Oslo\nrow: name=Cem, Jr., age=52, city=Oslo\n[left out: 1 row without a number in age: (empty)]",
    sort_ascending: "4 rows by age, smallest first:\nname,age,city\nBob,31,Bergen\nAnn,52,Oslo\n\"Cem, Jr.\",52,Oslo\nDag,,Tromso",
    sort_descending: "4 rows by age, largest first:\nname,age,city\nAnn,52,Oslo\n\"Cem, Jr.\",52,Oslo\nBob,31,Bergen\nDag,,Tromso",
    distinct: "3 different values of city in 4 rows:\nOslo: 2\nBergen: 1\nTromso: 1",
    rows: "4 rows:\nname,age,city\nAnn,52,Oslo\nBob,31,Bergen\n\"Cem, Jr.\",52,Oslo\nDag,,Tromso\nage alone: 52, 31, 52, (empty)",
  });
  expect((await at.ask({ operation: "sum", column: "age" })).details).toEqual({ path: join(at.workspace, "people.csv"), rows: 4, sums: ["sum of age by city: Oslo 104, Bergen 31"] });
});

test("a row that is a total itself is left out of a sum, and a condition that always holds is none", async () => {
  using at = withFile("rent 700\nfood 310\ntotal 1010\n", "report.txt");
  expect((await at.ask({ operation: "sum", where: "1=1" })).text).toBe("sum of number: 1010 (2 rows)\n[each line is a row: its column line is the text, number the last number in it]\n[left out: the row total 1010, which is a total itself]");
  expect((await at.ask({ operation: "max" })).text).toStartWith("max of number: 1010 (3 rows)");
  for (const [last, sum] of [["Grand total: 1010 kg", "1010 (2 rows)"], ["Total Recall 1990", "3000 (3 rows)"], ["total cost of May 5", "1015 (3 rows)"]]) {
    writeFileSync(join(at.workspace, "report.txt"), `rent 700\nfood 310\n${last}\n`);
    expect((await at.ask({ operation: "sum" })).text).toStartWith(`sum of number: ${sum}`);
  }
});

test("so it is in each file of a folder", async () => {
  using at = withFile("rent 700\nfood 310\ntotal 1010\n", "may.txt");
  writeFileSync(join(at.workspace, "june.txt"), "rent 700\nfood 200\ntotal 900\n");
  writeFileSync(join(at.workspace, "all.txt"), "total 5\n");
  const { text } = await at.call("table.compute", { path: ".", operation: "sum" });
  expect(text).toStartWith("sum of number: 1915 (5 rows)");
  expect(text).toContain("left out: 2 rows that are totals themselves: june.txt: total 900, may.txt: total 1010]");
  expect((await at.call("table.compute", { path: ".", operation: "sum", where: "file = may.txt" })).text).toStartWith("sum of number where file = may.txt: 1010 (2 of 7 rows)");
});

test("a month or a year has its days; the sum of a group that the request names is told", async () => {
  using at = withFile("date,kind,amount\n2024-02-28,rent,690\n2024-03-02,groceries,64.20\n2024-03-05,travel,29\n2024-03-30,groceries,39.95\n2025-03-01,rent,1\n");
  for (const [where, rows] of [["date = '2024-03'", 3], ["date = 2024", 4], ["date != 2024", 1], ["date = 2024-03-3", 0], ["date = 202", 0]] as const) expect((await at.ask({ operation: "count", where })).details?.["rows"]).toBe(rows);
  const { details, text } = await at.ask({ operation: "sum", column: "amount", where: "date = 2024-03" });
  const hint = (request: string): string => hintOf({ role: "toolResult", toolCallId: "1", toolName: "table.compute", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("table.compute")], request);
  expect(hint("What did we spend on groceries in March?")).toBe("(sum of amount of kind groceries 104.15)");
  expect(hint("What did we spend in all?")).toBe("(sum of amount by kind: groceries 104.15, travel 29)");
  expect(hint("What did we spend in March?")).toBe("");
});

test("where takes comparisons of every kind", async () => {
  using at = withFile(people);
  for (const [where, names] of [
    ["city = Oslo", ["Ann", "Cem"]],
    ["City == 'oslo'", ["Ann", "Cem"]],
    ["city is not Oslo", ["Bob", "Dag"]],
    ["age > 31", ["Ann", "Cem"]],
    ["age >= 31 and city != Oslo", ["Bob"]],
    ["age<40 or city=\"Tromso\"", ["Bob", "Dag"]],
    ["age = 52.0", ["Ann", "Cem"]],
    ["age = ", ["Dag"]],
    ["name contains e", ["Cem"]],
    ["city LIKE '%er%'", ["Bob"]],
    ["city starts with T", ["Dag"]],
    ["name < C", ["Ann", "Bob"]],
    ["Bergen", ["Bob"]],
    ["age <= 30", []],
    ["name = salt and pepper", []],
  ] as const) {
    const { isError, text } = await at.ask({ operation: "rows", where });
    expect({ where, isError, names: ["Ann", "Bob", "Cem", "Dag"].filter((name) => text.includes(`\n${name}`) || text.includes(`"${name}`)) }).toEqual({ where, isError: false, names: [...names] });
  }
  expect((await at.ask({ operation: "count", where: "city = Oslo" })).text).toBe('count where city = Oslo: 2 of 4 rows\nname,age,city\nAnn,52,Oslo\n"Cem, Jr.",52,Oslo');
  expect((await at.ask({ operation: "sum", column: "age", where: "city = Oslo" })).text).toBe("sum of age where city = Oslo: 104 (2 of 4 rows)");
});

test("no row fits: the values that are there; a count of 0 is an answer", async () => {
  using at = withFile(people);
  expect(await at.ask({ operation: "count", where: "city = Olso" })).toMatchObject({ isError: false, text: "count where city = Olso: 0 of 4 rows\n[values of city: Oslo, Bergen, Tromso]", details: { rows: 0 } });
  expect((await at.ask({ operation: "count", where: "city = Olso" })).details).not.toHaveProperty("matches");
  expect(await at.ask({ operation: "max", column: "age", where: "city = Olso" })).toMatchObject({ isError: false, text: "no row of 4 where city = Olso\n[values of city: Oslo, Bergen, Tromso]", details: { matches: 0 } });
});

test("what can't be answered says which columns there are", async () => {
  using at = withFile(people);
  for (const [question, text] of [
    [{ operation: "sum", column: "agee" }, 'there is no column "agee"; did you mean age? The columns are name, age, city.'],
    [{ operation: "sum", column: "city" }, "the column city holds no numbers: Oslo, Bergen, Tromso. The columns are name, age, city."],
    [{ operation: "count", where: "town = Oslo" }, 'there is no column "town". The columns are name, age, city.'],
    [{ operation: "count", where: "age" }, "where has to compare a column with a value, such as name = something, or city > 5. The columns are name, age, city."],
    [{ operation: "distinct" }, "distinct needs a column. The columns are name, age, city."],
  ] as const) {
    expect(await at.ask(question)).toMatchObject({ isError: true, text });
  }
});

test("a column that can only be meant need not be named", async () => {
  using at = withFile(people);
  expect((await at.ask({ operation: "average", column: "" })).text).toStartWith("average of age: 45 ");
  expect((await at.ask({ operation: "count", column: "*", where: " " })).text).toBe("count: 4 rows");
});

test("numbers are exact, whatever is written around them", async () => {
  for (const [cells, expected] of [
    [["0.1", "0.2"], "0.3"],
    [["$1,234.50", "$0.50"], "$1235"],
    [["1.234,50", "0,25"], "1234.75"],
    [["12 km", "3.5 km"], "15.5 km"],
    [["10%", "2.5 %"], "12.5%"],
    [["(5)", "-2", "−1", "+10"], "2"],
    [["1e3", "2.5E-1"], "1000.25"],
    [["9007199254740993", "1"], "9007199254740994"],
    [["1 000", "1'000"], "2000"],
    [["007", ".5"], "7.5"],
  ] as const) {
    using at = withFile(`label;value\n${cells.map((cell) => `x;${cell}`).join("\n")}\n`);
    expect({ cells, text: (await at.ask({ operation: "sum", column: "value" })).text }).toEqual({ cells, text: `sum of value: ${expected} (${cells.length} rows)` });
  }
  using thirds = withFile("n\n1\n0\n0\n-3\n");
  expect((await thirds.ask({ operation: "average", where: "n >= 0" })).text).toBe("average of n where n >= 0: 0.333333 (3 of 4 rows, sum 1)");
  expect((await thirds.ask({ operation: "average" })).text).toBe("average of n: -0.5 (4 rows, sum -2)");
  using units = withFile("file,size\na,900 kB\nb,2 MB\n");
  for (const question of [{ operation: "max", column: "size" }, { operation: "sum", column: "size" }, { operation: "count", where: "size > 1 MB" }] as const) {
    expect(await units.ask(question)).toMatchObject({ isError: true, text: expect.stringMatching(/different units \((kB, MB|MB, kB)\)/) });
  }
});

test("the extreme of a text column comes with that of the only column of numbers", async () => {
  using one = withFile("day,degrees\n2026-07-01,24\n2026-07-02,9\n");
  expect((await one.ask({ operation: "max", column: "day" })).text).toBe("max of day: 2026-07-02 (2 rows)\nrow: day=2026-07-02, degrees=9\nmax of degrees: 24 (2 rows)\nrow: day=2026-07-01, degrees=24");
  using two = withFile("day,degrees,rain\n2026-07-01,24,0\n");
  expect((await two.ask({ operation: "max", column: "day" })).text).toBe("max of day: 2026-07-01 (1 row)\nrow: day=2026-07-01, degrees=24, rain=0");
});

test("texts, dates and times have an order too", async () => {
  using at = withFile("when\tat\tversion\n2026-01-17\t9:30\t1.9.0\n2025-12-31\t12:05\t1.10.0\n", "a.tsv");
  expect((await at.ask({ operation: "min", column: "when" })).text).toBe("min of when: 2025-12-31 (2 rows)\nrow: when=2025-12-31, at=12:05, version=1.10.0");
  expect((await at.ask({ operation: "max", column: "at" })).text).toStartWith("max of at: 12:05");
  expect((await at.ask({ operation: "max", column: "version" })).text).toStartWith("max of version: 1.10.0");
  expect((await at.ask({ operation: "count", where: "when >= 2026-01-01" })).text).toBe("count where when >= 2026-01-01: 1 of 2 rows\nwhen\tat\tversion\n2026-01-17\t9:30\t1.9.0");
});

test("JSON: a list, a list inside, several lists, an object, a line each", async () => {
  const items = [{ id: 1, price: 2.5, tags: ["a"] }, { id: 2, price: 4, more: null }];
  for (const [name, content] of [
    ["list.json", JSON.stringify(items)],
    ["inner.json", JSON.stringify({ meta: { page: 1 }, data: { items } })],
    ["lines.jsonl", items.map((item) => JSON.stringify(item)).join("\n")],
    ["members.json", JSON.stringify({ pen: items[0], book: items[1] })],
  ] as const) {
    using at = withFile(content, name);
    expect({ name, text: (await at.ask({ operation: "sum", column: "price" })).text.split("\n")[0] }).toEqual({ name, text: "sum of price: 6.5 (2 rows)" });
  }
  using several = withFile(JSON.stringify({ users: [{ name: "a" }], orders: [{ total: 3 }, { total: 4 }] }), "db.json");
  expect((await several.ask({ operation: "sum", column: "total" })).text).toBe("sum of total: 7 (2 rows)\n[this is orders; db.json also holds users (1 row)]");
  expect(await several.ask({ operation: "sum", column: "size" })).toMatchObject({ isError: true, text: 'there is no column "size". The columns of users are name.' });
  using plain = withFile('{"rent": 800, "food": 230.5}', "costs.json");
  expect((await plain.ask({ operation: "sum" })).text).toStartWith("sum of value: 1030.5 (2 rows)");
  expect((await plain.ask({ operation: "max" })).text).toContain("row: key=rent, value=800");
  using broken = withFile('{"rent": 800,', "costs.json");
  expect(await broken.ask({ operation: "sum" })).toMatchObject({ isError: true, text: expect.stringContaining("costs.json is no valid JSON: ") });
});

test("Markdown: the table that has the column, cells without their marks", async () => {
  using at = withFile("# Team\n\n| name | born |\n| --- | ---: |\n| **Ann** | 1980 |\n| Bob \\| Co | 1971 |\n\ntext | with a bar\n\n## Costs\n\nitem | euro\n--- | ---\npen | 3\nbook | 20\n", "a.md");
  expect((await at.ask({ operation: "min", column: "born" })).text).toBe("min of born: 1971 (2 rows)\nrow: name=Bob | Co, born=1971\n[this is Team; a.md also holds Costs (2 rows)]");
  expect((await at.ask({ operation: "sort_descending", column: "euro" })).text).toStartWith("2 rows by euro, largest first:\nitem | euro\n--- | ---\nbook | 20\npen | 3\n");
  expect((await at.ask({ operation: "count", where: "name = Ann" })).text).toStartWith("count where name = Ann: 1 of 2 rows");
});

test("plain text: a row each line, with the last number in it", async () => {
  using at = withFile("# May\nrent: 800\nfood for 2: 230.50 €\n\nnothing\n", "costs.txt");
  expect((await at.ask({ operation: "sum" })).text).toBe("sum of number: 1030.5 € (2 of 4 rows)\n[each line is a row: its column line is the text, number the last number in it]\n[left out: 2 rows without a number in number: (empty)]".replace("1030.5 €", "€1030.5"));
  expect((await at.ask({ operation: "count", where: "line contains food" })).text).toStartWith("count where line contains food: 1 of 4 rows");
  using dates = withFile("2026-01-03 5.5\n2026-01-10 8\n", "runs.log");
  expect((await dates.ask({ operation: "max" })).text).toStartWith("max of number: 8 (2 rows)\nrow: line=2026-01-10 8, number=8");
});

test("CSV as it is met: other delimiters, line ends, BOM, quotes over lines, no header, ragged rows", async () => {
  for (const content of ["a;b\r\n1;2\r\n3;4\r\n", "\uFEFFa,b\n1,2\n3,4", '"a","b"\n"1","2"\n"3\n","4"\n', "a|b\n1|2\n\n3|4\n", "a,b\n1,2,9\n3,4\n", "a\tb\n1\t2\n3\t4\n"]) {
    using at = withFile(content);
    expect({ content, text: (await at.ask({ operation: "sum", column: "b" })).text }).toEqual({ content, text: "sum of b: 6 (2 rows)" });
  }
  using bare = withFile("pen,3\nbook,20\n");
  expect((await bare.ask({ operation: "sum" })).text).toBe("sum of column2: 23 (2 rows)\n[the file has no header; its columns are called column1, column2, …]");
  using open = withFile('a,b\n"1,2\n3,4\n');
  expect((await open.ask({ operation: "count" })).isError).toBe(false);
});

test("what is no table, too large, or outside", async () => {
  using at = withFile("");
  expect(await at.ask({ operation: "count" })).toMatchObject({ isError: true, text: "people.csv is empty" });
  writeFileSync(join(at.workspace, "binary.csv"), "a,b\0");
  expect(await at.call("table.compute", { path: "binary.csv", operation: "count" })).toMatchObject({ isError: true, text: expect.stringContaining("is no text file") });
  writeFileSync(join(at.workspace, "large.csv"), Buffer.alloc(limits.tableBytesMax + 1, "a,b\n"));
  expect(await at.call("table.compute", { path: "large.csv", operation: "count" })).toMatchObject({ isError: true, text: "large.csv has 4.2 MB; table.compute takes at most 4.2 MB" });
  expect(await at.call("table.compute", { path: "peple.csv", operation: "count" })).toMatchObject({ isError: true, text: expect.stringContaining("did you mean people.csv?") });
  expect(await at.call("table.compute", { path: ".", operation: "count" })).toMatchObject({ isError: true, text: expect.stringContaining("binary.csv is no text file") });
  writeFileSync(join(at.outside, "x.csv"), "a,b\n1,2\n");
  expect(await at.needs("table.compute", { path: join(at.outside, "x.csv"), operation: "count" })).toMatchObject([{ category: "fs_read_outside", silentFrom: 5 }]);
});

test("a long list is cut at the bounds of a result and says so", async () => {
  using at = withFile(`n,text\n${Array.from({ length: 5000 }, (_, index) => `${index},${"x".repeat(20)}`).join("\n")}\n`);
  const { details, text } = await at.ask({ operation: "sort_descending", column: "n" });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.resultBytesMax);
  expect(text).toStartWith("5000 rows by n, largest first:\nn,text\n4999,");
  expect(text).toMatch(/\n\[\d+ more lines are left out; narrow it with where\]$/);
  expect(details).toMatchObject({ rows: 5000, truncation: { truncated: true, totalLines: 5002 } });
});

test("a table of the largest size takes seconds of one core", async () => {
  const row = `${"9".repeat(10)},${"text ".repeat(4)}\n`;
  const rows = Math.floor((limits.tableBytesMax - 10) / row.length);
  using at = withFile(`n,t\n${row.repeat(rows)}`);
  const began = process.cpuUsage();
  expect((await at.ask({ operation: "sum", column: "n", where: "t contains text" })).text).toContain(`: ${9_999_999_999n * BigInt(rows)} (`);
  using wide = withFile(`${"1,".repeat(1_000_000)}1\n`);
  expect(await wide.ask({ operation: "count" })).toMatchObject({ isError: true, text: `a row has more than ${limits.tableColumnsMax} columns` });
  expect(process.cpuUsage(began).user).toBeLessThan(10_000_000);
}, 120_000);

test("in a text without columns a condition is about the lines that hold its words", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.md"), "# Cake\n\n- 300 g flour\n- 2 eggs\n- flour for the tin: brown\n");
  const rows = async (where: string): Promise<string> => (await at.call("table.compute", { path: "f.md", operation: "count", where })).text.split("\n[")[0] ?? "";
  expect([await rows("flour > 0"), await rows("flour = brown"), await rows("number > 200"), await rows("sugar > 0")]).toEqual(["count where flour > 0: 2 of 4 rows\n- 300 g flour\n- flour for the tin: brown", "count where flour = brown: 1 of 4 rows\n- flour for the tin: brown", "count where number > 200: 1 of 4 rows\n- 300 g flour", "count where sugar > 0: 0 of 4 rows"]);
});

test("the files of a folder are one table, without what links lead to", async () => {
  using at = fixture();
  for (const [week, hours] of [["01", 38], ["02", 41], ["03", 35]] as const) await at.call("fs.write", { path: `weeks/${week}.txt`, content: `hours: ${hours}\n` });
  await at.call("fs.write", { path: "weeks/old/00.txt", content: "hours: 9\n" });
  writeFileSync(join(at.outside, "04.txt"), "hours: 1000\n");
  symlinkSync(join(at.outside, "04.txt"), join(at.workspace, "weeks/04.txt"));
  const ask = async (args: object): Promise<string> => (await at.call("table.compute", { path: "weeks", ...args })).text;
  expect(await ask({ operation: "sum" })).toStartWith("sum of number: 114 (3 rows)\n[the rows of 3 files;");
  expect(await ask({ operation: "max", column: "number" })).toContain("row: line=hours: 41, number=41, file=weeks/02.txt");
  expect((await ask({ operation: "sort_descending", column: "number" })).split("\n")[1]).toBe("weeks/02.txt: hours: 41");
  await at.call("fs.write", { path: "weeks/x.csv", content: "a,b\n1,2\n" });
  expect(await ask({ operation: "count" })).toBe("the files hold different tables. weeks/01.txt: The columns are line, number. weeks/x.csv: The columns are a, b. Name one of the files");
  expect(await at.call("table.compute", { path: "weeks/old/..", operation: "count", where: "x" })).toMatchObject({ isError: true });
  await at.call("fs.write", { path: "empty/a.bin", content: "x" });
  expect((await at.call("table.compute", { path: "empty", operation: "count" })).text).toBe("empty holds no file with a table, such as .csv or .txt; name a file");
});

test("sums by the values of a column are told where the request is about a whole", async () => {
  using at = withFile("name,day,hours\nLotte,Mon,12\nAmir,Mon,10\nAmir,Tue,11\n");
  const told = async (operation: Question["operation"], request: string): Promise<string | undefined> => {
    const { details, text } = await at.ask({ operation, column: "hours" });
    return hintOf({ role: "toolResult", toolCallId: "1", toolName: "table.compute", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("table.compute")], request);
  };
  expect(await told("max", "Who worked the most hours altogether?")).toBe("(sum of hours by name: Amir 21, Lotte 12; sum of hours by day: Mon 22, Tue 11)");
  expect(await told("max", "Which is the longest day?")).toBe("");
});
