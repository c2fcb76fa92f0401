// Turns a chat into a model's prompt by the Jinja template that came with the model. Message texts pass through the
// template as markers, so that text and template stay apart: only the template's parts may become special tokens.
// Must never fail or hang, whatever the template is: what can't be used is replaced by ChatML with one warning.
import type { ChatMessage } from "../core/engine.ts";
import { messageOf } from "../core/error.ts";
import { runTemplate, UselessTemplate } from "./template-run.ts";
import { afterThinking, asksForThinking, endsThinking, endsThought, thinkingMarks, type ThinkingMarks } from "./thinking-marks.ts";

export interface Segment {
  text: string;
  /** A message's text, to be read without special tokens; otherwise a part of the template. */
  literal: boolean;
  /** Of the message whose text it is. */
  role?: ChatMessage["role"];
}

export interface RenderedChat {
  /** Neighbours that are both parts of the template are joined. */
  segments: Segment[];
  /** The prompt ends inside thinking, as it was asked for; the answer comes after the closing mark. */
  thinking?: ThinkingMarks;
  /** One line: why the model's template is not used. */
  warning?: string;
}

export interface RenderOptions {
  bosToken: string;
  eosToken: string;
  /** End with what opens the assistant's answer. */
  addGenerationPrompt: boolean;
  /** Let the model think first, where its template has a place for that. */
  thinks?: boolean;
}

/** A message as a template sees it: the markers of one or more texts. */
interface Marked {
  role: ChatMessage["role"];
  content: string;
}

/** Stands for the user's words in front of an answer that begins a chat. */
const unsaid = "…";
/** Fewer characters of an opening are found at the end of a template's part by chance. */
const openingCharsMin = 4;
const markerPattern = /\uE0A1(\d+)\uE0A2/;
const markerOf = (index: number): string => `\uE0A1${index}\uE0A2`;

export function renderChat(template: string | undefined, chat: readonly ChatMessage[], options: RenderOptions): RenderedChat {
  if (template === undefined || template.trim() === "") return fallback(chat, options, "the model has no chat template");
  let reason = "";
  for (const variant of variantsOf(chat)) {
    try {
      return renderVariant(template, variant, chat, options);
    } catch (error) {
      // The first variant is the chat as it is; its complaint says most.
      reason ||= messageOf(error);
      if (error instanceof UselessTemplate) break;
    }
  }
  return fallback(chat, options, `the model's chat template can't be used (${reason})`);
}

/** Whether a model with this template thinks when it may. */
export function canThink(template: string | undefined): boolean {
  const options = { bosToken: "", eosToken: "", addGenerationPrompt: true, thinks: true };
  return renderChat(template, [{ role: "user", text: "?" }], options).thinking !== undefined;
}

/** The chat as it is, then rearranged for templates that demand alternation or refuse a system role. */
function variantsOf(chat: readonly ChatMessage[]): Marked[][] {
  const asIs = chat.map(({ role }, index) => ({ role, content: markerOf(index) }));
  const variants = [asIs, alternating(asIs), alternating(withoutSystem(asIs))];
  const seen = new Set<string>();
  return variants.filter((variant) => !seen.has(JSON.stringify(variant)) && seen.add(JSON.stringify(variant)));
}

/** Neighbours of one role become one message; the first after the system message is the user's. */
function alternating(messages: readonly Marked[]): Marked[] {
  const merged: Marked[] = [];
  for (const message of messages) {
    const opensChat = merged.every(({ role }) => role === "system");
    if (opensChat && message.role === "assistant") merged.push({ role: "user", content: unsaid });
    const previous = merged.at(-1);
    if (previous?.role === message.role) previous.content += `\n\n${message.content}`;
    else merged.push({ ...message });
  }
  return merged;
}

/** System texts go in front of the next user message. */
function withoutSystem(messages: readonly Marked[]): Marked[] {
  return messages.map(({ role, content }) => ({ role: role === "system" ? "user" : role, content }));
}

