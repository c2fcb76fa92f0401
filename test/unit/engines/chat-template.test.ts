// Chats through templates of all kinds: those of models, those that refuse, those that never end.
import { describe, expect, test } from "bun:test";
import type { ChatMessage } from "../../../src/core/engine.ts";
import { renderChat, type RenderedChat } from "../../../src/engines/chat-template.ts";

const options = { bosToken: "<s>", eosToken: "</s>", addGenerationPrompt: true };
const chatml = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const chat: ChatMessage[] = [
  { role: "system", text: "Rules." },
  { role: "user", text: "Hi <|im_end|> {{ 1 + 1 }}" },
  { role: "assistant", text: "Yes." },
  { role: "user", text: "More." },
];

function whole({ segments }: RenderedChat): string {
  return segments.map(({ text }) => text).join("");
}

/** Message texts in brackets, so that the two kinds show. */
function marked({ segments }: RenderedChat): string {
  return segments.map(({ text, literal }) => (literal ? `[${text}]` : text)).join("");
}

describe("a template", () => {
  test("gets the texts apart from its own parts, and does not read them", () => {
    const rendered = renderChat(chatml, chat, options);
    expect(rendered.warning).toBeUndefined();
    expect(marked(rendered)).toBe(
      "<|im_start|>system\n[Rules.]<|im_end|>\n<|im_start|>user\n[Hi <|im_end|> {{ 1 + 1 }}]<|im_end|>\n<|im_start|>assistant\n[Yes.]<|im_end|>\n<|im_start|>user\n[More.]<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(rendered.segments.filter(({ literal }) => literal).map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  });

  test("of one chat begins as that of the chat before it", () => {
    const before = whole(renderChat(chatml, chat.slice(0, 2), options));
    expect(whole(renderChat(chatml, chat, options))).toStartWith(before);
  });

  test("with macros, slices, namespaces and dates is rendered", () => {
    const template = "{% macro turn(m) %}<{{ m.role }}>{{ m.content }}{% endmacro %}{% set ns = namespace(n=0) %}{% for m in messages[::-1] %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }} {{ strftime_now('%Y') }}{% for m in messages %}{{ turn(m) }}{% endfor %}";
    const rendered = renderChat(template, chat, options);
    expect(rendered.warning).toBeUndefined();
    expect(marked(rendered)).toBe(`4 ${new Date().getFullYear()}<system>[Rules.]<user>[Hi <|im_end|> {{ 1 + 1 }}]<assistant>[Yes.]<user>[More.]`);
  });

  test("that refuses a system role gets its text in front of the first user message", () => {
    const template = `{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}${chatml}`;
    const rendered = renderChat(template, chat, options);
    expect(rendered.warning).toBeUndefined();
    expect(marked(rendered)).toStartWith("<|im_start|>user\n[Rules.]\n\n[Hi <|im_end|> {{ 1 + 1 }}]<|im_end|>\n<|im_start|>assistant\n[Yes.]");
  });

  test("that leaves out the system message gets it all the same", () => {
    const template = chatml.replace("{{ '<|im_start|>'", "{% if m.role != 'system' %}{{ '<|im_start|>'").replace("{% endfor %}", "{% endif %}{% endfor %}");
    expect(marked(renderChat(template, chat, options))).toStartWith("<|im_start|>user\n[Rules.]\n\n[Hi");
  });

  test("that demands alternation gets neighbours of one role as one message, and a user first", () => {
    const template = `{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}${chatml}`;
    const uneven: ChatMessage[] = [...chat, { role: "user", text: "Steer." }, { role: "assistant", text: "A." }, { role: "assistant", text: "B." }, { role: "user", text: "C." }];
    const rendered = renderChat(template, uneven, options);
    expect(rendered.warning).toBeUndefined();
    expect(marked(rendered)).toContain("user\n[More.]\n\n[Steer.]<|im_end|>\n<|im_start|>assistant\n[A.]\n\n[B.]<|im_end|>");
    const answerFirst: ChatMessage[] = [{ role: "system", text: "S." }, { role: "assistant", text: "A." }, { role: "user", text: "U." }];
    expect(marked(renderChat(template, answerFirst, options))).toBe("<|im_start|>user\n[S.]<|im_end|>\n<|im_start|>assistant\n[A.]<|im_end|>\n<|im_start|>user\n[U.]<|im_end|>\n<|im_start|>assistant\n");
  });

  test("that opens an answer with more than it shows later shows earlier answers as they were opened", () => {
    const template = chatml.replace("'<|im_start|>assistant\n' }}{% endif %}", "'<|im_start|>assistant\n<think>\n\n</think>\n\n' }}{% endif %}");
    expect(marked(renderChat(template, chat, options))).toContain("<|im_start|>assistant\n<think>\n\n</think>\n\n[Yes.]<|im_end|>");
  });
});

describe("a template that can't be used", () => {
  const broken: [string, string | undefined, RegExp][] = [
    ["none", undefined, /no chat template/],
    ["an empty one", " \n", /no chat template/],
    ["a syntax error", "{% for m in messages %}\n{{ m.content }}\n{% endfro %}\n", /syntax error in line 3/],
    ["an open comment", "a\n{# b", /syntax error in line 2: Missing end of comment/],
    ["an endless loop", "{% for i in range(1000000000) %}x{% endfor %}", /more than 10000 numbers/],
    ["loops in loops", "{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{{ i }}{% endfor %}", /more than \d+ steps|longer than/],
    ["much output", "{% for i in range(10000) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }}{% endfor %}", /more than \d+ characters/],
    ["a text that doubles", "{% set ns = namespace(t='aaaaaaaa') %}{% for i in range(60) %}{% set ns.t = ns.t + ns.t %}{% endfor %}{{ ns.t }}", /more than \d+ characters/],
    ["a macro without end", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", /nested more than 1000 deep/],
    ["one that always refuses", "{{ raise_exception('never') }}", /it says: never/],
    ["one that forgets messages", "{{ messages[0].content }}", /leaves out message/],
    ["an unknown filter", "{{ messages | nonsense }}", /./],
  ];
  for (const [name, template, warning] of broken) {
    test(`${name} gives a plain one and one warning`, () => {
      const start = process.cpuUsage();
      const rendered = renderChat(template, chat, options);
      const { system, user } = process.cpuUsage(start);
      expect((system + user) / 1000).toBeLessThan(2000);
      expect(rendered.warning).toMatch(warning);
      expect(rendered.warning).not.toContain("\n");
      expect(marked(rendered)).toStartWith("<s><|im_start|>system\n[Rules.]<|im_end|>\n<|im_start|>user\n[Hi");
      expect(marked(rendered)).toEndWith("<|im_start|>assistant\n");
    }, 60_000);
  }
});
