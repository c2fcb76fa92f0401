// Skills over the sidecar's wire (sidecar.md 3.6, 9, 13).
import { expect, test } from "bun:test";
import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { checkSeen, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const skill = (name: string, description = "does it"): string => `---\nname: ${name}\ndescription: ${description}\nversion: "1.2"\n---\nBody.\n`;

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

const names = async (host: SidecarHost): Promise<unknown> => listOf<{ name: string; source: string }>((await host.ask("skill_list")).payload, "skills").map(({ name, source }) => `${name} ${source}`);

test("S-60 install, list, uninstall: name and folder, the registry before each answer, false the second time", async () => {
  using host = hostInProcess({ files: { "src/SKILL.md": skill("my-skill"), "src/scripts/run.sh": "echo" } });
  await host.start([]);
  const installed = await host.ask("skill_install", { sourcePath: "src" });
  const folder = host.folder.at("state/skills/my-skill");
  expect(installed.payload).toEqual({ name: "my-skill", installedAt: folder, version: "1.2" });
  expect(existsSync(`${folder}/scripts/run.sh`)).toBe(true);
  expect((await host.ask("skill_list")).payload).toEqual({ skills: [{ name: "my-skill", version: "1.2", description: "does it", source: "global", path: folder }] });
  expect((await host.ask("skill_uninstall", { name: "my-skill" })).payload).toEqual({ removed: true });
  const again = await host.ask("skill_uninstall", { name: "my-skill" });
  expect(again.payload).toEqual({ removed: false });
  expect((await host.ask("skill_uninstall", { name: "../sessions.sqlite" })).payload).toEqual({ removed: false });
  expect(host.order(again.correlationId ?? "")).toEqual(["skill_registry_updated", "R()"]);
  expect(host.frames.filter(({ type }) => type === "skill_registry_updated").map(({ payload }) => payload?.["installed"])).toEqual([[{ name: "my-skill", source: "global" }], [], [], []]);
  await endsWell(host);
});

test("S-61 without a session install and uninstall are refused and the list is empty; twice needs force; every fault is named; nothing is left of a failure", async () => {
  using host = hostInProcess({ files: { "a/SKILL.md": skill("one"), "bad/SKILL.md": "---\nname: -x\nplatforms: [beos]\n---\n", "empty/x": "", "out/SKILL.md": skill("out") } });
  for (const [type, payload] of [["skill_install", { sourcePath: "a" }], ["skill_uninstall", { name: "one" }]] as const) expect((await host.ask(type, payload)).error?.message).toBe("no active session — call start_session first");
  expect(await names(host)).toEqual([]);
  await host.start([]);
  const refusal = async (payload: unknown): Promise<unknown> => (await host.ask("skill_install", payload)).error?.message;
  expect(await refusal({ sourcePath: "a" })).toBeUndefined();
  expect(await refusal({ sourcePath: "a" })).toBe("skill already installed: one");
  expect((await host.ask("skill_install", { sourcePath: host.folder.at("workspace/a"), force: true })).payload).toMatchObject({ name: "one", replaced: true });
  const faults = String(await refusal({ sourcePath: "bad" }));
  expect(faults).toStartWith("invalid SKILL.md frontmatter: ");
  for (const key of ["name", "description", "platforms"]) expect(faults).toContain(`${key}`);
  expect(await refusal({ sourcePath: "nowhere" })).toContain(host.folder.at("workspace/nowhere"));
  expect(await refusal({ sourcePath: "empty" })).toContain("SKILL.md");
  symlinkSync(host.folder.at("state"), host.folder.at("workspace/out/link"));
  expect(await refusal({ sourcePath: "out" })).toContain("link");
  expect(readdirSync(host.folder.at("state/skills"))).toEqual(["one"]);
  await endsWell(host);
});

test("S-62 a project's skill shadows a global one, is told at the start, and outlives an uninstall; a broken one is a warning", async () => {
  using host = hostInProcess({ files: { ".atomic-agent/skills/x/SKILL.md": skill("both", "project"), ".atomic-agent/skills/y/SKILL.md": "no front matter", "src/SKILL.md": skill("both", "global") } });
  await host.start([]);
  expect((await host.event("skill_registry_updated")).payload).toEqual({ installed: [{ name: "both", source: "project" }] });
  expect(String((await host.event("log", { level: "warn" })).payload?.["message"])).toContain("skills/y");
  await host.ask("skill_install", { sourcePath: "src" });
  expect(await names(host)).toEqual(["both project"]);
  expect((await host.ask("skill_uninstall", { name: "both" })).payload).toEqual({ removed: true });
  expect(await names(host)).toEqual(["both project"]);
  const again = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]) });
  expect(host.order(again.correlationId ?? "")).toEqual(["session_started", "R()"]);
  await endsWell(host);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
