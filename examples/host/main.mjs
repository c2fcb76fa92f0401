// A small desktop-like host: one page on the loopback interface, one session of the sidecar behind it.
//   node examples/host/main.mjs [FOLDER] [--model MODEL] [--level 1-5] [--port PORT] [--executable PATH]
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openSidecar } from "atomic/sidecar";
import { servePage } from "./server.mjs";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { model: { type: "string" }, level: { type: "string", default: "2" }, port: { type: "string", default: "0" }, executable: { type: "string" } },
});
const built = fileURLToPath(new URL("../../dist/atomic", import.meta.url));
const executable = values.executable ?? (existsSync(built) ? built : "atomic");
const session = {
  workingDir: resolve(positionals[0] ?? "."),
  approvalLevel: Number(values.level),
  ...(values.model === undefined ? {} : { model: values.model }),
};

/** Questions that wait for somebody: id -> { request, answer }. */
const questions = new Map();
let sessionId = "";
/** Settles when the session can be used; a new one after each end of the sidecar. */
let starting;
let isRunning = false;

// Before the sidecar, which may have something to tell at once; nobody knows the page's address before it is printed.
const page = await servePage({
  port: Number(values.port),
  /** What a page needs that is opened, or opened again. */
  async greet() {
    await starting;
    const { model } = await sidecar.request("ping");
    const state = await sidecar.request("get_session", { sessionId });
    return { workingDir: session.workingDir, model: state?.model ?? model, isRunning, turns: state?.turns ?? [], questions: [...questions.values()].map(({ request }) => request) };
  },
  events: () => sidecar.events(),
  actions: { send, cancel: () => sidecar.request("cancel", { sessionId }), answer },
});

const sidecar = openSidecar({
  command: [executable, "sidecar"],
  onStderr: (text) => process.stderr.write(text),
  onApproval: (request, signal) =>
    new Promise((answer) => {
      questions.set(request.approvalId, { request, answer });
      page.tell({ type: "question", payload: request });
      // Cancelled, expired, or the process is gone: the dialog closes by itself.
      signal.addEventListener("abort", () => closeQuestion(request.approvalId));
    }),
  onEnd: ({ message, restarted }) => {
    if (!isRunning) page.tell({ type: "notice", payload: { text: message } });
    if (restarted) start({ resumeSessionId: sessionId });
    else giveUp(new Error(message));
  },
});

await start({});
process.stdout.write(`${page.url}\n`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void end(0));

function start(fields) {
  starting = sidecar.request("start_session", { ...session, ...fields }).then((answer) => {
    ({ sessionId } = answer);
    page.tell({ type: "running", payload: { isRunning } });
  }, giveUp);
  return starting;
}

/** While a turn runs a text steers it; what comes too late for that is a message of its own. */
async function send({ text }) {
  if (isRunning && (await sidecar.request("steer_message", { sessionId, text })).steered) return { steered: true };
  void runTurn(text);
  return { steered: false };
}

async function runTurn(text) {
  isRunning = true;
  try {
    await starting;
    const { error, reason } = await sidecar.turn({ sessionId, text }).result();
    if (reason === "failed") page.tell({ type: "notice", payload: { text: error?.message ?? "the turn failed" } });
  } catch (error) {
    // Refused, or the sidecar ended: no event tells of it.
    page.tell({ type: "notice", payload: { text: error.message } });
    page.tell({ type: "running", payload: { isRunning: false } });
  }
  isRunning = false;
}

function answer({ approvalId, approved, grant, reason }) {
  const question = questions.get(approvalId);
  closeQuestion(approvalId);
  question?.answer({ approved: approved === true, ...(grant === "session" ? { grant } : {}), ...(reason ? { reason: String(reason) } : {}) });
  return { answered: question !== undefined };
}

function closeQuestion(approvalId) {
  if (questions.delete(approvalId)) page.tell({ type: "question_closed", payload: { approvalId } });
}

function giveUp(error) {
  process.stderr.write(`host: ${error.message}\n`);
  void end(1);
}

async function end(status) {
  page.close();
  await sidecar.close();
  process.exit(status);
}
