// What a model is told: one system text that never changes within a session, and for text engines the conversation in
// turns of user and assistant. A prompt that grows keeps its beginning byte for byte, so that only new tokens are computed.
import type { ChatMessage, Engine } from "../core/engine.ts";
import { isRecord } from "../core/is-record.ts";
import { contentText, type AgentMessage, type AssistantMessage, type ToolCall, type ToolResultMessage } from "../core/message.ts";
import type { ToolSpec } from "../core/tool.ts";
import { actionText, replyText } from "./action.ts";
import { type ActionForm, type Goal, goals, jsonForm } from "./action-form.ts";
import type { Conversation } from "./conversation.ts";
import { formOf } from "./chosen-form.ts";
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
  /** For text engines, which are told everything by words, in the form of their actions. */
  text(form: ActionForm): string;
  /** For action engines: the rules without the form of an action and without the tools, which such an engine is given apart. */
  action: string;
  /** What `action` leaves out, for a server that turns out to have no tool calls of its own. */
  guide: string;
}

const task = "You do jobs in a folder of the user's computer with tools.";

/** How an action is written, in words. */
function formText(form: ActionForm): string {
  const { open, close } = form.call("answer", "NAME");
  if (form.hasGoal) return formWithGoal(form);
  return `Each message you write is either one call of a tool:\n${open}{...}${close}\nor, in plain words, the answer to the user.`;
}

function formWithGoal(form: ActionForm): string {
  const said = form.reply("answer", false).close === undefined ? `\n${form.reply("answer", false).open}TEXT to answer the user` : "";
  const lines = goals.map((goal) => `${form.call(goal, "NAME").open.replace('"NAME"', "NAME")}{...}${form.call(goal, "NAME").close} while the user ${goal === "answer" ? "wants to know something" : "wants something changed"}`);
  return `Each message you write is one action${said === "" ? ", a JSON object on one line" : ""}:\n${lines.join("\n")}${said}`;
}

const rulesWith = (edit: string): string => `- Read a file before you answer about it or change it. Never guess what a file holds.
- Do exactly what was asked, nothing more. ${edit}
- After an error, read what it says and try another way.
- What is not there, or can't be known with these tools, you don't know: say so.
- As soon as it is done, or when no tool is needed, reply.`;
const textRules = (form: ActionForm): string => `${task} ${formText(form)}\n\n${rulesWith("To change a part of a file use fs.edit.")}`;
/** Each server has the tools' names spelled in its own way. */
const actionRules = `${task}\n\n${rulesWith("To change a part of a file, edit it; don't write it anew.")}`;

type ExampleLine = readonly [who: "user", text: string] | readonly [who: "result", tool: string, text: string] | readonly [who: "reply", goal: Goal, text: string] | readonly [who: "call", goal: Goal, tool: string, args: Record<string, unknown>];

/** Small models follow what they have seen done: look and answer, change and say so, go on to the next step, just reply. */
const exampleLines: readonly ExampleLine[] = [
  ["user", "How old is Ann?"],
  ["call", "answer", "fs.read", { path: "people.txt" }],
  ["result", "fs.read", "Ann 31, Bob 40"],
  ["reply", "answer", "Ann is 31."],
  ["user", "Correct Bob's age in list.txt: he is 41."],
  ["call", "change", "fs.read", { path: "list.txt" }],
  ["result", "fs.read", "Bob = 40"],
  ["call", "change", "fs.edit", { path: "list.txt", oldText: "Bob = 40", newText: "Bob = 41" }],
  ["result", "fs.edit", "replaced 1 place"],
  ["reply", "change", "Bob is 41 now in list.txt."],
  ["user", "Write hi.py that prints hi, run it and tell me the output."],
  ["call", "change", "fs.write", { path: "hi.py", content: "print('hi')\n" }],
  ["result", "fs.write", "wrote 12 bytes"],
  ["call", "change", "shell.run", { command: "python3 hi.py" }],
  ["result", "shell.run", "hi"],
  ["reply", "change", "I wrote hi.py; it prints hi."],
  ["user", "Run it again."],
  ["call", "answer", "shell.run", { command: "python3 hi.py" }],
  ["result", "shell.run", "hi"],
  ["reply", "answer", "It printed hi."],
  ["user", "Thanks!"],
  ["reply", "answer", "You're welcome."],
];

