// Runs and turns: what nests in what (I2), what their ends repeat (I6, I7, I8), and the tools of a turn (I9, I10, I11, 10.3).
import { at, type Breach, Breaches, type JsonObject, type Line, listAt, same, show, textAt } from "./values.ts";

export function checkTurns(lines: readonly Line[]): Breach[] {
  const breaches = new Breaches();
  const walk: Walk = { breaches, open: new Set(), run: [], turn: emptyTurn() };
  for (const { number, event } of lines) {
    breaches.line = number;
    const type = textAt(event, "type");
    checkNesting(walk, type);
    handlers[type]?.(walk, event);
  }
  for (const kind of walk.open) breaches.need(false, "I2", `the ${kind} is never closed`);
  return breaches.all;
}

interface Tool {
  name: unknown;
  args: unknown;
  text: string;
  end?: JsonObject;
}

interface Turn {
  assistant: unknown;
  calls: unknown[];
  tools: Map<unknown, Tool>;
  results: unknown[];
  /** Injected user or custom messages. */
  injected: number;
  /** Stop reason of the turn before it in the run. */
  previousStop: string;
}

interface Walk {
  breaches: Breaches;
  open: Set<string>;
  /** Messages that ended in this run. */
  run: unknown[];
  turn: Turn;
}

function emptyTurn(previousStop = ""): Turn {
  return { assistant: undefined, calls: [], tools: new Map(), results: [], injected: 0, previousStop };
}

function checkNesting(walk: Walk, type: string): void {
  const [, kind, edge] = /^(agent|turn|message)_(start|end)$/.exec(type) ?? [];
  if (kind === undefined) return;
  const outer = kind === "message" ? "turn" : kind === "turn" ? "agent" : undefined;
  const inner = kind === "agent" ? "turn" : kind === "turn" ? "message" : undefined;
  walk.breaches.need(walk.open.has(kind) === (edge === "end"), "I2", edge === "end" ? `${type} without its start` : `${type} inside another`);
  walk.breaches.need(outer === undefined || walk.open.has(outer), "I2", `${type} outside ${outer}_start and ${outer}_end`);
  walk.breaches.need(edge === "start" || inner === undefined || !walk.open.has(inner), "I2", `${type} before ${inner}_end`);
  if (edge === "start") walk.open.add(kind);
  else walk.open.delete(kind);
}

const handlers: { [type: string]: (walk: Walk, event: JsonObject) => void } = {
  agent_start(walk) {
    walk.run = [];
    walk.turn = emptyTurn();
  },
  agent_end({ run, breaches }, event) {
    breaches.need(same(event["messages"], run), "I6", "messages are not those that ended in the run");
  },
  turn_start(walk) {
    const stop = textAt(walk.turn.assistant, "stopReason");
    walk.breaches.need(!["error", "aborted"].includes(stop), "6.20", `a turn follows stopReason ${stop} in one run`);
    walk.turn = emptyTurn(stop);
  },
  turn_end: endTurn,
  message_end: endMessage,
  tool_execution_start: startTool,
  tool_execution_update: updateTool,
  tool_execution_end({ turn, breaches }, event) {
    const tool = openTool(turn, event);
    if (!tool) return breaches.need(false, "I9", `the end of ${show(event["toolCallId"])}, which is not running`);
    breaches.need(event["toolName"] === tool.name, "I9", "toolName is not that of the start");
    breaches.need(turn.results.length === 0 || turn.tools.size === turn.results.length + 1, "I10", "a parallel tool ends after the first result");
    tool.end = event;
  },
};

function endTurn({ turn, breaches }: Walk, event: JsonObject): void {
  breaches.need(same(event["message"], turn.assistant), "I7", "message is not the assistant message of the turn");
  breaches.need(same(event["toolResults"], turn.results), "I7", "toolResults are not the results of the turn");
  const failed = ["error", "aborted"].includes(textAt(turn.assistant, "stopReason"));
  const wanted = failed ? [] : turn.calls.map((call) => at(call, "id"));
  const given = listAt(event, "toolResults").map((result) => at(result, "toolCallId"));
  breaches.need(same(given, wanted), "I8", `results of ${show(given)}, calls ${show(wanted)}`);
  for (const [id, tool] of turn.tools) breaches.need(tool.end !== undefined, "I9", `${show(id)} is still running`);
}

function endMessage(walk: Walk, event: JsonObject): void {
  const { turn, breaches, run } = walk;
  const message = event["message"];
  run.push(message);
  const role = at(message, "role");
  if (role === "user" || role === "custom") turn.injected++;
  if (role === "custom") breaches.need(turn.previousStop === "stop", "9.3", "a custom message without an answer before it");
  if (role === "toolResult") endResult(walk, message);
  if (role !== "assistant") return;
  breaches.need(turn.previousStop !== "stop" || turn.injected > 0, "C13", "a turn follows stopReason stop and brings nothing new");
  turn.assistant = message;
  turn.calls = listAt(message, "content").filter((block) => at(block, "type") === "toolCall" && at(block, "incomplete") !== true);
}

function startTool({ turn, breaches }: Walk, event: JsonObject): void {
  const id = event["toolCallId"];
  const place = turn.calls.findIndex((call) => at(call, "id") === id);
  const call = turn.calls[place];
  if (!call || turn.tools.has(id)) return breaches.need(false, "I9", `${show(id)} starts: the message has no such call, or it started before`);
  breaches.need(place === turn.tools.size, "I10", `${show(id)} starts out of call order`);
  breaches.need(event["toolName"] === at(call, "name") && same(event["args"], at(call, "arguments")), "I9", "toolName or args are not those of the call");
  turn.tools.set(id, { name: event["toolName"], args: event["args"], text: "" });
}

function updateTool({ turn, breaches }: Walk, event: JsonObject): void {
  const tool = openTool(turn, event);
  if (!tool) return breaches.need(false, "I9", `an update of ${show(event["toolCallId"])}, which is not running`);
  breaches.need(event["toolName"] === tool.name && same(event["args"], tool.args), "I9", "toolName or args are not those of the start");
  const blocks = listAt(event, "partialResult", "content");
  const text = blocks.map((block) => textAt(block, "text")).join("");
  const cut = at(event, "partialResult", "details", "truncation") !== undefined;
  breaches.need(cut || text.startsWith(tool.text), "10.3", "partialResult doesn't extend the one before");
  tool.text = cut ? "" : text;
}

function endResult({ turn, breaches }: Walk, message: unknown): void {
  const id = at(message, "toolCallId");
  const end = turn.tools.get(id)?.end;
  const again = turn.results.some((result) => at(result, "toolCallId") === id);
  if (!end || again) return breaches.need(false, "I9", `a result of ${show(id)}, whose tool did not end, or twice`);
  breaches.need(at(turn.calls[turn.results.length], "id") === id, "I10", `the result of ${show(id)} is out of call order`);
  const equal = same(at(message, "content"), at(end, "result", "content")) && same(at(message, "details"), at(end, "result", "details"));
  breaches.need(equal && at(message, "isError") === end["isError"] && at(message, "toolName") === end["toolName"], "I11", "the result is not that of tool_execution_end");
  turn.results.push(message);
}

function openTool(turn: Turn, event: JsonObject): Tool | undefined {
  const tool = turn.tools.get(event["toolCallId"]);
  return tool?.end === undefined ? tool : undefined;
}
