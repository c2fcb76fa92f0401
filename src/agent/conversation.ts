// What a session has said so far, as the next generation sees it, with what can't be read off the messages themselves.
import { contentText, type AgentMessage, type AssistantMessage, type CustomMessage, type UserMessage } from "../core/message.ts";
import { compactedTextOf } from "./compaction/boundary.ts";

export class Conversation {
  readonly messages: AgentMessage[];
  /** Ids of all calls that were ever made. */
  readonly callIds: Set<string>;
  #rawText = new WeakMap<AssistantMessage, string>();
  #notes = new WeakMap<AgentMessage, string>();
  /** What the user wanted before the messages that are left, when no message says it any more. */
  #earlierRequest = "";
  #boundaryEnd: number;

  constructor(messages: readonly AgentMessage[] = []) {
    this.messages = [...messages];
    this.callIds = new Set(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])));
    const [boundary] = this.messages;
    const newer = this.messages.findIndex((message) => message.timestamp > (boundary?.timestamp ?? 0));
    this.#boundaryEnd = compactedTextOf(boundary) === undefined ? 0 : newer === -1 ? this.messages.length : newer;
  }

  /** Index of the first message that is newer than the last compaction: usage before it says nothing of this context. */
  get boundaryEnd(): number {
    return this.#boundaryEnd;
  }

  /** The user's words before the first user message that is left; "" when there were none. */
  get earlierRequest(): string {
    return this.#earlierRequest;
  }

  /** The user's last words, also when the message that carried them was compacted. */
  get request(): string {
    const last = this.lastUserMessage();
    return last ? contentText(last.content) : this.#earlierRequest;
  }

  /** Puts the boundary of a compaction in the place of everything but the last `tailLength` messages. */
  compact(boundary: CustomMessage, tailLength: number): void {
    const replaced = this.messages.splice(0, this.messages.length - tailLength, boundary);
    const last = replaced.findLast((message): message is UserMessage => message.role === "user");
    if (last) this.#earlierRequest = contentText(last.content);
    this.#boundaryEnd = this.messages.length;
  }

  /** What the conversation would be after `compact`. */
  compacted(boundary: CustomMessage, tailLength: number): Conversation {
    const copy = new Conversation(this.messages);
    copy.#rawText = this.#rawText;
    copy.#notes = this.#notes;
    copy.#earlierRequest = this.#earlierRequest;
    copy.compact(boundary, tailLength);
    return copy;
  }

  /** Takes messages out that a new attempt takes the place of. @returns those that were there */
  drop(messages: readonly AgentMessage[]): AgentMessage[] {
    return messages.filter((message) => {
      const index = this.messages.lastIndexOf(message);
      if (index !== -1) this.messages.splice(index, 1);
      return index !== -1;
    });
  }

  /** @param note what the model sees beside the message */
  add(message: AgentMessage, note = ""): void {
    this.annotate(message, note);
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

  /** Adds to what the model sees of a message; only before a prompt with it was read, which must not change. */
  annotate(message: AgentMessage, note: string): void {
    if (note !== "") this.#notes.set(message, [this.note(message), note].filter((part) => part !== "").join("\n"));
  }

  note(message: AgentMessage): string {
    return this.#notes.get(message) ?? "";
  }

  /** The newest message of the user, which is what the turn is about. */
  lastUserMessage(): UserMessage | undefined {
    return this.messages.findLast((message): message is UserMessage => message.role === "user");
  }
}
