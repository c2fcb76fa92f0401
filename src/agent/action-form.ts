// The forms in which a text engine writes an action: what stands around a call's arguments and around a reply. Which one a
// model does best with depends on what it was trained on; the grammar, the reader and the prompt are made from it.
import type { CallTags } from "../core/engine.ts";

export type Goal = "answer" | "change";
export const goals: readonly Goal[] = ["answer", "change"];

export type FormName = "json" | "marker" | "tags";

export interface ActionForm {
  name: FormName;
  /** Whether each action begins with its goal: under the goal of an answer nothing is offered that changes something. */
  hasGoal: boolean;
  /** What opens and closes a call; between them stands the JSON object of its arguments. */
  call(goal: Goal, tool: string): { open: string; close: string };
  /**
   * What opens and closes a reply, or one that is a JSON value. Without a close it goes on to the end, and a text is plain; else
   * a text is inside a JSON string, whose quotes belong to the two.
   */
  reply(goal: Goal, isJson: boolean): { open: string; close?: string };
  /** What a plain reply must not hold: there a call would begin. */
  stop?: string;
  /** How a call is read, up to its arguments; the first group is the tool. */
  callHead: RegExp;
  /** How a reply is read, up to its text, and up to its JSON value; absent where it is whatever is no call. */
  replyHead?: { text: RegExp; json: RegExp };
}

const jsonName = (name: string): string => `^\\s*\\{\\s*(?:"goal"\\s*:\\s*"[a-z]*"\\s*,\\s*)?"tool"\\s*:\\s*"${name}"\\s*,\\s*"args"\\s*:\\s*`;

/** One JSON object a line for everything. */
export const jsonForm: ActionForm = {
  name: "json",
  hasGoal: true,
  call: (goal, tool) => ({ open: `${jsonHead(goal)}${JSON.stringify(tool)},"args":`, close: "}" }),
  reply: (goal, isJson) => ({ open: `${jsonHead(goal)}"reply","args":${isJson ? "" : '{"text":"'}`, close: isJson ? "}" : '"}}' }),
  callHead: new RegExp(jsonName('([^"\\\\]*)')),
  replyHead: { text: new RegExp(`${jsonName("reply")}\\{\\s*"text"\\s*:\\s*"`), json: new RegExp(jsonName("reply")) },
};

/** Calls as JSON, the reply as plain text behind a marker: nothing in it has to be escaped. */
export const markerForm: ActionForm = {
  ...jsonForm,
  name: "marker",
  reply: () => ({ open: "reply: " }),
  replyHead: { text: /^\s*reply: /, json: /^\s*reply: / },
};

function jsonHead(goal: Goal): string {
  return `{"goal":"${goal}","tool":`;
}

/** Calls between the tags of the model's own template, the reply as plain text. */
export function tagsForm({ close, middle, open }: CallTags): ActionForm {
  return {
    name: "tags",
    hasGoal: false,
    call: (_goal, tool) => ({ open: open + tool + middle, close }),
    reply: () => ({ open: "" }),
    stop: /^[^\s{]+/.exec(open.trimStart())?.[0] ?? open.trim(),
    callHead: new RegExp(`^\\s*${RegExp.escape(open.trim())}\\s*([\\w.-]+)${RegExp.escape(middle.trim())}\\s*`),
  };
}
