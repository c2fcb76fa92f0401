// Skills, compaction and models over the executable's wire (sidecar.md 3.6, 9; S-60 to S-64).
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import type { Script, ScriptItem } from "../support/scripted.ts";
import { endsWell, hang, list, ok, payloadsOf, read, stateOf } from "../support/sidecar-calls.ts";
import { checkSeen, hostOfExecutable, listOf, type SidecarHost } from "../support/sidecar-host.ts";

const skill = (name: string, description = "does it"): string => `---\nname: ${name}\ndescription: ${description}\nversion: "1.2"\n---\nBody.\n`;
const names = async (host: SidecarHost): Promise<unknown> => listOf<{ name: string; source: string }>((await host.ask("skill_list")).payload, "skills").map(({ name, source }) => `${name} ${source}`);
const registries = (host: SidecarHost): unknown => payloadsOf(host, "skill_registry_updated").map(({ installed }) => installed);

test("S-60 skill_install tells name and folder, the list has it as global, uninstall removes it once; the registry comes before each response", async () => {
  using host = hostOfExecutable({ files: { "src/SKILL.md": skill("my-skill"), "src/scripts/run.sh": "echo" } });
  await host.start([]);
  const folder = host.folder.at("state/skills/my-skill");
  const asked = [await host.ask("skill_install", { sourcePath: "src" })];
  expect(asked[0]?.payload).toEqual({ name: "my-skill", installedAt: folder, version: "1.2" });
  expect([readFileSync(`${folder}/SKILL.md`, "utf8"), readdirSync(`${folder}/scripts`)]).toEqual([skill("my-skill"), ["run.sh"]]);
  expect((await host.ask("skill_list")).payload).toEqual({ skills: [{ name: "my-skill", version: "1.2", description: "does it", source: "global", path: folder }] });
  asked.push(await host.ask("skill_uninstall", { name: "my-skill" }), await host.ask("skill_uninstall", { name: "my-skill" }), await host.ask("skill_uninstall", { name: "../sessions.sqlite" }));
  expect(asked.slice(1).map(({ payload }) => payload)).toEqual([{ removed: true }, { removed: false }, { removed: false }]);
  for (const { correlationId } of asked) expect(host.order(correlationId ?? "")).toEqual(["skill_registry_updated", "R()"]);
  expect(registries(host)).toEqual([[{ name: "my-skill", source: "global" }], [], [], []]);
  expect([existsSync(folder), existsSync(host.folder.at("state/sessions.sqlite")), await names(host)]).toEqual([false, true, []]);
  await endsWell(host);
});

test("S-61 without a session install and uninstall are hard and the list is empty; twice is hard and with force ok; bad front matter is hard and every fault named", async () => {
  using host = hostOfExecutable({ files: { "a/SKILL.md": skill("one"), "newer/SKILL.md": skill("one", "is newer"), "bad/SKILL.md": "---\nname: -x\nplatforms: [beos]\nrequires_tools: x\ndangerous: maybe\n---\n", "empty/x": "", "out/SKILL.md": skill("out"), file: "" } });
  for (const [type, payload] of [["skill_install", { sourcePath: "a" }], ["skill_uninstall", { name: "one" }]] as const) expect((await host.ask(type, payload)).error).toEqual({ message: "no active session — call start_session first", code: "handler_failed" });
  expect((await host.ask("skill_list")).payload).toEqual({ skills: [] });
  await host.start([]);
  const refusal = async (payload: unknown): Promise<string> => String((await host.ask("skill_install", payload)).error?.message);
  expect((await host.ask("skill_install", { sourcePath: "a" })).ok).toBe(true);
  expect(await refusal({ sourcePath: "newer" })).toBe("skill already installed: one");
  expect(listOf<{ description: string }>((await host.ask("skill_list")).payload, "skills").map(({ description }) => description)).toEqual(["does it"]);
  expect((await host.ask("skill_install", { sourcePath: host.folder.at("workspace/newer"), force: true })).payload).toMatchObject({ name: "one", replaced: true });
  expect(listOf<{ description: string }>((await host.ask("skill_list")).payload, "skills").map(({ description }) => description)).toEqual(["is newer"]);
  const faults = await refusal({ sourcePath: "bad" });
  expect(faults).toStartWith("invalid SKILL.md frontmatter: ");
  expect(faults.split("; ").length).toBe(5);
  for (const key of ["name", "description", "platforms", "requires_tools", "dangerous"]) expect(faults).toContain(key);
  for (const nowhere of ["nowhere", "empty", "file"]) expect(await refusal({ sourcePath: nowhere })).toContain(host.folder.at(`workspace/${nowhere}`));
  symlinkSync(host.folder.at("state"), host.folder.at("workspace/out/link"));
  expect(await refusal({ sourcePath: "out" })).toContain("link");
  expect(readdirSync(host.folder.at("state/skills"))).toEqual(["one"]);
  await endsWell(host);
});

