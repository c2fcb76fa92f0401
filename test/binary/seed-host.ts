// A host as one writes it from the protocol's page alone: node:child_process, one line a frame, no library of this project.
// Its arguments: the program, the working folder, the message, further fields of start_session as JSON. It prints what it
// saw as one line of JSON. It runs in Node and in Bun.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface Frame {
  kind: "event" | "response";
  type?: string;
  correlationId?: string;
  ok?: boolean;
  payload: { [name: string]: unknown };
  error?: { message: string; code: string };
}

const [program = "atomic-agent-sidecar", workingDir = ".", text = "", fields = "{}"] = process.argv.slice(2);
const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map<string, { resolve: (payload: Frame["payload"]) => void; reject: (error: Error) => void }>();
const seen: { [type: string]: number } = {};
let shown = "";
let reply = "";
let nextId = 1;

createInterface({ input: child.stdout }).on("line", (line) => {
  const frame = JSON.parse(line) as Frame;
  if (frame.kind === "response") {
    const request = waiting.get(frame.correlationId ?? "");
    waiting.delete(frame.correlationId ?? "");
    if (frame.ok) request?.resolve(frame.payload);
    else request?.reject(new Error(frame.error?.message));
    return;
  }
  const { payload, type = "" } = frame;
  seen[type] = (seen[type] ?? 0) + 1;
  if (type === "assistant_delta") shown += String(payload["text"]);
  if (type === "assistant_reply" && payload["progressNote"] !== true) reply = String(payload["text"]);
  if (type === "approval_request") void send("approval_response", { approvalId: payload["approvalId"], approved: true });
});

function send(type: string, payload: object = {}): Promise<Frame["payload"]> {
  const id = String(nextId++);
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    child.stdin.write(`${JSON.stringify({ kind: "request", id, type, payload })}\n`);
  });
}

const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
const ping = await send("ping");
const { sessionId } = await send("start_session", { workingDir, ...(JSON.parse(fields) as object) });
const result = await send("send_message", { sessionId, text });
const cancelled = await send("cancel", { sessionId });
const refused = await send("run_step").catch((error: Error) => error.message);
const ended = await send("shutdown");
child.stdin.end();
process.stdout.write(`${JSON.stringify({ ping, sessionId, result, cancelled, refused, ended, seen, shown, reply, exitCode: await exited })}\n`);
