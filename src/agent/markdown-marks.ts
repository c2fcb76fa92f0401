// A heading that a request asks for in a Markdown document, and that the model would write without its mark.
import type { ToolCall } from "../core/message.ts";
import { plainTitle } from "../core/plain-title.ts";

/** Why the document must not be written, and how it is right; undefined when it may. */
export function lackingMark({ arguments: { content, path } }: ToolCall, request: string): string | undefined {
  if (typeof path !== "string" || typeof content !== "string" || !/\.(?:md|markdown)$/i.test(path) || !/\b(?:heading|headline|title)\b/i.test(request)) return undefined;
  const title = plainTitle(content);
  return title === undefined ? undefined : `nothing was written: "${title}" is plain text in Markdown. As a heading it is written # ${title}`;
}