test("S-62 a project's skill shadows a global one and is listed once as project; uninstall removes the global copy and leaves it", async () => {
  const inProject = ".atomic-agent/skills/x/SKILL.md";
  using host = hostOfExecutable({ files: { [inProject]: skill("both", "project"), ".atomic-agent/skills/y/SKILL.md": "no front matter", "src/SKILL.md": skill("both", "global") } });
  await host.start([]);
  expect(registries(host)).toEqual([[{ name: "both", source: "project" }]]);
  expect(payloadsOf(host, "log").filter(({ level }) => level === "warn").map(({ message }) => String(message).includes("skills/y"))).toEqual([true]);
  expect((await host.ask("skill_install", { sourcePath: "src" })).payload).toMatchObject({ name: "both", installedAt: host.folder.at("state/skills/both") });
  expect(listOf<object>((await host.ask("skill_list")).payload, "skills")).toMatchObject([{ name: "both", description: "project", source: "project" }]);
  expect((await host.ask("skill_uninstall", { name: "both" })).payload).toEqual({ removed: true });
  expect((await host.ask("skill_uninstall", { name: "both" })).payload).toEqual({ removed: false });
  expect([await names(host), existsSync(host.folder.at(`workspace/${inProject}`)), existsSync(host.folder.at("state/skills/both"))]).toEqual([["both project"], true, false]);
  // Told once: the next session finds the same list.
  const again = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]) });
  expect(host.order(again.correlationId ?? "")).toEqual(["session_started", "R()"]);
  await endsWell(host);
});

const line = "a line of the file that nobody needs any more\n";

async function withHistory(host: SidecarHost, compaction: NonNullable<Script["compaction"]>): Promise<void> {
  await host.start([[read("a.txt")], [{ text: "It is long." }], [{ text: "Yes." }], [{ expect: { contains: "filtered" } }, { text: "Still known." }]], {}, { contextWindow: 8192, compaction });
  for (const text of ["what does the file hold?", "all of it?"]) expect((await host.turn(text)).payload?.["reason"]).toBe("reply");
}

