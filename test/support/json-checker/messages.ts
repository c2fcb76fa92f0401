// One message at a time: its blocks against its updates (U1 … U8, I3 … I5, R9), its stop reason and usage (3.2 … 3.4).
import { isTolerantParse } from "./partial-json.ts";
import { at, type Breach, Breaches, isObject, type JsonObject, type Line, listAt, numberAt, same, show, textAt } from "./values.ts";

export function checkMessages(lines: readonly Line[]): Breach[] {
  const breaches = new Breaches();
  let open: OpenMessage | undefined;
  let snapshots: boolean | undefined;
  for (const { number, event } of lines) {
    breaches.line = number;
    if (event["type"] === "message_start") {
      open = { start: at(event, "message"), blocks: [], updates: 0, usage: at(event, "message", "usage") };
      checkStart(open.start, breaches);
    } else if (event["type"] === "message_update") {
      const hasSnapshot = "message" in event;
      snapshots ??= hasSnapshot;
      breaches.need(snapshots === hasSnapshot, "U8", "some updates have a message, others don't");
      breaches.need(open !== undefined, "I2", "an update outside a message");
      if (open) checkUpdate(open, event, breaches);
    } else if (event["type"] === "message_end") {
      if (open) checkEnd(open, at(event, "message"), breaches);
      open = undefined;
    }
  }
  return breaches.all;
}

interface Block {
  kind: "text" | "thinking" | "toolcall";
  text: string;
  /** What `*_end` said, once it came. */
  end?: unknown;
  id: unknown;
  name: unknown;
}

interface OpenMessage {
  start: unknown;
  blocks: Block[];
  updates: number;
  usage: unknown;
}

const counters = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

function checkStart(message: unknown, breaches: Breaches): void {
  if (at(message, "role") !== "assistant") return;
  const fresh = same(at(message, "content"), []) && at(message, "stopReason") === "pending";
  const failed = at(message, "stopReason") === "error" || at(message, "stopReason") === "aborted";
  breaches.need(fresh || failed, "U7", "message_start is neither empty and pending nor a failed message");
  breaches.need(counters.every((name) => numberAt(message, "usage", name) === 0), "3.4", "usage in message_start is not 0");
}

const updateKind = /^(text|thinking|toolcall)_(start|delta|end)$/;

function checkUpdate(open: OpenMessage, event: JsonObject, breaches: Breaches): void {
  open.updates++;
  breaches.need(at(open.start, "role") === "assistant", "I3", "an update of a message that is not the assistant's");
  breaches.need(!("partial" in event) && at(event, "assistantMessageEvent", "partial") === undefined, "U2", "partial is present");
  const update = at(event, "assistantMessageEvent");
  const [, kind, phase] = updateKind.exec(textAt(update, "type")) ?? [];
  const index = at(update, "contentIndex");
  if (kind === undefined || typeof index !== "number") return breaches.need(false, "U1", `update ${show(update)}`);
  if (phase === "start") {
    breaches.need(index === open.blocks.length, "U3", `block ${index} opens as number ${open.blocks.length}`);
    open.blocks.push({ kind: kind as Block["kind"], text: "", id: at(update, "id"), name: at(update, "toolName") });
  } else {
    const block = open.blocks[index];
    if (!block || block.kind !== kind || block.end !== undefined) return breaches.need(false, "U4", `${kind}_${phase} of block ${index}, which is not open`);
    if (phase === "delta") block.text += textAt(update, "delta");
    else endBlock(block, update, breaches);
  }
  if ("message" in event) checkSnapshot(open, event["message"], breaches);
}

function endBlock(block: Block, update: unknown, breaches: Breaches): void {
  block.end = block.kind === "toolcall" ? at(update, "toolCall") : at(update, "content");
  if (block.kind !== "toolcall") breaches.need(block.end === block.text, "I4", `${block.kind}_end.content is not the sum of its deltas`);
  else breaches.need(isTolerantParse(at(block.end, "arguments"), block.text, same), "I4", "toolcall_end.arguments are not those of the deltas");
}

function checkSnapshot(open: OpenMessage, snapshot: unknown, breaches: Breaches): void {
  breaches.need(at(snapshot, "stopReason") === "pending", "C5", "a snapshot that is not pending");
  for (const name of ["role", "api", "provider", "model"]) {
    breaches.need(same(at(snapshot, name), at(open.start, name)), "R9", `${name} of the snapshot is not that of message_start`);
  }
  checkUsageRises(open, snapshot, breaches);
  const content = listAt(snapshot, "content");
  breaches.need(content.length === open.blocks.length, "U5", `the snapshot has ${content.length} blocks, ${open.blocks.length} are open`);
  for (const [index, block] of open.blocks.entries()) {
    breaches.need(isBlock(content[index], block), "U5", `block ${index} of the snapshot is ${show(content[index])}, the deltas say ${show(block.text)}`);
  }
}

