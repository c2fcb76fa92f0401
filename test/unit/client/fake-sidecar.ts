// A process that speaks just enough of the protocol to play what a real sidecar does rarely: it dies, floods, asks in vain,
// talks nonsense. The message's text says what to do.
import { appendFileSync, writeSync } from "node:fs";

interface Request {
  id: string;
  type: string;
  payload: { [name: string]: unknown };
}

const mode = process.env["FAKE_MODE"];
const progressFile = process.env["FAKE_PROGRESS"];
const answers: unknown[] = [];
let asking = "";

if (mode === "nonsense") say("hello, I am a shell");
if (mode === "misconfigured") {
  writeSync(2, "config.json:1:1: wrong\n");
  process.exit(3);
}

let rest = "";
for await (const bytes of process.stdin) {
  const lines = (rest + String(bytes)).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) take(JSON.parse(line) as Request);
}

function take({ id, payload, type }: Request): void {
  if (mode === "dies") die();
  if (type === "ping") respond(id, { ok: true, stateDir: JSON.stringify(answers), pid: process.pid });
  if (type === "skill_uninstall" && payload["name"] === "die") die();
  if (type === "skill_uninstall") say({ kind: "response", correlationId: id, ok: false, payload: {}, error: { message: "no", code: "handler_failed", field: "name" } });
  if (type === "shutdown" && mode !== "stubborn") respond(id, { ok: true });
  if (type === "approval_response") {
    answers.push(payload);
    respond(id, { resolved: true });
    if (asking !== "") respond(asking, { reason: "reply", turnCount: 1, stepCount: 1 });
  }
  if (type === "send_message") play(id, String(payload["text"]));
}

function play(id: string, text: string): void {
  const [what, count = "0"] = text.split(":");
  for (let index = 0; index < Number(count); index++) {
    event("assistant_delta", { sessionId: "s", text: `${index} ${"x".repeat(200)}` }, id);
    if (progressFile !== undefined && index % 1000 === 0) appendFileSync(progressFile, ".");
  }
  if (what === "unknown") event("from_the_future", { sessionId: "s" }, id);
  if (what === "ask" || what === "die while asking") event("approval_request", { approvalId: "a", sessionId: "s", tool: "fs.write", reason: "write" }, id);
  if (what === "ask") asking = id;
  if (what === "withdraw") {
    event("approval_request", { approvalId: "b", sessionId: "s", tool: "fs.write", reason: "write" }, id);
    event("approval_withdrawn", { approvalId: "b", sessionId: "s", reason: "expired" }, id);
  }
  if (what === "behind") {
    const response = { kind: "response", id: crypto.randomUUID(), correlationId: id, ok: true, payload: { reason: "reply", turnCount: 1, stepCount: 1 } };
    const log = { kind: "event", id: crypto.randomUUID(), type: "log", payload: { level: "info", message: "behind" } };
    writeSync(1, `${JSON.stringify(response)}\n${JSON.stringify(log)}\n`);
  }
  if (["flood", "unknown", "withdraw"].includes(what ?? "")) respond(id, { reason: "reply", turnCount: 1, stepCount: 1 });
}

function respond(id: string, payload: object): void {
  say({ kind: "response", correlationId: id, ok: true, payload });
}

function event(type: string, payload: object, correlationId: string): void {
  say({ kind: "event", type, correlationId, payload });
}

function say(frame: string | object): void {
  writeSync(1, `${typeof frame === "string" ? frame : JSON.stringify({ ...frame, id: crypto.randomUUID() })}\n`);
}

function die(): never {
  writeSync(2, "out of memory\n");
  process.exit(7);
}
