// What a model is told: one system text that never changes within a session, and for text engines the conversation in
// turns of user and assistant. A prompt that grows keeps its beginning byte for byte, so that only new tokens are computed.
import type { ChatMessage, Engine } from "../core/engine.ts";
import { contentText, type AgentMessage, type AssistantMessage, type ToolCall, type ToolResultMessage } from "../core/message.ts";
import type { ToolSpec } from "../core/tool.ts";
import { actionText, replyText } from "./action.ts";
import type { Conversation } from "./conversation.ts";
import { isRecord } from "./gbnf.ts";
import { offeredArguments } from "./offer.ts";

export interface SystemTextOptions {
  tools: readonly ToolSpec[];
  /** Replaces the rules. */
  replacement?: string;
  /** Added at the end, each in a paragraph of its own. */
  additions: readonly string[];
}

/** What every request of a session begins with: without path, date or counter, the same bytes for the session's life. */
export interface SystemText {
  /** For text engines, which are told everything by words. */
  text: string;
  /** For action engines: the rules without the form of an action and without the tools, which such an engine is given apart. */
  action: string;
  /** What `action` leaves out, for a server that turns out to have no tool calls of its own. */
  guide: string;
}

const task = "You do jobs in a folder of the user's computer with tools.";
const form = `Each message you write is one action, a JSON object on one line:
{"goal":"answer","tool":NAME,"args":{...}} while the user wants to know something
{"goal":"change","tool":NAME,"args":{...}} while the user wants something changed`;
const rulesWith = (edit: string): string => `- Read a file before you answer about it or change it. Never guess what a file holds.
- Do exactly what was asked, nothing more. ${edit}
- After an error, read what it says and try another way.
- What is not there, or can't be known with these tools, you don't know: say so.
- As soon as it is done, or when no tool is needed, reply.`;
const textRules = `${task} ${form}\n\n${rulesWith("To change a part of a file use fs.edit.")}`;
/** Each server has the tools' names spelled in its own way. */
const actionRules = `${task}\n\n${rulesWith("To change a part of a file, edit it; don't write it anew.")}`;

/** Small models follow what they have seen done: look and answer, change and say so, go on to the next step, just reply. */
const example = `Example:
User: How old is Ann?
{"goal":"answer","tool":"fs.read","args":{"path":"people.txt"}}
Result of fs.read: Ann 31, Bob 40
{"goal":"answer","tool":"reply","args":{"text":"Ann is 31."}}
User: Correct Bob's age in list.txt: he is 41.
{"goal":"change","tool":"fs.read","args":{"path":"list.txt"}}
Result of fs.read: Bob = 40
{"goal":"change","tool":"fs.edit","args":{"path":"list.txt","oldText":"Bob = 40","newText":"Bob = 41"}}
Result of fs.edit: replaced 1 place
{"goal":"change","tool":"reply","args":{"text":"Bob is 41 now in list.txt."}}
User: Write hi.py that prints hi, run it and tell me the output.
{"goal":"change","tool":"fs.write","args":{"path":"hi.py","content":"print('hi')\\n"}}
Result of fs.write: wrote 12 bytes
{"goal":"change","tool":"shell.run","args":{"command":"python3 hi.py"}}
Result of shell.run: hi
{"goal":"change","tool":"reply","args":{"text":"I wrote hi.py; it prints hi."}}
User: Run it again.
{"goal":"answer","tool":"shell.run","args":{"command":"python3 hi.py"}}
Result of shell.run: hi
{"goal":"answer","tool":"reply","args":{"text":"It printed hi."}}
User: Thanks!
{"goal":"answer","tool":"reply","args":{"text":"You're welcome."}}`;

/** Without tools, words about tools and files would only mislead. */
const plainTask = "You answer the user.";
const plainForm = 'Each message you write is a JSON object on one line: {"goal":"answer","tool":"reply","args":{"text":...}}';