function renderVariant(template: string, messages: readonly Marked[], chat: readonly ChatMessage[], options: RenderOptions): RenderedChat {
  const thinks = options.thinks === true;
  const variables = {
    messages: messages.map(({ role, content }) => ({ role, content })),
    bos_token: options.bosToken,
    eos_token: options.eosToken,
    // Some templates know the one name, some the other.
    enable_thinking: thinks,
    ...(thinks ? { thinking: true } : {}),
  };
  const rendered = runTemplate(template, { ...variables, add_generation_prompt: options.addGenerationPrompt });
  const marks = options.addGenerationPrompt ? thinkingMarks(template) : undefined;
  const { text, isThinking } = marks ? withThinking(rendered, marks, thinks, asksForThinking(template)) : { text: rendered, isThinking: false };
  const segments = split(text, chat);
  const found = new Set(segments.flatMap((segment) => (segment.index === undefined ? [] : [segment.index])));
  const lost = chat.findIndex((_, index) => !found.has(index));
  if (lost >= 0) throw new Error(`it leaves out message ${lost + 1}, of role ${chat[lost]?.role}`);
  if (options.addGenerationPrompt && chat.some(({ role }) => role === "assistant")) {
    const closed = runTemplate(template, { ...variables, add_generation_prompt: false });
    // No answer is shown later with its thinking.
    if (!isThinking && text.startsWith(closed)) openAsGenerated(segments, text.slice(closed.length));
  }
  return { segments: segments.filter(({ text: piece }) => piece !== "").map(({ index: _, ...segment }) => segment), ...(isThinking && marks ? { thinking: marks } : {}) };
}

/** The prompt with its thinking open as it is wanted, or closed as it is not, whatever the template did on its own. */
function withThinking(prompt: string, marks: ThinkingMarks, wanted: boolean, isChoice: boolean): { text: string; isThinking: boolean } {
  const end = prompt.split(markerPattern).at(-1) ?? "";
  const isOpen = endsThinking(end, marks);
  if (!wanted) return { text: isOpen ? prompt + afterThinking(marks) : prompt, isThinking: false };
  // A template that keeps its model from thinking, or one that only takes the thoughts of other models out.
  if (endsThought(end, marks) || (!isOpen && !isChoice)) return { text: prompt, isThinking: false };
  return { text: isOpen ? prompt : `${prompt}${marks.open}\n`, isThinking: true };
}

function split(text: string, chat: readonly ChatMessage[]): (Segment & { index?: number })[] {
  return text.split(markerPattern).map((piece, position) => {
    if (position % 2 === 0) return { text: piece, literal: false };
    const message = chat[Number(piece)];
    if (message === undefined) throw new Error("it changes the messages' texts");
    return { text: message.text, literal: true, role: message.role, index: Number(piece) };
  });
}

/**
 * Some templates open an answer with more than they show of it later, such as empty thinking. Earlier answers get the
 * opening under which they were made, so that their state can be used again.
 */
function openAsGenerated(segments: Segment[], opening: string): void {
  for (const [position, segment] of segments.entries()) {
    const before = segments[position - 1];
    if (segment.role !== "assistant" || before === undefined || before.literal) continue;
    for (let length = Math.min(opening.length, before.text.length); length >= openingCharsMin; length--) {
      if (!before.text.endsWith(opening.slice(0, length))) continue;
      before.text += opening.slice(length);
      break;
    }
  }
}

function fallback(chat: readonly ChatMessage[], options: RenderOptions, reason: string): RenderedChat {
  const segments: Segment[] = [];
  let template = options.bosToken;
  for (const { role, text } of chat) {
    segments.push({ text: `${template}<|im_start|>${role}\n`, literal: false });
    if (text !== "") segments.push({ text, literal: true, role });
    template = "<|im_end|>\n";
  }
  if (options.addGenerationPrompt) template += "<|im_start|>assistant\n";
  segments.push({ text: template, literal: false });
  return { segments, warning: `${reason}; a plain one is used instead` };
}
