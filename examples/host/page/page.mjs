// The page: events in, what is seen out. It keeps no state of its own but what it shows; `hello` draws everything anew.
const at = (id) => document.getElementById(id);
const chat = at("chat");
/** Questions in the order they came; the dialog shows the first. */
let questions = [];
/** The tool calls that run, and the text that grows. */
let calls = new Map();
let reply;
let thinking;

const source = new EventSource("events");
source.addEventListener("message", ({ data }) => {
  const { payload, type } = JSON.parse(data);
  const atEnd = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
  shows[type]?.(payload);
  if (atEnd) chat.scrollTop = chat.scrollHeight;
});
source.addEventListener("error", () => (at("status").textContent = "no connection"));

const shows = {
  hello({ isRunning, model, questions: open, turns, workingDir }) {
    chat.replaceChildren();
    [questions, calls, reply, thinking] = [open, new Map(), undefined, undefined];
    for (const [id, path] of [["place", workingDir], ["model", model ?? ""]]) Object.assign(at(id), { title: path, textContent: path.split(/[\\/:]/).at(-1) });
    for (const turn of turns) drawStored(turn);
    shows.running({ isRunning });
    showQuestion();
  },
  running({ isRunning }) {
    at("status").textContent = isRunning ? "working" : "ready";
    at("stop").hidden = !isRunning;
    at("send").textContent = isRunning ? "Steer" : "Send";
  },
  turn_started: () => shows.running({ isRunning: true }),
  user_message: ({ text }) => add("user", text),
  steer_applied: ({ text }) => add("steer", text),
  // It came too late: back into the field, to be sent as a message.
  steer_undelivered({ text }) {
    at("text").value = [text, at("text").value].filter((part) => part !== "").join("\n");
  },
  step_started() {
    thinking = undefined;
  },
  reasoning_delta({ text }) {
    thinking ??= add("thinking", "");
    thinking.textContent += text;
  },
  assistant_delta({ text }) {
    reply ??= add("reply", "");
    reply.textContent += text;
  },
  assistant_reset() {
    reply?.remove();
    reply = undefined;
  },
  // The whole text again, which the deltas have shown.
  assistant_reply({ text }) {
    reply ??= add("reply", "");
    reply.textContent = text;
    reply = undefined;
  },
  tool_call_started({ args, tool, toolCallId }) {
    if (tool !== "reply") calls.set(toolCallId, addTool(tool, args));
  },
  tool_call_result({ status, summary, toolCallId }) {
    endTool(calls.get(toolCallId), status, summary);
    calls.delete(toolCallId);
  },
  turn_finished({ reason }) {
    reply = undefined;
    shows.running({ isRunning: false });
    if (reason === "cancelled") add("notice", "stopped");
  },
  loop_detected: ({ level, tool }) => void (level === "stop" && add("notice", `${tool} went round in circles`)),
  llm_unavailable: ({ hint }) => add("notice", hint),
  model_loading: ({ progress, stage }) => void (at("status").textContent = `${stage === "weights" ? "loading the model" : "reading"}: ${Math.round(progress * 100)} %`),
  llm_request: () => shows.running({ isRunning: true }),
  notice: ({ text }) => add("notice", text),
  question(request) {
    questions.push(request);
    showQuestion();
  },
  question_closed({ approvalId }) {
    questions = questions.filter((one) => one.approvalId !== approvalId);
    showQuestion();
  },
};

function drawStored(turn) {
  if (turn.kind === "user") add(turn.steered ? "steer" : "user", turn.text);
  if (turn.kind === "assistant_reply") add("reply", turn.text);
  if (turn.kind === "assistant_tool_call" && turn.tool !== "reply") calls.set(turn.toolCallId, addTool(turn.tool, turn.args));
  if (turn.kind === "tool_result") endTool(calls.get(turn.toolCallId), turn.status, turn.summary);
}

function add(name, text) {
  const element = document.createElement("div");
  element.className = name;
  element.textContent = text;
  chat.append(element);
  return element;
}

function addTool(tool, args) {
  const element = document.createElement("details");
  element.className = "tool";
  const head = document.createElement("summary");
  head.textContent = [tool, ...Object.values(args).filter((value) => typeof value !== "object")].join(" ").slice(0, 120);
  element.append(head);
  chat.append(element);
  return element;
}

function endTool(element, status, summary) {
  if (element === undefined) return;
  element.classList.add(status);
  const result = document.createElement("pre");
  result.textContent = summary;
  element.append(result);
}

function showQuestion() {
  const [request] = questions;
  if (request === undefined) return at("question").close();
  at("question-title").textContent = `${request.tool}: allow it?`;
  at("question-reason").textContent = request.reason;
  at("question-preview").textContent = request.preview ?? "";
  at("question-preview").hidden = request.preview === undefined;
  at("allow-session").hidden = request.grantable !== true;
  at("question-words").value = "";
  if (!at("question").open) at("question").showModal();
}

async function post(action, body) {
  const response = await fetch(action, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) add("notice", (await response.json()).error);
}

function answer(fields) {
  const [request] = questions;
  if (request) void post("answer", { approvalId: request.approvalId, ...fields });
}

at("allow").addEventListener("click", () => answer({ approved: true }));
at("allow-session").addEventListener("click", () => answer({ approved: true, grant: "session" }));
at("deny").addEventListener("click", () => answer({ approved: false, reason: at("question-words").value }));
// Escape is no answer; the question stays until there is one.
at("question").addEventListener("close", showQuestion);
at("stop").addEventListener("click", () => void post("cancel", {}));
at("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  at("compose").requestSubmit();
});
at("compose").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = at("text").value;
  if (text.trim() === "") return;
  at("text").value = "";
  void post("send", { text });
});