function checkUsageRises(open: OpenMessage, message: unknown, breaches: Breaches): void {
  for (const name of counters) breaches.need(numberAt(message, "usage", name) >= numberAt(open.usage, name), "3.4", `usage.${name} falls`);
  open.usage = at(message, "usage");
}

/** A content block against what its updates have built so far. */
function isBlock(content: unknown, block: Block): boolean {
  if (block.kind !== "toolcall") return at(content, "type") === block.kind && at(content, block.kind) === block.text;
  if (block.end !== undefined) return same(content, block.end);
  const named = at(content, "type") === "toolCall" && [undefined, at(content, "id")].includes(block.id) && [undefined, at(content, "name")].includes(block.name);
  return named && isTolerantParse(at(content, "arguments"), block.text, same);
}

function checkEnd(open: OpenMessage, message: unknown, breaches: Breaches): void {
  const role = at(message, "role");
  breaches.need(role === at(open.start, "role"), "I3", `message_end of ${show(role)}, message_start was of ${show(at(open.start, "role"))}`);
  if (role !== "assistant") {
    breaches.need(same(message, open.start), "C8", "message_end is not equal to message_start");
    return;
  }
  breaches.need(at(message, "stopReason") !== "pending", "I5", "pending in message_end");
  if (at(open.start, "stopReason") !== "pending") breaches.need(same(message, open.start) && open.updates === 0, "U7", "message_start of a failed call is not equal to message_end");
  for (const name of ["api", "provider", "model"]) {
    breaches.need(same(at(message, name), at(open.start, name)), "R9", `${name} is not that of message_start`);
  }
  checkUsageRises(open, message, breaches);
  checkBlocks(open, message, breaches);
  checkStop(message, breaches);
}

function checkBlocks(open: OpenMessage, message: unknown, breaches: Breaches): void {
  const content = listAt(message, "content");
  const cut = ["error", "aborted"].includes(textAt(message, "stopReason"));
  breaches.need(content.length === open.blocks.length, "I4", `${content.length} blocks, ${open.blocks.length} were opened`);
  for (const [index, block] of open.blocks.entries()) {
    const final = content[index];
    const incomplete = block.kind === "toolcall" && cut && at(final, "incomplete") === true;
    breaches.need((block.end !== undefined) !== incomplete, "U6", `block ${index} has ${block.end === undefined ? "no end" : "an end and is incomplete"}`);
    breaches.need(isBlock(final, block), "I4", `block ${index} is ${show(final)}, its updates said ${show(block.end ?? block.text)}`);
  }
}

/** 3.2, 3.3, 3.4: what the stop reason says about the rest of the message. */
function checkStop(message: unknown, breaches: Breaches): void {
  if (!isObject(message)) return;
  const stop = textAt(message, "stopReason");
  const calls = listAt(message, "content").filter((block) => at(block, "type") === "toolCall");
  const [failed, ended] = [stop === "error" || stop === "aborted", stop === "stop" || stop === "length" || stop === "toolUse"];
  breaches.need("errorMessage" in message === failed, "3.2", `errorMessage with stopReason ${stop}`);
  breaches.need("errorKind" in message === (stop === "error"), "3.2", `errorKind with stopReason ${stop}`);
  breaches.need(!/[\r\n]/.test(textAt(message, "errorMessage")), "3.2", "errorMessage has several lines");
  breaches.need(stop !== "toolUse" || calls.length > 0, "3.3", "toolUse without a call");
  breaches.need(stop !== "stop" || calls.length === 0, "3.3", "stop with a call");
  breaches.need(!("terminal" in message) || (calls.length === 0 && ended), "3.2", "terminal beside calls or in a failed message");
  breaches.need(failed || !calls.some((call) => at(call, "incomplete") !== undefined), "C7", `incomplete call with stopReason ${stop}`);
  breaches.need(new Set(calls.map((call) => at(call, "id"))).size === calls.length, "I9", "two calls with one id");
  const sum = counters.slice(0, 4).reduce((total, name) => total + numberAt(message, "usage", name), 0);
  breaches.need(numberAt(message, "usage", "totalTokens") === sum, "3.4", "totalTokens is not the sum");
}
