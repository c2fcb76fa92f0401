// Where templates put thinking, and where a thought that arrives in pieces ends.
import { describe, expect, test } from "bun:test";
import type { ChatMessage } from "../../../src/core/engine.ts";
import { canThink, renderChat, type RenderedChat } from "../../../src/engines/chat-template.ts";
import { ThoughtReader, thinkingRoom } from "../../../src/engines/thinking-marks.ts";

const turns = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
/** Hand-written after what the families' templates do. */
const families = {
  qwen3: `${turns}{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}`,
  "qwen3.5": `${turns}{% if add_generation_prompt %}<|im_start|>assistant\n{% if enable_thinking is defined and enable_thinking is true %}{{ '<think>\n' }}{% else %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}`,
  "deepseek-r1": "{% for m in messages %}{% if m.role == 'assistant' %}<｜Assistant｜>{{ m.content.split('</think>')[-1] }}<｜end｜>{% else %}<｜User｜>{{ m.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<｜Assistant｜><think>\n' }}{% endif %}",
  "qwen3-instruct": `{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}`,
  chatml: `${turns}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}`,
};

const chat: ChatMessage[] = [
  { role: "user", text: "Hi </think> you" },
  { role: "assistant", text: "Yes." },
  { role: "user", text: "More." },
];

function ending({ segments }: RenderedChat): string {
  return segments.at(-1)?.text ?? "";
}

const render = (template: string, thinks: boolean, messages = chat): RenderedChat => renderChat(template, messages, { bosToken: "", eosToken: "", addGenerationPrompt: true, thinks });

describe("a template's place for thinking", () => {
  const open = "<|im_start|>assistant\n<think>\n";
  const closed = "<|im_start|>assistant\n<think>\n\n</think>\n\n";
  const plain = "<|im_end|>\n<|im_start|>assistant\n";
  const cases: { family: keyof typeof families; canThink: boolean; thinking: string; silent: string }[] = [
    { family: "qwen3", canThink: true, thinking: `<|im_end|>\n${open}`, silent: `<|im_end|>\n${closed}` },
    { family: "qwen3.5", canThink: true, thinking: `<|im_end|>\n${open}`, silent: `<|im_end|>\n${closed}` },
    { family: "deepseek-r1", canThink: true, thinking: "<｜Assistant｜><think>\n", silent: "<｜Assistant｜><think>\n\n</think>\n\n" },
    { family: "qwen3-instruct", canThink: false, thinking: plain, silent: plain },
    { family: "chatml", canThink: false, thinking: plain, silent: plain },
  ];
  for (const { canThink: expected, family, silent, thinking } of cases) {
    test(family, () => {
      const template = families[family];
      expect(canThink(template)).toBe(expected);
      const thought = render(template, true);
      expect([thought.warning, ending(thought), thought.thinking]).toEqual([undefined, thinking, expected ? { open: "<think>", close: "</think>" } : undefined]);
      const quiet = render(template, false);
      expect([quiet.warning, ending(quiet), quiet.thinking]).toEqual([undefined, silent, undefined]);
    });
  }

  test("no earlier answer stands inside thinking that is open", () => {
    for (const template of Object.values(families)) {
      for (const thinks of [false, true]) {
        const parts = render(template, thinks).segments;
        const before = parts[parts.findIndex(({ role }) => role === "assistant") - 1]?.text ?? "";
        expect(before.lastIndexOf("<think>")).toBeLessThanOrEqual(Math.max(-1, before.lastIndexOf("</think>")));
      }
    }
  });

  test("without thinking, a prompt begins with all of the one before it", () => {
    for (const family of ["qwen3", "qwen3.5", "deepseek-r1"] as const) {
      const texts = [chat.slice(0, 1), chat].map((messages) => render(families[family], false, messages).segments.map(({ text }) => text).join(""));
      expect(texts[1]).toStartWith(texts[0] ?? "?");
    }
  });

  test("a model without a template, or with a broken one, does not think", () => {
    expect([undefined, "", "{% if enable_thinking %}<think>"].map(canThink)).toEqual([false, false, false]);
  });
});

describe("a thought in pieces", () => {
  const read = (text: string, size: number) => {
    const reader = new ThoughtReader({ open: "<think>", close: "</think>" });
    let thought = "";
    for (let at = 0; at < text.length; at += size) thought += reader.push(text.slice(at, at + size));
    return { thought: thought + reader.end(), done: reader.done, rest: reader.rest };
  };

  test("ends at its mark, wherever it is cut", () => {
    for (const size of [1, 2, 3, 5, 100]) {
      expect(read("a < b </thin\nk </think>\n\nYes", size)).toEqual({ thought: "a < b </thin\nk ", done: true, rest: "\n\nYes" });
      expect(read("never </thin", size)).toEqual({ thought: "never </thin", done: false, rest: "" });
    }
  });

  test("never takes more than half of what is left", () => {
    expect([thinkingRoom(1500, 10_000), thinkingRoom(1500, 101), thinkingRoom(undefined, 500), thinkingRoom(9, -3)]).toEqual([1500, 50, 0, 0]);
  });
});
