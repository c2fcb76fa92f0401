// Tool calls in plain text: every form, cut into pieces of every size; calls inside thinking; answers that only look like calls.
import { describe, expect, test } from "bun:test";
import { ToolNames } from "../../../src/engines/call-forms.ts";
import { TextCalls, type TextPiece } from "../../../src/engines/text-calls.ts";

interface Summary {
  text: string;
  thinking: string;
  calls: { name: string; arguments: Record<string, unknown> }[];
}

const tools = ["fs.list", "fs.read", "fs.trash", "reply", "finish"];

/** Plays the text in pieces of `size` characters. */
function read(text: string, size: number, names: readonly string[] = tools): Summary {
  const reader = new TextCalls(new ToolNames(names));
  const pieces: TextPiece[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(...reader.push(text.slice(at, at + size)));
  pieces.push(...reader.end(false));
  const summary: Summary = { text: "", thinking: "", calls: [] };
  let open: string | undefined;
  for (const piece of pieces) {
    if (piece.type === "text") summary.text += piece.text;
    else if (piece.type === "thinking") summary.thinking += piece.text;
    else if (piece.type === "call_start") open = piece.name;
    else if (piece.type === "call_end") summary.calls.push({ name: open ?? "none", arguments: piece.arguments });
  }
  return summary;
}

function everySize(text: string, expected: Summary): void {
  for (const size of [1, 2, 3, 7, text.length]) expect({ size, ...read(text, size) }).toEqual({ size, ...expected });
}

const listCall = { name: "fs.list", arguments: { path: "." } };

const forms = {
  "pythonic list": '[fs.list(path=".")]',
  "name and JSON": 'fs.list{"path":"."}',
  "name and JSON with a space": 'fs.list {"path": "."}',
  "python call": "fs_list(path='.')",
  "python tag": '<|python_tag|>{"name":"fs.list","parameters":{"path":"."}}',
  "Mistral list": '[TOOL_CALLS][{"name":"fs.list","arguments":{"path":"."}}]',
  "Mistral with ARGS": '[TOOL_CALLS]fs_list[ARGS]{"path": "."}',
  Harmony: '<|channel|>commentary to=functions.fs_list <|constrain|>json<|message|>{"path":"."}<|call|>',
  "Harmony, name first": '<|start|>assistant<|channel|>commentary to=functions.fs_list json<|message|>{"path":"."}',
  "Harmony without its marks": 'commentary to=functions.fs_list json{"path":"."}',
  Hermes: '<tool_call>\n{"name": "fs.list", "arguments": {"path": "."}}\n</tool_call>',
  "Hermes without its end": '<tool_call>{"name": "fs_list", "arguments": {"path": "."}}',
  "arguments as a string": '<tool_call>{"name":"fs.list","arguments":"{\\"path\\":\\".\\"}"}</tool_call>',
  "Python literals": "<tool_call>{'name': 'fs.list', 'arguments': {'path': '.',}}</tool_call>",
  "XML parameters": "<tool_call>\n<function=fs_list>\n<parameter=path>\n.\n</parameter>\n</function>\n</tool_call>",
  "function tag": '<function=fs_list>{"path": "."}</function>',
  "our form": '{"tool":"fs.list","args":{"path":"."}}',
  "our form with its goal": '{"goal":"answer","tool":"fs.list","args":{"path":"."}}',
  "our form with its goal, spaced": '{ "goal": "change",\n "tool": "fs_list", "args": {"path": "."} }',
  "our form with its goal, fenced": '```json\n{"goal":"answer","tool":"fs.list","args":{"path":"."}}\n```',
  "our form, spaced": ' {\n "tool": "fs_list",\n "args": {"path": "."}\n}',
  "OpenAI object": '{"type":"function","function":{"name":"fs_list","arguments":"{\\"path\\":\\".\\"}"}}',
  "fenced JSON": '```json\n{"name": "fs.list", "arguments": {"path": "."}}\n```',
};

describe("forms of a call", () => {
  for (const [name, text] of Object.entries(forms)) {
    test(name, () => {
      const { calls, thinking, text: said } = read(text, 3);
      expect({ calls, thinking, said: said.trim() }).toEqual({ calls: [listCall], thinking: "", said: "" });
      for (const size of [1, 2, 5, text.length]) expect(read(text, size).calls).toEqual([listCall]);
    });
  }

  test("several calls in one answer", () => {
    const both = [listCall, { name: "fs.read", arguments: { path: "a", limit: 3 } }];
    expect(read('[fs.list(path="."), fs.read(path="a", limit=3)]', 4).calls).toEqual(both);
    expect(read('{"tool":"fs.list","args":{"path":"."}}\n{"tool":"fs.read","args":{"path":"a","limit":3}}', 4).calls).toEqual(both);
    expect(read('<tool_call>{"name":"fs.list","arguments":{"path":"."}}</tool_call>\n<tool_call>{"name":"fs.read","arguments":{"path":"a","limit":3}}</tool_call>', 4).calls).toEqual(both);
  });

  test("text before a call is said, the call is not", () => {
    everySize('I look first.\n{"tool":"fs.list","args":{"path":"."}}', { text: "I look first.\n", thinking: "", calls: [listCall] });
  });

  test("a reply in our form streams before it is complete", () => {
    const reader = new TextCalls(new ToolNames(tools));
    const pieces = reader.push('{"tool":"reply","args":{"text":"Hel');
    expect(pieces).toEqual([{ type: "call_start", name: "reply" }, { type: "call_delta", delta: '{"text":"Hel' }]);
  });
});

describe("thinking", () => {
  const trash = 'maybe <tool_call>{"name":"fs.trash","arguments":{"path":"a"}}</tool_call>';

  test("a call inside thinking is not run, the one after it is", () => {
    everySize(`<think>${trash}</think>\n\n<tool_call>{"name":"fs.list","arguments":{"path":"."}}</tool_call>`, { text: "", thinking: trash, calls: [listCall] });
  });

  test("thinking with nothing after it says nothing", () => {
    everySize(`<think>${trash}</think>`, { text: "", thinking: trash, calls: [] });
  });

  test("thinking that never ends stays thinking", () => {
    everySize(`<think>${trash}`, { text: "", thinking: trash, calls: [] });
  });

  test("the analysis channel of Harmony", () => {
    everySize("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", { text: "Yes.", thinking: "hm", calls: [] });
  });
});

describe("what only looks like a call", () => {
  const answers = [
    "A plain answer with fs.list in it.",
    "[a link](http://example.org) and more",
    '{"name": "Ada", "age": 36}',
    '{"answer": 42}',
    '{"goal": "win"}',
    '{"goal": "answer", "steps": ["think", "{"]}',
    "```js\nconst x = 1;\n```\n",
    "2 < 3 and [x] are fine; <b>bold</b>",
    "Write `<tool_call>` to call a tool.",
    '```json\n{"name": "left-pad", "version": "1.0.0"}\n```',
    "[1, 2, 3]",
  ];
  for (const answer of answers) test(JSON.stringify(answer), () => everySize(answer, { text: answer, thinking: "", calls: [] }));

  test("without tools a call is text", () => {
    expect(read('{"tool":"fs.list","args":{}}', 3, [])).toEqual({ text: '{"tool":"fs.list","args":{}}', thinking: "", calls: [] });
  });
});

test("a megabyte in one piece is read in linear time", () => {
  const answer = "word <b> [x] ".repeat(80_000);
  const startedAt = performance.now();
  expect(read(answer, answer.length).text).toBe(answer);
  expect(read("\n".repeat(200_000), 200_000).calls).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(5000);
});

describe("calls that can't be read", () => {
  test("broken JSON after a marker is a call that no tool takes", () => {
    expect(read('<tool_call>{"name": "fs.list", "arguments": {"path": </tool_call>', 5)).toEqual({
      text: "",
      thinking: "",
      calls: [{ name: "tool_call", arguments: { unreadable_json: '{"name": "fs.list", "arguments": {"path": ' } }],
    });
  });

  test("arguments that are no object keep the tool's name", () => {
    expect(read('<tool_call>{"name": "fs.list", "arguments": "all of it"}</tool_call>', 5).calls).toEqual([{ name: "fs.list", arguments: { unreadable_json: '"all of it"' } }]);
  });

  test("an unknown tool keeps its written name", () => {
    expect(read('{"tool":"fs.destroy","args":{}}', 5).calls).toEqual([{ name: "fs.destroy", arguments: {} }]);
  });

  test("our form cut in its arguments", () => {
    expect(read('{"goal":"answer","tool":"fs.list","args":{"path":"', 5).calls).toEqual([{ name: "fs.list", arguments: { unreadable_json: '{"path":"' } }]);
    expect(read('{"tool":"fs.list","args":{"path":"', 5).calls).toEqual([{ name: "fs.list", arguments: { unreadable_json: '{"path":"' } }]);
  });
});
