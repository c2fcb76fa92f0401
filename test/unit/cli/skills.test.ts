// `atomic skills` in this process.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { processIo } from "../../../src/cli/process-io.ts";
import { runSkills } from "../../../src/cli/skills.ts";
import { messageOf } from "../../../src/core/error.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

const skill = (name: string): string => `---\nname: ${name}\ndescription: about ${name}\nversion: "2"\n---\nBody.\n`;

async function run(folder: Workspace, ...argv: string[]): Promise<{ stdout: string; stderr: string; refusal?: string }> {
  const result: { stdout: string; stderr: string; refusal?: string } = { stdout: "", stderr: "" };
  const env = { HOME: folder.path, ATOMIC_AGENT_STATE_DIR: folder.at("state") };
  try {
    await runSkills(argv, { ...processIo(2), env, print: (text) => void (result.stdout += text), warn: (text) => void (result.stderr += `${text}\n`) }, folder.path);
  } catch (error) {
    result.refusal = messageOf(error);
  }
  return result;
}

test("install, list, trust and uninstall", async () => {
  using folder = makeWorkspace({ "src/SKILL.md": skill("glob"), ".atomic-agent/skills/p/SKILL.md": skill("proj") });
  expect(await run(folder, "install", "src")).toEqual({ stdout: `${folder.at("state/skills/glob")}\n`, stderr: "installed glob\n" });
  expect((await run(folder, "install", "src")).refusal).toBe("skill already installed: glob");
  expect((await run(folder, "install", "--force", "src")).stderr).toBe("replaced glob\n");
  expect((await run(folder, "list")).stdout).toBe("glob  2  global  about glob\nproj  2  project  about proj  (not trusted: atomic skills trust)\n");
  expect((await run(folder, "trust", "glob")).refusal).toContain("it brings proj");
  expect((await run(folder, "trust", "proj")).stderr).toContain("proj is trusted as it is now");
  expect((await run(folder, "list")).stdout).toContain("about proj\n");
  folder.write({ ".atomic-agent/skills/p/extra": "changed" });
  expect((await run(folder, "list")).stdout).toContain("about proj  (not trusted");
  expect((await run(folder, "uninstall", "glob", "proj")).refusal).toBe("not installed: proj");
  expect(existsSync(folder.at("state/skills/glob"))).toBe(false);
  expect(existsSync(folder.at(".atomic-agent/skills/p"))).toBe(true);
});

test.each([
  [[], "skills needs a command"],
  [["lst"], 'unknown command "lst"'],
  [["constructor"], "unknown command"],
  [["list", "x"], "skills list: it takes 0 arguments, not 1"],
  [["install"], "skills install: it takes 1 arguments, not 0"],
  [["trust", "--force", "x"], "skills trust: "],
  [["install", "nowhere"], "there is no folder"],
])("%j is refused", async (argv, message) => {
  using folder = makeWorkspace({});
  expect((await run(folder, ...argv)).refusal).toContain(message);
});
