// What a model's own chat template writes around a tool call, found by letting it render one. A model was trained on that.
import type { CallTags } from "../core/engine.ts";
import { runTemplate, UselessTemplate } from "./template-run.ts";

const toolName = "probe_tool";
const argumentName = "probe_argument";
const value = "probe_value";
const request = { role: "user", content: "?" };
const tools = [{ type: "function", function: { name: toolName, description: "?", parameters: { type: "object", properties: { [argumentName]: { type: "string" } }, required: [argumentName] } } }];

/** undefined where the template knows no calls, or none whose arguments are a JSON object behind the name. */
export function callTagsOf(template: string | undefined): CallTags | undefined {
  if (template === undefined || !template.includes("tool_calls")) return undefined;
  const asObject = { [argumentName]: value };
  for (const args of [asObject, JSON.stringify(asObject)]) {
    try {
      const tags = rendered(template, args);
      if (tags) return tags;
    } catch (error) {
      // Each template has its own idea of what a call is; one that met a bound would only meet it again.
      if (error instanceof UselessTemplate) return undefined;
    }
  }
  return undefined;
}

/** @throws what the template has against such a call */
function rendered(template: string, args: unknown): CallTags | undefined {
  const run = (messages: readonly unknown[], isOpen: boolean): string => runTemplate(template, { messages, tools, bos_token: "", eos_token: "", add_generation_prompt: isOpen });
  const start = run([request], true);
  const call = { id: "123456789", type: "function", function: { name: toolName, arguments: args } };
  const called = answerIn(run([request, { role: "assistant", content: "", tool_calls: [call] }], false), start);
  const said = answerIn(run([request, { role: "assistant", content: value }], false), start);
  return called === undefined || said === undefined ? undefined : tagsIn(called, said.slice(said.indexOf(value) + value.length));
}

function answerIn(chat: string, start: string): string | undefined {
  if (chat.startsWith(start)) return chat.slice(start.length);
  // Some templates open an answer with a line end that they leave out before a call.
  return chat.startsWith(start.trimEnd()) ? chat.slice(start.trimEnd().length).trimStart() : undefined;
}

/** @param end what closes any answer */
function tagsIn(answer: string, end: string): CallTags | undefined {
  const found = new RegExp(`^([^{]*(?:\\{\\s*"[^{}]*)?)${toolName}([^{]*)\\{\\s*"${argumentName}"\\s*:\\s*"${value}"\\s*\\}([\\s\\S]*)$`).exec(answer);
  const [, open = "", middle = "", rest = ""] = found ?? [];
  if (!found || !rest.endsWith(end) || open.trim().length < tagCharsMin) return undefined;
  return { open, middle, close: rest.slice(0, rest.length - end.length) };
}

/** Shorter marks could not be told from a reply. */
const tagCharsMin = 4;
