// Each statement S-1 to S-70 of the sidecar's contract has a test on the executable that begins with its number, and the table
// of docs/sidecar.md names the file where it stands.
import { expect, test } from "bun:test";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../support/atomic.ts";

const files = ["test/binary/sidecar-*.test.ts", "test/fuzz/sidecar*.test.ts"].flatMap((pattern) => globSync(join(repositoryRoot, pattern))).toSorted();
const statements = Array.from({ length: 70 }, (_, index) => `S-${index + 1}`);

/** File names by statement. A name that begins with several numbers proves the first alone. */
const provenBy = Map.groupBy(
  files.flatMap((path) => {
    const text = readFileSync(path, "utf8");
    const names = [...text.matchAll(/\btest(?:\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*\(\s*[`"'](S-\d+)\b/g)].map(([, statement = ""]) => statement);
    return [...new Set(names)].map((statement) => ({ statement, file: path.slice(repositoryRoot.length + 1) }));
  }),
  ({ statement }) => statement,
);

test("every statement has a test that begins with its number, and no test names one that is none", () => {
  expect(statements.filter((statement) => !provenBy.has(statement))).toEqual([]);
  expect([...provenBy.keys()].filter((statement) => !statements.includes(statement))).toEqual([]);
});

test("the table of docs/sidecar.md has each statement once, with the files of its tests", () => {
  const page = readFileSync(join(repositoryRoot, "docs/sidecar.md"), "utf8");
  const rows = [...page.matchAll(/^\| (S-\d+) \|.*\| ([^|]*) \|$/gm)].map(([, statement = "", where = ""]) => `${statement}: ${where}`);
  const wanted = statements.map((statement) => `${statement}: ${(provenBy.get(statement) ?? []).map(({ file }) => `\`${file.slice("test/".length).replace(".test.ts", "")}\``).join(", ")}`);
  expect(rows).toEqual(wanted);
});
