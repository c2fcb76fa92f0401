// docs/hosts.md and the examples' page against the source: numbers, names, and files that are linked to.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Sidecar, type SidecarOptions } from "../../../src/client/sidecar.ts";
import { limits } from "../../../src/core/limits.ts";

const root = resolve(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/hosts.md"), "utf8").replaceAll("\n", " ");

describe("docs/hosts.md", () => {
  test("tells the limits that are in force", () => {
    const told = [/holds (\d+) events/, /At most (\d+) requests/, /at most (\d+) MiB/].map((pattern) => Number(pattern.exec(page)?.[1]));
    expect(told).toEqual([limits.clientEventsMax, limits.clientRequestsMax, limits.inputLineBytesMax / 2 ** 20]);
    expect([page.includes("after ten seconds a kill"), page.includes("After four ends in a row")]).toEqual([limits.clientCloseMs === 10_000, limits.clientRestartsMax === 3]);
  });

  test("names every method and every callback of the library", () => {
    const methods = Object.getOwnPropertyNames(Sidecar.prototype).filter((name) => !["constructor", "pid"].includes(name));
    const callbacks = ["onApproval", "onEnd", "onStderr"] satisfies (keyof SidecarOptions)[];
    expect([...methods.map((name) => `${name}(`), ...callbacks].filter((name) => !page.includes(name))).toEqual([]);
  });

  test.each(["docs/hosts.md", "examples/host/README.md"])("%s links to files that are there", (path) => {
    const links = [...readFileSync(join(root, path), "utf8").matchAll(/\]\(([^)#]+)\)/g)].map(([, link = ""]) => join(root, dirname(path), link));
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((link) => !existsSync(link))).toEqual([]);
  });
});
