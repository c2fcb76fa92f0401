// A host that uses the library as another project would: `atomic/sidecar` by its package name, in Bun and in Node. Its
// arguments: the executable, the working folder, the models of its sessions. It prints what it saw as one line of JSON.
import { openSidecar, SidecarError, type SidecarEvent } from "atomic/sidecar";
import { SidecarEvent as EventSchema } from "atomic/protocol";
import type { SendMessageResponse } from "atomic";

const [executable = "", workingDir = "", chat = "", hanging = ""] = process.argv.slice(2);
const asked: string[] = [];
const sidecar = openSidecar({
  command: [executable, "sidecar"],
  onApproval: ({ affectedResources, category, grantable }) => {
    asked.push(`${category} ${affectedResources?.length} ${grantable}`);
    return { approved: true, grant: "session" };
  },
});

const { capabilities } = await sidecar.request("ping");
const all = sidecar.events();
const first = await sidecar.request("start_session", { workingDir, model: chat, approvalLevel: 1 });
const turn = sidecar.turn({ sessionId: first.sessionId, text: "Write two notes." });
let shown = "";
const own: SidecarEvent[] = [];
for await (const event of turn) {
  own.push(event);
  if (event.type === "assistant_delta") shown += event.payload.text;
}
const result: SendMessageResponse = await turn.result();
const unknown = await sidecar.request("get_session", { sessionId: "s-none" });
const refused = await sidecar.request("start_session", { workingDir: "" }).catch((error: unknown) => (error instanceof SidecarError ? `${error.code} ${error.field}` : error));

const second = await sidecar.request("start_session", { workingDir, model: hanging });
const stopped = sidecar.turn({ sessionId: second.sessionId, text: "Go on for ever." });
let steered: { steered: boolean } | undefined;
let cancelled: { cancelled: boolean } | undefined;
for await (const event of stopped) {
  if (event.type !== "assistant_delta") continue;
  steered ??= await sidecar.request("steer_message", { sessionId: second.sessionId, text: "Quicker." });
  cancelled ??= await sidecar.request("cancel", { sessionId: second.sessionId });
}
const stoppedResult = await stopped.result();

// The process dies in the middle of a turn: the library starts another one, the host resumes the stored session.
const third = await sidecar.request("start_session", { workingDir, model: hanging });
const lost = sidecar.turn({ sessionId: third.sessionId, text: "Go on for ever." });
for await (const event of lost) if (event.type === "assistant_delta") process.kill(sidecar.pid ?? 0, "SIGKILL");
const lostResult = await lost.result().catch((error: unknown) => (error instanceof SidecarError ? error.code : error));
const resumed = await sidecar.request("start_session", { workingDir, model: chat, resumeSessionId: third.sessionId });
const state = await sidecar.request("get_session", { sessionId: third.sessionId });
const { exitCode } = await sidecar.close();

const invalid: string[] = [];
let seen = 0;
for await (const event of all) {
  seen++;
  if (!EventSchema.safeParse(event).success) invalid.push(event.type);
}
process.stdout.write(
  `${JSON.stringify({ capable: capabilities.includes("resume_session"), asked, shown, types: own.map(({ type }) => type), reason: result.reason, unknown, refused, steered, cancelled: cancelled?.cancelled, stopped: stoppedResult.reason, lost: lostResult, resumed: [resumed.resumed, resumed.sessionId === third.sessionId, state?.turnCount], exitCode, invalid, enough: seen > own.length })}\n`,
);