function exampleText(form: ActionForm): string {
  const lines = exampleLines.map((line) => {
    if (line[0] === "user") return `User: ${line[1]}`;
    if (line[0] === "result") return `Result of ${line[1]}: ${line[2]}`;
    return line[0] === "reply" ? replyText(line[2], form, line[1]) : actionText([{ name: line[2], arguments: line[3] }], form, line[1]);
  });
  return `Example:\n${lines.join("\n")}`;
}

/** Without tools, words about tools and files would only mislead. */
const plainTask = "You answer the user.";
const plainFormText = (form: ActionForm): string => (form.reply("answer", false).close === undefined ? `Each message you write ${form.hasGoal ? `is ${form.reply("answer", false).open}TEXT` : "is your answer, in plain words"}.` : 'Each message you write is a JSON object on one line: {"goal":"answer","tool":"reply","args":{"text":...}}');

export function systemText({ tools, replacement, additions }: SystemTextOptions): SystemText {
  const told = (form: ActionForm): string[] => [`Tools:\n${[...tools.map(toolLine), ...(form.name === "json" ? ['reply {"text":string} - the answer to the user; ends the job'] : [])].join("\n")}`, exampleText(form)];
  const isPlain = tools.length === 0;
  return {
    text: (form) => (isPlain ? [replacement ?? plainTask, plainFormText(form), ...additions] : [replacement ?? textRules(form), ...told(form), ...additions]).join("\n\n"),
    action: [replacement ?? (isPlain ? plainTask : actionRules), ...additions].join("\n\n"),
    guide: isPlain ? plainFormText(jsonForm) : [formText(jsonForm), ...told(jsonForm)].join("\n\n"),
  };
}

/** What the requests of this engine begin with. */
export function systemFor(engine: Engine, system: SystemText): string {
  if (engine.kind === "text") return system.text(formOf(engine));
  return engine.needsGuide?.() ? `${system.action}\n\n${system.guide}` : system.action;
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
export function renderConversation(system: string, conversation: Conversation, form = jsonForm): ChatMessage[] {
  const chat: ChatMessage[] = [{ role: "system", text: system }];
  let task = conversation.earlierRequest;
  for (const message of conversation.messages) {
    if (message.role === "user") task = contentText(message.content);
    const entry = renderMessage(message, conversation, task, form);
    if (!entry) continue;
    const previous = chat.at(-1);
    if (previous?.role === entry.role) previous.text += `\n\n${entry.text}`;
    else chat.push(entry);
  }
  return chat;
}

function renderMessage(message: AgentMessage, conversation: Conversation, task: string, form: ActionForm): ChatMessage | undefined {
  const note = conversation.note(message);
  const noted = (text: string): string => (note === "" ? text : `${text}\n\n${note}`);
  switch (message.role) {
    case "user":
      return { role: "user", text: noted(contentText(message.content)) };
    case "assistant":
      return renderAssistant(message, conversation, form);
    case "toolResult":
      return { role: "user", text: `${noted(renderResult(message))}\n\n${reminder(task)}` };
    case "bashExecution":
      return message.excludeFromContext ? undefined : { role: "user", text: `$ ${message.command}\n${message.output}` };
    case "custom":
      return { role: "user", text: noted(contentText(message.content)) };
    case "branchSummary":
      return { role: "user", text: message.summary };
  }
}

function renderAssistant(message: AssistantMessage, conversation: Conversation, form: ActionForm): ChatMessage | undefined {
  if (message.stopReason === "error" || message.stopReason === "aborted") return undefined;
  const raw = conversation.rawText(message);
  if (raw !== undefined) return { role: "assistant", text: raw };
  const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
  const said = message.content.filter((block) => block.type === "text").map((block) => block.text);
  const text = calls.length > 0 ? actionText(calls, form) : replyText(said.join("\n"), form);
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
