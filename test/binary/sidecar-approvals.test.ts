// Approvals between the executable and a host: questions, answers by id, expiry, cancel, grants (sidecar.md 5.6, 7.3; S-50 to S-55, S-59).
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer, endsWell, ok, payloadsOf, question, read, resultsOf, shell, stateOf, write } from "../support/sidecar-calls.ts";
import { checkSeen, hostOfExecutable } from "../support/sidecar-host.ts";
import { makeWorkspace } from "../support/workspace.ts";

test("S-50 a write at level 1 is asked for under fs_write_workspace with reason, preview and places; a yes writes the file", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a.txt", "hello\u202e\u001b[1m")], [{ call: "fs.edit", args: { path: "a.txt", oldText: "hello", newText: "bye" } }], ok]);
  const turn = host.message();
  const path = join(host.workingDir, "a.txt");
  const asked = await question(host, 0);
  expect(asked).toEqual({
    approvalId: expect.any(String), sessionId: host.sessionId, tool: "fs.write", category: "fs_write_workspace", reason: `replace 12 bytes into ${path}`, preview: "hello\\u202e\\x1b[1m",
    affectedResources: [path], toolCallId: payloadsOf(host, "tool_call_started")[0]?.["toolCallId"], commandHash: expect.stringMatching(/^[0-9a-f]{64}$/), grantable: true,
  });
  expect([existsSync(path), (await stateOf(host))?.["status"]]).toEqual([false, "awaiting_approval"]);
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: true, grant: "once" });
  const edit = await question(host, 1);
  expect(readFileSync(path, "utf8")).toBe("hello\u202e\u001b[1m");
  expect(edit).toMatchObject({ tool: "fs.edit", category: "fs_write_workspace", reason: `edit 1 occurrence(s) in ${path}`, affectedResources: [path] });
  // A unified diff of what will be done.
  expect(String(edit["preview"]).split("\n").filter((line) => /^[-+](?![-+])/.test(line)).map((line) => line.slice(0, 6))).toEqual(["-hello", "+bye\\u"]);
  await answer(host, 1, { approved: true });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(readFileSync(path, "utf8")).toBe("bye\u202e\u001b[1m");
  await endsWell(host);
});

test("S-51 denied with a reason: the tool's error says so, the model reads it, the file is absent and the turn goes on; without one the text ends after the tool", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a.txt")], [{ expect: { contains: "use b.txt" } }, write("b.txt")], ok]);
  const turn = host.message();
  expect(await answer(host, 0, { approved: false, reason: "use b.txt" })).toEqual({ resolved: true });
  expect(await answer(host, 1, { approved: false })).toEqual({ resolved: true });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply", stepCount: 3 });
  expect(resultsOf(host)).toEqual([["error", "approval denied for fs.write: use b.txt"], ["error", "approval denied for fs.write"]]);
  expect(["a.txt", "b.txt"].filter((name) => existsSync(join(host.workingDir, name)))).toEqual([]);
  await endsWell(host);
});

test.each(["yes", "no"] as const)("S-51 S-54 %s and a cancel in one write: the answer stands, and the turn is cancelled", async (said) => {
  using host = hostOfExecutable();
  await host.start([[write("a.txt")], ok]);
  const turn = host.message();
  const { approvalId } = await question(host, 0);
  host.sendAll([["approval_response", { approvalId, approved: said === "yes", ...(said === "no" ? { reason: "not now" } : {}) }], ["cancel", { sessionId: host.sessionId }]]);
  expect((await host.response(turn)).payload).toMatchObject({ reason: "cancelled" });
  if (said === "no") expect(resultsOf(host)).toEqual([["error", "approval denied for fs.write: not now"]]);
  await endsWell(host);
});

