// The marks between which a model writes what it thinks, read off its chat template: Qwen3 and DeepSeek-R1 `<think>`,
// Magistral `[THINK]`. Must not know how a chat is rendered.

export interface ThinkingMarks {
  open: string;
  close: string;
}

const known: readonly ThinkingMarks[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
];

/** What a template writes around thinking, be it only that of others which it removes; undefined when it knows none. */
export function thinkingMarks(template: string): ThinkingMarks | undefined {
  return known.find(({ open, close }) => template.includes(open) || template.includes(close));
}

/** Whether a template asks its caller if the model may think: then the model can. */
export function asksForThinking(template: string): boolean {
  return /\b(?:enable_thinking|thinking)\b/.test(template);
}

/** Whether the text ends inside thinking. */
export function endsThinking(text: string, { open, close }: ThinkingMarks): boolean {
  return text.lastIndexOf(open) > text.lastIndexOf(close);
}

/** Whether the text ends with thinking that is complete, as templates write it to keep a model from thinking. */
export function endsThought(text: string, { close }: ThinkingMarks): boolean {
  return text.trimEnd().endsWith(close);
}

/** What comes between thinking that was left where it is and the answer. */
export function afterThinking({ close }: ThinkingMarks): string {
  return `\n${close}\n\n`;
}

/** Takes a thought that arrives in pieces apart from the mark that ends it. */
export class ThoughtReader {
  readonly #close: string;
  #held = "";
  /** The mark came. */
  done = false;
  /** What came after the mark. */
  rest = "";

  constructor({ close }: ThinkingMarks) {
    this.#close = close;
  }

  /** @returns what is certainly thought */
  push(piece: string): string {
    if (this.done) {
      this.rest += piece;
      return "";
    }
    const text = this.#held + piece;
    const at = text.indexOf(this.#close);
    if (at === -1) {
      const kept = beginningAtEnd(text, this.#close);
      this.#held = text.slice(text.length - kept);
      return text.slice(0, text.length - kept);
    }
    this.done = true;
    this.#held = "";
    this.rest = text.slice(at + this.#close.length);
    return text.slice(0, at);
  }

  /** What was held back, since it might have become the mark. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** Tokens that the model may think where so many are left for thought and answer together: never more than half. */
export function thinkingRoom(asked: number | undefined, left: number): number {
  return Math.max(0, Math.min(asked ?? 0, Math.floor(left / 2)));
}

/** Length of the longest end of `text` that begins `mark`. */
export function beginningAtEnd(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length -= 1) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
