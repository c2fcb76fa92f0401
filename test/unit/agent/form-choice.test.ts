// How the form of a model's actions is chosen: by its family, by what was found out before, else by a probe.
import { expect, test } from "bun:test";
import { actionText, replyText } from "../../../src/agent/action.ts";
import { type FormName, jsonForm, markerForm, tagsForm } from "../../../src/agent/action-form.ts";
import { formOf } from "../../../src/agent/chosen-form.ts";
import { settleForm } from "../../../src/agent/form-choice.ts";
import type { ModelTraits, TextEngine, TextRequest } from "../../../src/core/engine.ts";
import { usageOf } from "../../../src/core/message.ts";

const callTags = { open: '<call>{"name": "', middle: '", "args": ', close: "}</call>" };
const forms = [jsonForm, markerForm, tagsForm(callTags)];

/** A model that does the first so many trials of each form right, and in the others replies nonsense. */
function model(right: Partial<Record<FormName, number>>, traits: ModelTraits, apart = true) {
  const asked: FormName[] = [];
  const counts = new Map<FormName, number>();
  const requests: TextRequest[] = [];
  const engine: TextEngine = {
    kind: "text",
    info: () => ({ id: "m", name: "m", api: "in-process", provider: "llama", baseUrl: "", reasoning: false, input: ["text"], contextWindow: 4096, maxTokens: 4096 }),
    answersApart: () => apart,
    traits: () => traits,
    open: async () => {},
    async *complete(request) {
      requests.push(request);
      const system = request.chat[0]?.text ?? "";
      const form = forms[system.includes("<call>") ? 2 : system.includes("reply: ") ? 1 : 0] ?? jsonForm;
      if (asked.at(-1) !== form.name) asked.push(form.name);
      const index = counts.get(form.name) ?? 0;
      counts.set(form.name, index + 1);
      const edit = { path: "app.ini", oldText: "limit = 5", newText: "limit = 8" };
      const answers = [actionText([{ name: "fs.read", arguments: { path: "app.ini" } }], form), replyText("It is blue.", form), actionText([{ name: "fs.edit", arguments: edit }], form, "change"), replyText("Done.", form), replyText("You're welcome.", form)];
      const wrong = actionText([{ name: "fs.trash", arguments: { path: "notes.md" } }], form, "change");
      yield { type: "text", text: index < (right[form.name] ?? 0) ? (answers[index] ?? "") : wrong };
      yield { type: "ended", stop: "end", usage: usageOf({ input: 3 }) };
    },
    close: async () => {},
  };
  return { engine, asked, requests };
}

function notesOf(kept: Record<string, string> = {}): NonNullable<ModelTraits["notes"]> & { kept: Record<string, string> } {
  return { kept, read: async (name) => kept[name], write: async (name, text) => void (kept[name] = text) };
}

const settle = (engine: TextEngine, signal = new AbortController().signal): Promise<void> => settleForm(engine, signal, () => {});

test.each([
  ["the first that does all of it right, and no other is asked for", { json: 5 }, "json", ["json"]],
  ["the best", { json: 3, marker: 4, tags: 2 }, "marker", ["json", "marker", "tags"]],
  ["the tags of its own template", { json: 1, marker: 1, tags: 5 }, "tags", ["json", "marker", "tags"]],
  ["the simplest of equal ones", { json: 4, marker: 4, tags: 4 }, "json", ["json", "marker", "tags"]],
] as const)("a family that is not known writes %s", async (_name, right, form, asked) => {
  const notes = notesOf();
  const first = model(right, { chatTemplate: "T", callTags: () => callTags, notes });
  await settle(first.engine);
  expect([formOf(first.engine).name, first.asked, notes.kept]).toEqual([form, [...asked], { "action-form": form }]);
  expect(first.requests.every(({ purpose, temperature }) => purpose === "plan" && temperature === 0)).toBe(true);
  await settle(first.engine);
  const later = model(right, { chatTemplate: "T", callTags: () => callTags, notes });
  await settle(later.engine);
  expect([formOf(later.engine).name, later.asked, first.requests.length % 5]).toEqual([form, [], 0]);
});

test.each([
  ["of a family that was measured", { chatTemplate: "<|im_start|>", notes: notesOf() }, true],
  ["whose outcome can't be kept", { chatTemplate: "T" }, true],
  ["of which no template is known", { notes: notesOf() }, true],
  ["whose conversation would have to be read again", { chatTemplate: "T", notes: notesOf() }, false],
])("a model %s is not asked", async (_name, traits, apart) => {
  const { asked, engine } = model({ marker: 5 }, traits, apart);
  await settle(engine);
  expect([formOf(engine).name, asked]).toEqual(["json", []]);
});

test("a probe that is stopped decides nothing", async () => {
  const notes = notesOf();
  const { engine } = model({ marker: 5 }, { chatTemplate: "T", notes });
  engine.complete = async function* () {
    yield { type: "ended", stop: "aborted", usage: usageOf({}) };
  };
  await settle(engine);
  expect([formOf(engine).name, notes.kept]).toEqual(["json", {}]);
});