test("S-51 A02 three calls of one step: each waits for its own yes, and a denied one stops no other", async () => {
  using host = hostOfExecutable({ files: { keep: "keep" } });
  await host.start([[write("a"), { call: "fs.trash", args: { paths: ["keep"] } }, shell("echo ran > c")], ok]);
  const turn = host.message();
  await question(host, 0);
  expect(existsSync(join(host.workingDir, "a"))).toBe(false);
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect(await question(host, 1)).toMatchObject({ tool: "fs.trash", category: "fs_trash", reason: "move 1 path(s) to Trash", preview: join(host.workingDir, "keep"), affectedResources: [join(host.workingDir, "keep")] });
  expect(await answer(host, 1, { approved: false, reason: "keep it" })).toEqual({ resolved: true });
  expect(await question(host, 2)).toMatchObject({ tool: "shell.run", category: "shell", preview: "echo ran > c", affectedResources: [host.workingDir] });
  expect(await answer(host, 2, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply" });
  expect(resultsOf(host).map(([status]) => status)).toEqual(["ok", "error", "ok"]);
  expect(new Set(payloadsOf(host, "approval_request").map(({ approvalId }) => approvalId)).size).toBe(3);
  expect([readFileSync(join(host.workingDir, "keep"), "utf8"), readFileSync(join(host.workingDir, "c"), "utf8")]).toEqual(["keep", "ran\n"]);
  await endsWell(host);
});

test("S-52 a second answer and an unknown id resolve nothing; approved as a text, a number or missing is hard, and the question stays open", async () => {
  using host = hostOfExecutable();
  const respond = async (approvalId: unknown, approved: unknown) => await host.ask("approval_response", { approvalId, approved });
  expect((await respond("none", true)).payload).toEqual({ resolved: false });
  await host.start([[write("a")], ok]);
  expect((await respond("none", true)).payload).toEqual({ resolved: false });
  const turn = host.message();
  const { approvalId } = await question(host, 0);
  for (const approved of ["false", "true", undefined, null, 1]) expect((await respond(approvalId, approved)).error).toMatchObject({ code: "handler_failed", field: "approved" });
  expect(await stateOf(host)).toMatchObject({ status: "awaiting_approval", pendingApprovals: [{ approvalId }] });
  expect(payloadsOf(host, "tool_call_result")).toEqual([]);
  expect(await answer(host, 0, { approved: false })).toEqual({ resolved: true });
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: false });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(existsSync(join(host.workingDir, "a"))).toBe(false);
  await endsWell(host);
});

test("S-53 cancel makes every open question void, and a late answer resolves nothing", async () => {
  using host = hostOfExecutable();
  host.folder.write({ "one/a": "1", "two/b": "2" });
  const sessionId = await host.start([[read(host.folder.at("one/a")), read(host.folder.at("two/b"))], ok]);
  const turn = host.message();
  await question(host, 1);
  expect((await host.ask("cancel", { sessionId })).payload).toMatchObject({ cancelled: true });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "cancelled" });
  const asked = payloadsOf(host, "approval_request").map(({ approvalId }) => approvalId);
  expect(payloadsOf(host, "approval_withdrawn").map(({ approvalId, reason }) => [approvalId, reason])).toEqual(asked.map((approvalId) => [approvalId, "cancelled"]));
  for (const index of [0, 1]) expect(await answer(host, index, { approved: true })).toEqual({ resolved: false });
  await endsWell(host);
});

test("S-53 A01 with timeoutMs 200 a question says when it expires and expires: a tool error, the turn goes on, a late answer resolves nothing", async () => {
  using host = hostOfExecutable({ config: { approvals: { timeoutMs: 200 } } });
  await host.start([[write("x")], ok]);
  const before = Date.now();
  expect((await host.turn()).payload).toMatchObject({ reason: "reply" });
  const asked = await question(host, 0);
  expect(Number(asked["expiresAt"])).toBeWithin(before + 200, Date.now() + 1);
  expect(payloadsOf(host, "approval_withdrawn")).toEqual([{ approvalId: asked["approvalId"], sessionId: host.sessionId, reason: "expired" }]);
  expect(resultsOf(host)).toEqual([["error", "approval expired for fs.write"]]);
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: false });
  expect(existsSync(join(host.workingDir, "x"))).toBe(false);
  await endsWell(host);
});

test("S-54 what changed between question and answer is not executed: the file of an edit, the script of a command", async () => {
  using host = hostOfExecutable({ files: { f: "a", "run.sh": "echo shown" } });
  await host.start([[{ call: "fs.edit", args: { path: "f", oldText: "a", newText: "b" } }], [shell("sh run.sh > out")], ok]);
  const turn = host.message();
  for (const [index, name, content] of [[0, "f", "a, changed"], [1, "run.sh", "echo evil"]] as const) {
    await question(host, index);
    writeFileSync(join(host.workingDir, name), content);
    expect(await answer(host, index, { approved: true })).toEqual({ resolved: true, grant: "once" });
  }
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(resultsOf(host)).toEqual(["f", "run.sh"].map((name) => ["error", `changed after approval: ${join(host.workingDir, name)}`]));
  expect([readFileSync(join(host.workingDir, "f"), "utf8"), existsSync(join(host.workingDir, "out"))]).toEqual(["a, changed", false]);
  await endsWell(host);
});