test("S-63 compact_session when idle: started, completed, the response; get_compaction has it, and the next prompt uses it", async () => {
  using host = hostOfExecutable({ files: { "a.txt": line.repeat(150) } });
  await withHistory(host, ["5,140\n"]);
  const turns = (await stateOf(host))?.["turns"];
  const asked = host.send("compact_session", { sessionId: host.sessionId });
  const told = (await host.response(asked)).payload;
  expect(told).toMatchObject({ status: "compacted", reason: "manual" });
  expect(Number(told?.["tokensAfter"])).toBeLessThan(Number(told?.["tokensBefore"]));
  expect(host.order(asked).map((token) => token.split("(")[0]).filter((token) => token !== "compaction_progress")).toEqual(["compaction_started", "compaction_completed", "R"]);
  const { reason, status, tokensAfter, tokensBefore } = told ?? {};
  expect(payloadsOf(host, "compaction_completed")).toMatchObject([{ type: "compaction_completed", sessionId: host.sessionId, status, reason, tokensBefore, tokensAfter }]);
  const compaction = (await host.ask("get_compaction", { sessionId: host.sessionId })).payload;
  expect(compaction).toMatchObject({ version: 1, reason: "manual", tokensBefore, tokensAfter });
  expect([String(compaction?.["boundaryHash"]), String(compaction?.["model"])].map((text) => /^([0-9a-f]{64}|scripted:.*)$/.test(text))).toEqual([true, true]);
  for (const kept of ["what does the file hold?", "filtered"]) expect(String(compaction?.["summary"])).toContain(kept);
  expect(await stateOf(host)).toMatchObject({ compaction, turns });
  expect((await host.turn("and now?")).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-63 nothing to fold is a noop, a turn or another compaction makes it busy, a cancel stops it, a failing planner is ok:true; there is none to get then", async () => {
  using host = hostOfExecutable({ files: { "a.txt": line.repeat(150) } });
  expect((await host.ask("compact_session", { sessionId: "s-x" })).error?.message).toBe("no active session — call start_session first");
  expect((await host.ask("get_compaction", { sessionId: "s-x" })).error?.message).toBe("no active session — call start_session first");
  await host.start([hang]);
  const compact = async (sessionId = host.sessionId): Promise<unknown> => (await host.ask("compact_session", { sessionId })).payload;
  expect((await host.ask("compact_session", { sessionId: "s-x" })).error?.message).toBe("no active session with id s-x");
  expect(await compact()).toMatchObject({ status: "noop", reason: "manual" });
  const turn = host.message();
  await host.event("assistant_delta");
  expect(await compact()).toEqual({ status: "busy", reason: "manual" });
  await host.ask("cancel", { sessionId: host.sessionId });
  await host.response(turn);
  await withHistory(host, [[{ hang: true }]]);
  const asked = host.send("compact_session", { sessionId: host.sessionId });
  await host.event("compaction_started");
  expect(await compact()).toEqual({ status: "busy", reason: "manual" });
  expect((await host.ask("cancel", { sessionId: host.sessionId })).payload).toMatchObject({ cancelled: true, wasRunning: true });
  expect((await host.response(asked)).payload).toMatchObject({ status: "cancelled", reason: "manual" });
  expect(host.order(asked).map((token) => token.split("(")[0]).filter((token) => token !== "compaction_progress")).toEqual(["compaction_started", "compaction_failed", "R"]);
  expect((await host.ask("get_compaction", { sessionId: host.sessionId })).payload).toBeNull();
  await endsWell(host);
});

test("S-64 set_model: unknown is hard; without a session it is for the next one, idle now, in a turn the next step", async () => {
  using host = hostOfExecutable();
  expect((await host.ask("set_model", { model: "nothing" })).error).toEqual({ message: "unknown model: nothing", code: "handler_failed" });
  const early = host.script([[{ text: "early" }]]);
  expect((await host.ask("set_model", { model: early })).payload).toEqual({ model: early, engine: "scripted", appliesFrom: "next_session" });
  const answer = await host.ask("start_session", { workingDir: host.workingDir });
  host.sessionId = String(answer.payload?.["sessionId"]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  const slow = host.script([[{ delayMs: 400 }, list]]);
  expect((await host.ask("set_model", { model: slow })).payload?.["appliesFrom"]).toBe("now");
  const turn = host.message();
  await host.event("llm_request", { model: slow });
  const late = host.script([[{ text: "from the other" }]] satisfies ScriptItem[][]);
  expect((await host.ask("set_model", { model: "nothing", sessionId: host.sessionId })).error?.message).toBe("unknown model: nothing");
  expect((await host.ask("set_model", { model: late, sessionId: "s-x" })).error?.message).toBe("no active session with id s-x");
  expect((await host.ask("set_model", { model: late, sessionId: host.sessionId })).payload).toEqual({ model: late, engine: "scripted", appliesFrom: "next_step" });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply", stepCount: 3 });
  expect(payloadsOf(host, "llm_request").map(({ model }) => model)).toEqual([early, slow, late]);
  expect(payloadsOf(host, "assistant_reply").at(-1)?.["text"]).toBe("from the other");
  expect((await host.ask("ping")).payload).toMatchObject({ model: late, engine: "scripted" });
  expect(existsSync(host.folder.at("state/config.json"))).toBe(false);
  await endsWell(host);
});

test("S-60 a skill that is installed stands in the next prompt and is opened without a question", async () => {
  using host = hostOfExecutable({ files: { "src/SKILL.md": skill("glob") } });
  await host.start([]);
  await host.ask("skill_install", { sourcePath: "src" });
  await host.start([[{ expect: { contains: "glob" } }, { call: "skill.view", args: { name: "glob" } }], ok]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(payloadsOf(host, "tool_call_result")[0]).toMatchObject({ tool: "skill.view", status: "ok", summary: "Body." });
  expect(listOf<{ name: string }>(await stateOf(host), "loadedSkills").map(({ name }) => name)).toEqual(["glob"]);
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
