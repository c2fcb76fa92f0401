// Folders that the configuration opens for confined commands, by the executable (config.md `tools.shell`).
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, runJson } from "../support/json-run.ts";

test.if(process.platform === "linux")("a folder of tools.shell.writePaths can be written, one of readPaths read, and no other; ~ is the home", async () => {
  using place = makePlace();
  const at = (name: string): string => join(place.home.path, name);
  for (const name of ["opened", "shown", "closed"]) mkdirSync(at(name));
  place.home.folder.write({ "shown/f": "seen", "closed/f": "unseen" });
  place.configure({ tools: { shell: { writePaths: ["~/opened"], readPaths: ["~/shown"] } } });
  const commands = [`echo written > ${at("opened")}/f`, `cat ${at("shown")}/f`, `echo x > ${at("shown")}/g`, `cat ${at("closed")}/f`];
  const run = await runJson(place, ["--model", place.script([...commands.map((command) => [{ call: "shell.run", args: { command } }]), [{ text: "done" }]]), "go"]);
  expect(run.all("tool_execution_end").map((event) => event["isError"])).toEqual([false, false, true, true]);
  expect(readFileSync(join(at("opened"), "f"), "utf8")).toBe("written\n");
  expect(JSON.stringify(run.all("tool_execution_end")[1])).toContain("seen");
});
