// What a server has shown that it takes. Everything is tried once in its best form; a refusal that names what it does
// not like takes that one thing away for the rest of the session.

/** How calls are asked for: the server's own tool calls, a JSON Schema for the whole answer, or words in the prompt. */
export type CallForm = "native" | "schema" | "text";

export interface Dialect {
  calls: CallForm;
  responseFormat: boolean;
  systemRole: boolean;
  streamOptions: boolean;
  temperature: boolean;
  seed: boolean;
  maxTokensKey: "max_tokens" | "max_completion_tokens";
}

export function firstDialect(supportsTools: boolean | undefined): Dialect {
  return { calls: supportsTools === false ? "schema" : "native", responseFormat: true, systemRole: true, streamOptions: true, temperature: true, seed: true, maxTokensKey: "max_tokens" };
}

const noToolRole = /roles? must alternate|only user and assistant roles|(?:unsupported|unknown|unexpected|invalid).{0,20}\brole\b|\brole\b.{0,20}\btool\b/i;

interface Lesson {
  says: RegExp;
  applies: (dialect: Dialect) => boolean;
  change: Partial<Dialect>;
}

const noTools = /(?:not|n't|no|without) (?:\w+ ){0,3}(?:tools?\b|tool (?:use|call|choice)|function call)|enable-auto-tool-choice|tool-call-parser|requires? --jinja|tools? param requires|unsupported.{0,20}tools|unknown.{0,20}\btools\b|tool_choice/i;

const lessons: readonly Lesson[] = [
  { says: /max_completion_tokens/i, applies: (dialect) => dialect.maxTokensKey === "max_tokens", change: { maxTokensKey: "max_completion_tokens" } },
  { says: /stream_options|include_usage/i, applies: (dialect) => dialect.streamOptions, change: { streamOptions: false } },
  { says: /temperature/i, applies: (dialect) => dialect.temperature, change: { temperature: false } },
  { says: /\bseed\b/i, applies: (dialect) => dialect.seed, change: { seed: false } },
  { says: /system (?:role|message|prompt)s?(?: is| are)? (?:not|un)|(?:not|n't) support.{0,20}system|only user and assistant roles|unsupported role|roles? must alternate/i, applies: (dialect) => dialect.systemRole, change: { systemRole: false } },
  // The roles of calls and results are what is left to be refused.
  { says: noToolRole, applies: (dialect) => dialect.calls === "native", change: { calls: "schema" } },
  { says: noTools, applies: (dialect) => dialect.calls === "native", change: { calls: "schema" } },
  { says: /response_format|json_schema|structured output|guided|grammar/i, applies: (dialect) => dialect.responseFormat && dialect.calls === "schema", change: { calls: "text", responseFormat: false } },
  { says: /response_format|json_schema|structured output|guided|grammar/i, applies: (dialect) => dialect.responseFormat, change: { responseFormat: false } },
];

/** The dialect without what the refusal names; undefined when it names nothing that could be left out. */
export function learn(dialect: Dialect, refusal: string): Dialect | undefined {
  const lesson = lessons.find(({ applies, says }) => applies(dialect) && says.test(refusal));
  return lesson ? { ...dialect, ...lesson.change } : undefined;
}