test("S-55 a grant for the session covers its key and no other: a category of files, a root, exactly one command", async () => {
  using host = hostOfExecutable();
  host.folder.write({ "one/a": "1", "one/b": "2", "two/c": "3" });
  const steps = [
    [write("a")], [write("b")], [{ call: "fs.trash", args: { paths: ["b"] } }],
    [read(host.folder.at("one/a"))], [read(host.folder.at("one/b"))], [read(host.folder.at("two/c"))],
    [shell("echo 1 > c")], [shell("echo 1 > c")], [shell("echo 1 > d")],
  ];
  await host.start([...steps, ok]);
  const turn = host.message();
  // Of each three the second asks no more; the third is another key.
  for (let index = 0; index < 6; index++) {
    const isGrant = index % 2 === 0;
    expect(await answer(host, index, isGrant ? { approved: true, grant: "session" } : { approved: false })).toEqual(isGrant ? { resolved: true, grant: "session" } : { resolved: true });
  }
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(payloadsOf(host, "approval_request").map(({ category }) => category)).toEqual(["fs_write_workspace", "fs_trash", "fs_read_outside", "fs_read_outside", "shell", "shell"]);
  expect(resultsOf(host).map(([status]) => status)).toEqual(["ok", "ok", "error", "ok", "ok", "error", "ok", "ok", "error"]);
  // Neither a new session nor the resumed one knows of it.
  for (const [index, fields] of [[6, { resumeSessionId: host.sessionId }], [7, {}]] as const) {
    await host.start([[write("e")], ok], fields);
    const again = host.message();
    expect(await answer(host, index, { approved: false })).toEqual({ resolved: true });
    await host.response(again);
  }
  await endsWell(host);
}, 90_000);

test("S-55 settings, mail and dangers can't be granted: the request says so, and a grant for the session counts once", async () => {
  using host = hostOfExecutable({ files: { "tree/x": "" } });
  const settings = host.folder.at("state/config.json");
  const calls = [write(settings, "{}"), shell("mail a@b < /dev/null"), shell("rm -rf tree")];
  await host.start([...calls, ...calls].map((call) => [call]).concat([ok]));
  const turn = host.message();
  for (let index = 0; index < 6; index++) {
    expect(await question(host, index)).toMatchObject({ category: ["trust_config", "email", "shell"][index % 3], grantable: false });
    expect(await answer(host, index, index < 3 ? { approved: true, grant: "session" } : { approved: false })).toEqual(index < 3 ? { resolved: true, grant: "once" } : { resolved: true });
  }
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect([readFileSync(settings, "utf8"), existsSync(join(host.workingDir, "tree"))]).toEqual(["{}", false]);
  await endsWell(host);
});

test("S-59 an approved command that writes outside the sandbox is a tool error that names it, and no further question", async () => {
  using outside = makeWorkspace();
  using host = hostOfExecutable();
  mkdirSync(host.workingDir, { recursive: true });
  const { sandbox } = (await host.ask("ping")).payload ?? {};
  if (sandbox !== "landlock" && sandbox !== "seatbelt") return await endsWell(host);
  await host.start([[shell(`echo in > in; echo out > ${outside.at("x")}`)], ok]);
  const turn = host.message();
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(resultsOf(host)).toEqual([["error", expect.stringContaining("sandbox")]]);
  expect([payloadsOf(host, "approval_request").length, outside.snapshot(), existsSync(join(host.workingDir, "in"))]).toEqual([1, {}, true]);
  await endsWell(host);
});

test("S-59 the same call that was denied in the turn is refused without a question, until a steer is applied and in the next turn", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a")], [write("a")], [write("a"), write("b")], [write("a")], ok, [write("a")], ok]);
  const turn = host.message();
  expect(await answer(host, 0, { approved: false })).toEqual({ resolved: true });
  // The second and the third time nobody is asked; the other call of the third step is another one.
  await question(host, 1);
  expect(payloadsOf(host, "approval_request").map(({ preview, affectedResources }) => [preview, affectedResources])).toEqual(["a", "b"].map((name) => ["x", [join(host.workingDir, name)]]));
  await host.ask("steer_message", { sessionId: host.sessionId, text: "well, do it" });
  await answer(host, 1, { approved: false });
  expect(await answer(host, 2, { approved: false })).toEqual({ resolved: true });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  const refused = "approval denied for fs.write: the same call was denied before in this turn, so it was not asked for again";
  expect(resultsOf(host).map(([, summary]) => summary)).toEqual(["approval denied for fs.write", refused, refused, "approval denied for fs.write", "approval denied for fs.write"]);
  const next = host.message();
  expect(await answer(host, 3, { approved: false })).toEqual({ resolved: true });
  await host.response(next);
  expect(existsSync(join(host.workingDir, "a"))).toBe(false);
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
