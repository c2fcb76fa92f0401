// The final answer against its schema: what counts as wrong, how often it is corrected, what the model is told.
import { expect, test } from "bun:test";
import { OutputCheck } from "../../../src/agent/output-check.ts";
import { usageOf, type AssistantMessage } from "../../../src/core/message.ts";

function answer(content: AssistantMessage["content"], stopReason: AssistantMessage["stopReason"] = "stop"): AssistantMessage {
  return { role: "assistant", content, api: "x", provider: "x", model: "x", usage: usageOf({}), stopReason, timestamp: 1 };
}

const said = (...texts: string[]): AssistantMessage => answer(texts.map((text) => ({ type: "text", text })));
const onlyOne = new Map<unknown, string[]>([[1, []]]);
const check = (): OutputCheck => new OutputCheck({ schema: {}, check: (value) => onlyOne.get(value) ?? ["the value is not 1", "really"] });

test("a right answer, also beside thinking and with white space, is no matter", () => {
  const good = [said("1"), said(" 1\n"), answer([{ type: "thinking", thinking: "hm" }, { type: "text", text: "1" }])];
  expect(good.map((message) => check().judge(message))).toEqual([undefined, undefined, undefined]);
});

test("a cut, failed or cancelled answer is not judged", () => {
  expect((["length", "error", "aborted"] as const).map((stop) => check().judge(answer([], stop)))).toEqual([undefined, undefined, undefined]);
});

test("no text, two texts, no JSON, more than one value, a wrong value: each says what is wrong", () => {
  const messages = [said(), said("1", "1"), said("one"), said("1 1"), said("2")].map((message) => check().judge(message)?.failure.message ?? "");
  const wanted = [/0 texts/, /2 texts/, /not one JSON value/, /not one JSON value/, /the value is not 1; really$/];
  expect(messages.map((message, index) => wanted[index]?.test(message))).toEqual(wanted.map(() => true));
});

test("two corrections, then it is over; each names the errors", () => {
  const one = check();
  const verdicts = [said("2"), said("3"), said("4")].map((message) => one.judge(message));
  expect(verdicts.map((verdict) => verdict?.exhausted)).toEqual([false, false, true]);
  expect(verdicts[0]?.correction(7)).toEqual({
    role: "custom",
    customType: "output_schema_error",
    content: [{ type: "text", text: expect.stringContaining("- the value is not 1\n- really\n") }],
    display: false,
    details: { errors: ["the value is not 1", "really"] },
    timestamp: 7,
  });
});