export function systemText({ tools, replacement, additions }: SystemTextOptions): SystemText {
  if (tools.length === 0) {
    const action = [replacement ?? plainTask, ...additions].join("\n\n");
    return { text: [replacement ?? plainTask, plainForm, ...additions].join("\n\n"), action, guide: plainForm };
  }
  const offered = [...tools.map(toolLine), 'reply {"text":string} - the answer to the user; ends the job'];
  const told = [`Tools:\n${offered.join("\n")}`, example];
  return {
    text: [replacement ?? textRules, ...told, ...additions].join("\n\n"),
    action: [replacement ?? actionRules, ...additions].join("\n\n"),
    guide: [form, ...told].join("\n\n"),
  };
}

/** What the requests of this engine begin with. */
export function systemFor(engine: Engine, system: SystemText): string {
  return engine.kind === "action" && engine.needsGuide?.() ? `${system.action}\n\n${system.guide}` : system[engine.kind];
}

/** A tool in one line, with its arguments. */
export function toolLine(tool: ToolSpec): string {
  return `${tool.name} ${argumentsLine(tool)} - ${tool.description}`;
}

/** The arguments of a tool in one line: `{"path":string,"limit"?:integer}`. */
function argumentsLine(tool: ToolSpec): string {
  const { properties, required } = offeredArguments(tool) ?? { properties: {}, required: [] };
  const members = Object.entries(properties).map(([name, property]) => `${JSON.stringify(name)}${required.includes(name) ? "" : "?"}:${typeName(property)}`);
  return `{${members.join(",")}}`;
}

function typeName(property: unknown): string {
  if (!isRecord(property)) return "value";
  if (Array.isArray(property["enum"])) return property["enum"].map((value) => JSON.stringify(value)).join("|");
  if (property["type"] === "array") return `[${typeName(property["items"])}]`;
  return typeof property["type"] === "string" ? property["type"] : "value";
}

/** The conversation as a chat of strictly alternating user and assistant messages after the system text. */
export function renderConversation(system: string, conversation: Conversation): ChatMessage[] {
  const chat: ChatMessage[] = [{ role: "system", text: system }];
  let task = conversation.earlierRequest;
  for (const message of conversation.messages) {
    if (message.role === "user") task = contentText(message.content);
    const entry = renderMessage(message, conversation, task);
    if (!entry) continue;
    const previous = chat.at(-1);
    if (previous?.role === entry.role) previous.text += `\n\n${entry.text}`;
    else chat.push(entry);
  }
  return chat;
}

function renderMessage(message: AgentMessage, conversation: Conversation, task: string): ChatMessage | undefined {
  const note = conversation.note(message);
  const noted = (text: string): string => (note === "" ? text : `${text}\n\n${note}`);
  switch (message.role) {
    case "user":
      return { role: "user", text: noted(contentText(message.content)) };
    case "assistant":
      return renderAssistant(message, conversation);
    case "toolResult":
      return { role: "user", text: noted(`${renderResult(message)}\n\n${reminder(task)}`) };
    case "bashExecution":
      return message.excludeFromContext ? undefined : { role: "user", text: `$ ${message.command}\n${message.output}` };
    case "custom":
      return { role: "user", text: noted(contentText(message.content)) };
    case "branchSummary":
      return { role: "user", text: message.summary };
  }
}

function renderAssistant(message: AssistantMessage, conversation: Conversation): ChatMessage | undefined {
  if (message.stopReason === "error" || message.stopReason === "aborted") return undefined;
  const raw = conversation.rawText(message);
  if (raw !== undefined) return { role: "assistant", text: raw };
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  const said = message.content.filter((block) => block.type === "text").map((block) => block.text);
  const text = calls.length > 0 ? actionText(calls) : replyText(said.join("\n"));
  return { role: "assistant", text };
}

function renderResult(message: ToolResultMessage): string {
  const text = contentText(message.content);
  return message.isError ? `${message.toolName} failed: ${text}` : `Result of ${message.toolName}:\n${text}`;
}

const reminderCharsMax = 400;

/** Small models lose the task behind a long result. */
function reminder(task: string): string {
  const line = task.length > reminderCharsMax ? `${task.slice(0, reminderCharsMax)} …` : task;
  return `(The user's request: ${line})`;
}
