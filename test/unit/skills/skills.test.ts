// Finding, hashing, trusting and listing skills, without a session (sidecar.md section 9).
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { folderHash } from "../../../src/skills/folder-hash.ts";
import { skillCatalog } from "../../../src/skills/catalog.ts";
import { sessionSkills } from "../../../src/skills/session-skills.ts";
import { TrustedSkills } from "../../../src/skills/trusted-skills.ts";
import { makeWorkspace } from "../../support/workspace.ts";

const skill = (name: string, more = ""): string => `---\nname: ${name}\ndescription: about ${name}\n${more}---\nDo ${name}.\n`;

test("the hash of a folder changes with each name and content, and with nothing else", () => {
  using folder = makeWorkspace({ "a/SKILL.md": "x", "a/scripts/run.sh": "echo 1", "b/scripts/run.sh": "echo 1", "b/SKILL.md": "x" });
  const hash = folderHash(folder.at("a"));
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(folderHash(folder.at("b"))).toBe(hash);
  folder.write({ "b/scripts/run.sh": "echo 2" });
  expect(folderHash(folder.at("b"))).not.toBe(hash);
  folder.write({ "b/scripts/run.sh": "echo 1", "b/more": "" });
  expect(folderHash(folder.at("b"))).not.toBe(hash);
  symlinkSync("SKILL.md", folder.at("a/again"));
  expect(folderHash(folder.at("a"))).not.toBe(hash);
  symlinkSync(folder.at("b"), folder.at("a/out"));
  expect(() => folderHash(folder.at("a"))).toThrow("leaves the skill's folder");
});

test("a project's skill is untrusted until its content is trusted, and again when it changes; a global one never is", () => {
  using folder = makeWorkspace({ "global/g/SKILL.md": skill("glob"), "project/p/SKILL.md": skill("proj") });
  const file = folder.at("trusted.jsonl");
  const skills = sessionSkills({ globalDir: folder.at("global"), projectDir: folder.at("project"), disabled: [], platform: "linux" }, new TrustedSkills(file));
  const untrusted = (): string[] => skills.list().flatMap((each) => (each.untrusted === undefined ? [] : [each.name]));
  expect(skills.list().map(({ name }) => name)).toEqual(["glob", "proj"]);
  expect(untrusted()).toEqual(["proj"]);
  for (const each of skills.list()) skills.trust(each);
  expect(untrusted()).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(folder.read("trusted.jsonl").split("\n").length).toBe(2);
  appendFileSync(folder.at("project/p/SKILL.md"), "and more");
  expect(untrusted()).toEqual(["proj"]);
});

test("a file under scripts/ belongs to its skill, also through a link, and is declared or not", () => {
  using folder = makeWorkspace({ "global/g/SKILL.md": skill("glob", "requires_scripts: [run.sh, scripts/two.sh]\n"), "global/g/scripts/run.sh": "", "real/SKILL.md": skill("linked", "requires_scripts: [x]\n"), "real/scripts/x": "" });
  mkdirSync(folder.at("project"));
  symlinkSync(folder.at("real"), folder.at("project/l"));
  const skills = sessionSkills({ globalDir: folder.at("global"), projectDir: folder.at("project"), disabled: [], platform: "linux" }, new TrustedSkills(folder.at("t")));
  const of = (path: string): unknown => {
    const found = skills.ofScript(folder.at(path));
    return found && [found.skill.name, found.declared, found.skill.untrusted === undefined];
  };
  expect(of("global/g/scripts/run.sh")).toEqual(["glob", true, true]);
  expect(of("global/g/scripts/two.sh")).toEqual(["glob", true, true]);
  expect(of("global/g/scripts/three.sh")).toEqual(["glob", false, true]);
  expect(of("real/scripts/x")).toEqual(["linked", true, false]);
  expect([of("global/g/SKILL.md"), of("elsewhere/scripts/run.sh")]).toEqual([undefined, undefined]);
});

test("the catalogue holds what fits, names what does not, and of an untrusted skill the name alone", () => {
  const known = (name: string, description: string, untrusted?: string) => ({ name, description, version: "1", body: "", path: `/${name}`, ...(untrusted === undefined ? {} : { untrusted }) });
  const { left, text } = skillCatalog([known("aa", "two\nlines"), known("bb", "x".repeat(400)), known("cc", "evil", "hash")], 20);
  expect(text?.split("\n").slice(1)).toEqual(["- aa: two lines", "- cc"]);
  expect(left).toEqual(["bb"]);
  expect(skillCatalog([], 512)).toEqual({ text: undefined, left: [] });
  expect(skillCatalog([known("aa", "b")], 0)).toEqual({ text: undefined, left: ["aa"] });
});
