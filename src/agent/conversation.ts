// What a session has said so far, as the next generation sees it, with what can't be read off the messages themselves.
import type { AgentMessage, AssistantMessage, UserMessage } from "../core/message.ts";

export class Conversation {
  readonly messages: AgentMessage[];
  readonly #rawText = new WeakMap<AssistantMessage, string>();
  readonly #notes = new WeakMap<AgentMessage, string>();

  constructor(messages: readonly AgentMessage[] = []) {
    this.messages = [...messages];
  }

  add(message: AgentMessage): void {
    this.messages.push(message);
  }

  /** Keeps what a text engine really wrote, so that the same bytes stand in the next prompt. */
  addGenerated(message: AssistantMessage, rawText: string): void {
    this.#rawText.set(message, rawText);
    this.messages.push(message);
  }

  rawText(message: AssistantMessage): string | undefined {
    return this.#rawText.get(message);
  }

  /** Adds to what the model sees of a message, once and for good: a prompt already read must not change. */
  annotate(message: AgentMessage, note: string): void {
    if (note !== "" && !this.#notes.has(message)) this.#notes.set(message, note);
  }

  note(message: AgentMessage): string {
    return this.#notes.get(message) ?? "";
  }

  /** The newest message of the user, which is what the turn is about. */
  lastUserMessage(): UserMessage | undefined {
    return this.messages.findLast((message): message is UserMessage => message.role === "user");
  }
}
