// skill.view, the list of skills in the prompt, trust and scripts, over the sidecar's wire (sidecar.md section 9).
import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const skill = (name: string, body = "Body.", more = ""): string => `---\nname: ${name}\ndescription: about ${name}\nversion: "1.2"\n${more}---\n${body}\n`;
const project = (name: string, files: { [name: string]: string }): { [path: string]: string } => Object.fromEntries(Object.entries(files).map(([file, text]) => [`.atomic-agent/skills/${name}/${file}`, text]));
const view = (name: string): ScriptItem => ({ call: "skill.view", args: { name } });
const shell = (command: string): ScriptItem => ({ call: "shell.run", args: { command } });
const ok: ScriptItem[] = [{ text: "ok" }];

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

const results = (host: SidecarHost, tool: string): unknown[] => host.frames.filter(({ payload, type }) => type === "tool_call_result" && payload?.["tool"] === tool).map(({ payload }) => payload?.["summary"]);

test("a global skill stands in the prompt and is read without a question; the state tells that it was opened", async () => {
  using host = hostInProcess({ files: { "src/SKILL.md": skill("glob", "First do this.") } });
  await host.start([]);
  await host.ask("skill_install", { sourcePath: "src" });
  await host.start([[{ expect: { contains: "- glob: about glob" } }, view("glob"), view("nob")], [{ expect: { contains: "First do this." } }, ...ok]], { approvalLevel: 1 });
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(results(host, "skill.view").toSorted()).toEqual(["First do this.", 'there is no skill "nob"; did you mean glob? The skills are: glob']);
  expect(host.frames.some(({ type }) => type === "approval_request")).toBe(false);
  const state = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  expect(listOf<{ name: string; version: string; body: string; loadedAt: number }>(state, "loadedSkills")).toEqual([{ name: "glob", version: "1.2", body: "First do this.", loadedAt: expect.any(Number) as number }]);
  await endsWell(host);
});

test("without a skill the tool is not offered; one that is installed in the session is, from the next turn on", async () => {
  using host = hostInProcess({ files: { "src/SKILL.md": skill("glob") } });
  await host.start([[{ expect: { absent: "skill.view" } }, view("glob")], ok, [view("glob")], ok], { approvalLevel: 1 });
  await host.turn();
  await host.ask("skill_install", { sourcePath: "src" });
  await host.turn();
  const failed = (await host.event("error", { code: "step_error:grammar" })).payload;
  expect(String(failed?.["message"])).toStartWith("there is no tool skill.view");
  expect(results(host, "skill.view")).toEqual(["Body."]);
  await endsWell(host);
});

test("a project's skill: its name alone in the prompt, asked for under trust_config, a yes kept until it changes", async () => {
  using host = hostInProcess({ files: project("p", { "SKILL.md": skill("proj", "Secret plan.") }) });
  const steps: ScriptItem[][] = [[{ expect: { contains: "- proj" } }, { expect: { absent: "about proj" } }, view("proj")], ok, [view("proj")], ok, [view("proj")], ok];
  await host.start(steps, { approvalLevel: 4 });
  const listed = async (): Promise<unknown> => listOf<{ trusted?: boolean }>((await host.ask("skill_list")).payload, "skills")[0]?.trusted;
  expect(await listed()).toBe(false);
  const first = host.message();
  const asked = await host.event("approval_request");
  expect(asked.payload).toMatchObject({ tool: "skill.view", category: "trust_config", grantable: false });
  expect(String(asked.payload?.["preview"])).toContain("Secret plan.");
  expect((await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: true, grant: "session" })).payload).toEqual({ resolved: true, grant: "once" });
  await host.response(first);
  expect(await listed()).toBe(true);
  await host.turn();
  expect(host.frames.filter(({ type }) => type === "approval_request").length).toBe(1);
  appendFileSync(host.folder.at("workspace/.atomic-agent/skills/p/SKILL.md"), "More.");
  const third = host.message();
  const again = await host.frame(({ payload, type }) => type === "approval_request" && payload?.["approvalId"] !== asked.payload?.["approvalId"], "a second question");
  await host.ask("approval_response", { approvalId: again.payload?.["approvalId"], approved: false });
  await host.response(third);
  expect(results(host, "skill.view")).toEqual(["Secret plan.", "Secret plan.", "approval denied for skill.view"]);
  expect(await listed()).toBe(false);
  await endsWell(host);
});

test("a skill that changes between question and answer is not used and not trusted", async () => {
  using host = hostInProcess({ files: project("p", { "SKILL.md": skill("proj") }) });
  await host.start([[view("proj")], ok]);
  const turn = host.message();
  const asked = await host.event("approval_request");
  appendFileSync(host.folder.at("workspace/.atomic-agent/skills/p/SKILL.md"), "Evil.");
  await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: true });
  await host.response(turn);
  expect(results(host, "skill.view")).toEqual([`changed after approval: ${host.folder.at("workspace/.atomic-agent/skills/p")}`]);
  expect(listOf<{ trusted?: boolean }>((await host.ask("skill_list")).payload, "skills")[0]?.trusted).toBe(false);
  await endsWell(host);
});

test("of a skill's scripts only those that it names run; an untrusted one's ask under trust_config, at full trust nothing is kept", async () => {
  const more = "requires_scripts: [run.sh]\n";
  const scripts = { "SKILL.md": skill("proj", "Body.", more), "scripts/run.sh": "echo ran", "scripts/other.sh": "echo other" };
  using host = hostInProcess({ files: project("p", scripts), config: { tools: { shell: { sandbox: "off" } } } });
  const [run, other] = ["run", "other"].map((name) => shell(`sh .atomic-agent/skills/p/scripts/${name}.sh`));
  await host.start([[run ?? shell("false")], [other ?? shell("false")], ok], { approvalLevel: 5 });
  await host.turn();
  expect(String(results(host, "shell.run")[0])).toContain("ran");
  expect(String(results(host, "shell.run")[1])).toContain("the skill proj does not name it in requires_scripts");
  expect(listOf<{ trusted?: boolean }>((await host.ask("skill_list")).payload, "skills")[0]?.trusted).toBe(false);
  await host.start([[run ?? shell("false")], ok, [view("proj")], ok], { approvalLevel: 4 });
  const turn = host.message();
  const asked = await host.event("approval_request");
  expect(asked.payload).toMatchObject({ tool: "shell.run", category: "trust_config", grantable: false });
  expect(String(asked.payload?.["reason"])).toContain("the skill proj");
  await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: true });
  await host.response(turn);
  await host.turn();
  expect(host.frames.filter(({ type }) => type === "approval_request").length).toBe(1);
  expect(results(host, "skill.view")).toEqual(["Body."]);
  await endsWell(host);
});

test("what does not fit the list is named in one warning; a disabled skill is neither told nor read", async () => {
  const files = { ...project("a", { "SKILL.md": skill("aaa") }), ...project("b", { "SKILL.md": skill("bbb") }), ...project("c", { "SKILL.md": skill("ccc") }) };
  using host = hostInProcess({ files, config: { skills: { catalogTokenBudget: 2, disabled: ["ccc"] } } });
  await host.start([[{ expect: { contains: "- aaa" } }, { expect: { absent: "bbb" } }, view("ccc")], ok]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  const warnings = host.frames.filter(({ payload, type }) => type === "log" && payload?.["level"] === "warn").map(({ payload }) => String(payload?.["message"]));
  expect(warnings).toEqual([expect.stringContaining("left out: bbb")]);
  expect(results(host, "skill.view")).toEqual(['there is no skill "ccc" The skills are: aaa, bbb']);
  await endsWell(host);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
