// What another project gets that depends on this package: every entry of `exports` is there, loads in Node and in Bun with
// the same names, and has types that a strict compiler takes.
import { beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { buildClient } from "../../build/client.ts";
import { repositoryRoot } from "../support/atomic.ts";
import { makeWorkspace, type Workspace } from "../support/workspace.ts";

const { exports: entries } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as { exports: { [entry: string]: { [condition: string]: string } } };
const nameOf = (entry: string): string => `atomic${entry.slice(1)}`;
/** Something of each entry, so that an empty module isn't taken for one. */
const known: { [entry: string]: { value?: string; type: string } } = {
  ".": { type: "SidecarEvent" },
  "./protocol": { value: "SidecarEvent", type: "SidecarEvent" },
  "./sidecar": { value: "openSidecar", type: "SidecarEvent" },
};

function makeConsumer(files: { [path: string]: string }): Workspace {
  const place = makeWorkspace({ "package.json": '{"type":"module"}', "node_modules/": "", ...files });
  symlinkSync(repositoryRoot, place.at("node_modules/atomic"));
  symlinkSync(join(repositoryRoot, "node_modules/@types"), place.at("node_modules/@types"));
  return place;
}

beforeAll(async () => await buildClient());

test("every file that `exports` names is there after a build", () => {
  expect(Object.keys(entries).toSorted()).toEqual(Object.keys(known).toSorted());
  for (const files of Object.values(entries)) for (const file of Object.values(files)) expect([file, existsSync(join(repositoryRoot, file))]).toEqual([file, true]);
});

test.each(Object.keys(entries))("%s loads in Node and in Bun with the same names", (entry) => {
  using place = makeConsumer({ "names.mjs": `process.stdout.write(JSON.stringify(Object.keys(await import(${JSON.stringify(nameOf(entry))})).sort()));` });
  const [node = [], bun = []] = ["node", process.execPath].map((runtime) => {
    const { exitCode, stderr, stdout } = Bun.spawnSync([runtime, "names.mjs"], { cwd: place.path, stdout: "pipe", stderr: "pipe" });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    return JSON.parse(stdout.toString()) as string[];
  });
  expect(node).toEqual(bun);
  const { value } = known[entry] ?? {};
  if (value !== undefined) expect(node).toContain(value);
});

test.each(["nodenext", "bundler"])("every entry has types under the resolution %s", (resolution) => {
  // The compiler complains of an expected error that does not come, too.
  const uses = Object.entries(known).map(([entry, { type, value }], index) => {
    const name = JSON.stringify(nameOf(entry));
    const types = `import type { ${type} as Known${index} } from ${name};\nexport const kind${index} = (given: Known${index}): string => given.kind;\n`;
    const values = value === undefined ? "" : `import { ${value} as value${index} } from ${name};\nexport const used${index}: object = value${index};\n`;
    return `${types}${values}// @ts-expect-error\nimport type { NotThere as NotThere${index} } from ${name};\nexport type Wrong${index} = NotThere${index};\n`;
  });
  using place = makeConsumer({ "use.ts": uses.join("") });
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "esnext", "--module", resolution === "bundler" ? "esnext" : "nodenext", "--moduleResolution", resolution, "--types", "node", "use.ts"];
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, join(repositoryRoot, "node_modules/typescript/bin/tsc"), ...options], { cwd: place.path, stdout: "pipe" });
  expect([stdout.toString(), exitCode]).toEqual(["", 0]);
});
