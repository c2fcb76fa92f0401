// Calls of `reply` and `finish` that an action engine makes like any other are shown as text (json-mode.md 3.2).
import type { ActionEvent } from "../core/engine.ts";
import { JsonStringReader } from "./json-reader.ts";

interface OpenCall {
  key: "text" | "summary";
  head: string;
  reader?: JsonStringReader;
  done: boolean;
}

const keys: Record<string, "text" | "summary"> = { reply: "text", finish: "summary" };

/** Turns the events of terminal calls into text events as they come; everything else passes. */
export class TerminalCalls {
  readonly #open = new Map<number, OpenCall>();

  pass(event: ActionEvent): ActionEvent[] {
    if (event.type === "call_start") {
      const key = keys[event.name];
      if (!key) return [event];
      this.#open.set(event.index, { key, head: "", done: false });
      return [{ type: "text_start", index: event.index, terminal: event.name === "reply" ? "reply" : "finish" }];
    }
    if (event.type !== "call_delta" && event.type !== "call_end") return [event];
    const call = this.#open.get(event.index);
    if (!call) return [event];
    if (event.type === "call_end") {
      this.#open.delete(event.index);
      return this.#end(call, event.index, event.arguments);
    }
    return this.#read(call, event.index, event.delta);
  }

  #read(call: OpenCall, index: number, piece: string): ActionEvent[] {
    if (call.done) return [];
    let text = piece;
    if (!call.reader) {
      call.head += piece;
      const match = new RegExp(`^\\s*\\{\\s*"${call.key}"\\s*:\\s*"`).exec(call.head);
      if (!match) return [];
      call.reader = new JsonStringReader();
      text = call.head.slice(match[0].length);
    }
    const { delta, done } = call.reader.push(text);
    call.done = done;
    return delta === "" ? [] : [{ type: "text_delta", index, delta }];
  }

  /** Arguments in another order, or a number or boolean as text, show only now. */
  #end(call: OpenCall, index: number, args: Record<string, unknown>): ActionEvent[] {
    const value = args[call.key];
    const text = typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
    const late: ActionEvent[] = call.reader || text === "" ? [] : [{ type: "text_delta", index, delta: text }];
    const attachments = call.key === "text" ? (args["attachments"] ?? undefined) : undefined;
    return [...late, { type: "text_end", index, ...(attachments === undefined ? {} : { attachments }) }];
  }
}
