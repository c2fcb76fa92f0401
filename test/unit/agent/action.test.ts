import { describe, expect, test } from "bun:test";
import { ActionDecoder, actionGrammar, actionText, replyText } from "../../../src/agent/action.ts";
import { jsonForm, markerForm, tagsForm } from "../../../src/agent/action-form.ts";
import type { ActionEvent } from "../../../src/core/engine.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";

/** Everything that was read, with neighbouring deltas joined. */
function read(text: string, pieceChars = text.length, form = jsonForm): { events: ActionEvent[]; complete: boolean } {
  const decoder = new ActionDecoder({ form });
  const events: ActionEvent[] = [];
  for (let at = 0; at < text.length; at += pieceChars) {
    for (const event of decoder.push(text.slice(at, at + pieceChars))) {
      const last = events.at(-1);
      if (event.type === "text_delta" && last?.type === "text_delta") last.delta += event.delta;
      else if (event.type === "call_delta" && last?.type === "call_delta") last.delta += event.delta;
      else events.push({ ...event });
    }
  }
  const end = decoder.end();
  return { events: [...events, ...end.events], complete: end.complete };
}

const reply = 'Line 1\n"quoted" \\ é 😀 \u2028 \t end';

describe("reading an action", () => {
  test("a reply comes as text, however it is cut", () => {
    const expected = {
      events: [
        { type: "text_start", index: 0, terminal: "reply" },
        { type: "text_delta", index: 0, delta: reply },
        { type: "text_end", index: 0 },
      ],
      complete: true,
    };
    for (const size of [1, 2, 3, 7, 1000]) expect(read(replyText(reply), size)).toEqual(expected as never);
  });

  test("escapes, also of a surrogate pair, decode to the same text", () => {
    const text = '{"tool":"reply","args":{"text":"\\ud83d\\ude00\\u00e9\\/\\b"}}';
    for (const size of [1, 5, 100]) expect(read(text, size).events[1]).toEqual({ type: "text_delta", index: 0, delta: "😀é/\b" });
  });

  test("no delta ends inside a surrogate pair", () => {
    const decoder = new ActionDecoder();
    const deltas = [...replyText("a😀b")].flatMap((character) => [...character].flatMap((c) => c.split("")).flatMap((unit) => decoder.push(unit)));
    for (const event of deltas) if (event.type === "text_delta") expect(event.delta.isWellFormed()).toBe(true);
  });

  test("several calls come as several calls", () => {
    const calls = [
      { name: "fs.read", arguments: { path: 'a "}{" b', limit: 3 } },
      { name: "fs.list", arguments: {} },
    ];
    for (const size of [1, 4, 1000]) {
      const { events, complete } = read(actionText(calls), size);
      expect(complete).toBe(true);
      expect(events.filter((event) => event.type === "call_end").map((event) => event.arguments)).toEqual(calls.map((call) => call.arguments));
      expect(events.filter((event) => event.type === "call_delta").map((event) => event.delta)).toEqual(calls.map((call) => JSON.stringify(call.arguments)));
    }
  });

  test("the first delta of a reply comes before the reply is over", () => {
    const decoder = new ActionDecoder();
    expect(decoder.push('{"tool":"reply","args":{"text":"He')).toEqual([
      { type: "text_start", index: 0, terminal: "reply" },
      { type: "text_delta", index: 0, delta: "He" },
    ]);
  });

  test("a cut action is not complete, and its open text is closed", () => {
    expect(read('{"tool":"reply","args":{"text":"Hel')).toEqual({
      events: [
        { type: "text_start", index: 0, terminal: "reply" },
        { type: "text_delta", index: 0, delta: "Hel" },
        { type: "text_end", index: 0 },
      ],
      complete: false,
    });
    for (const text of ["", '{"tool":"fs.r', '{"tool":"fs.read","args":{"path":"x', '{"tool":"reply","args":{']) expect(read(text, 3).complete).toBe(false);
  });

  test("what is no action is refused", () => {
    for (const text of [`Sure! ${"x".repeat(400)}`, '{"tool":"fs.read","args":[1]}', `{"tool":"reply","args":${" ".repeat(400)}`]) {
      expect(() => read(text, 9)).toThrow(SyntaxError);
    }
  });
});

const tags = tagsForm({ open: '<tool_call>\n{"name": "', middle: '", "arguments": ', close: "}\n</tool_call>" });

describe.each([markerForm, tags])("the form $name", (form) => {
  test("a reply is plain text to the end, however it is cut", () => {
    for (const text of [reply, "<", "<tool", "{}", "reply: x"]) {
      const expected = { events: [{ type: "text_start", index: 0, terminal: "reply" }, { type: "text_delta", index: 0, delta: text }, { type: "text_end", index: 0 }], complete: true };
      for (const size of [1, 2, 3, 7, 1000]) expect(read(replyText(text, form), size, form)).toEqual(expected as never);
    }
  });

  test("calls come as calls", () => {
    const calls = [{ name: "fs.read", arguments: { path: 'a "}{" b</tool_call>', limit: 3 } }, { name: "fs.list", arguments: {} }];
    for (const size of [1, 4, 1000]) {
      const { events, complete } = read(actionText(calls, form), size, form);
      expect([complete, events.filter((event) => event.type === "call_end").map((event) => event.arguments)]).toEqual([true, calls.map((call) => call.arguments)]);
    }
  });

  test("a cut call is not complete", () => {
    const whole = actionText([{ name: "fs.read", arguments: { path: "x" } }], form);
    const close = form.call("answer", "").close.length;
    for (const end of [1, 12, whole.length - close - 1]) if (form.name !== "tags" || end >= "<tool_call>".length) expect(read(whole.slice(0, end), 3, form).complete).toBe(false);
  });
});

test.each([jsonForm, markerForm, tags])("a reply that is a JSON value, in the form $name", (form) => {
  for (const value of ["12", "true", '{"a":[1]}', '"x"']) {
    const { close = "", open } = form.reply("answer", true);
    const decoder = new ActionDecoder({ form, jsonReply: true });
    const events = [...(open + value + close)].flatMap((character) => decoder.push(character));
    const end = decoder.end();
    const said = events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");
    expect([said, end.complete, [...events, ...end.events].filter(({ type }) => type === "text_end").length]).toEqual([value, true, 1]);
  }
});

test("between tags a plain reply holds no call", () => {
  const grammar = parseGbnf(actionGrammar({ form: tags, tools: [], parallelMax: 1 }));
  const taken = ["Hello <b>\nyou", "<<tool_cal>", "a <tool_call", "x\ty"].map((text) => accepts(grammar, text));
  expect([taken, ["a <tool_call>", "<<tool_call>x", " x", "", "a\0"].map((text) => accepts(grammar, text))]).toEqual([taken.map(() => true), Array.from({ length: 5 }, () => false)]);
});

test.each([jsonForm, markerForm, tags])("a reply does not end behind a colon, in the form $name", (form) => {
  const grammar = parseGbnf(actionGrammar({ form, tools: [], parallelMax: 1 }));
  const isTaken = (text: string): boolean => accepts(grammar, replyText(text, form));
  expect(["They differ: a", "At 10:30", "a:\n- b", "a::b", "x: \\y", "é:😀"].filter((text) => !isTaken(text))).toEqual([]);
  expect(["They differ:", "They differ: ", "They differ:\n\n", "a: :"].filter(isTaken)).toEqual([]);
});
