// The texts of --help.
import { defineCommand, renderUsage } from "citty";
import { stripAnsi } from "consola/utils";

const ending = `atomic "PROMPT" is atomic run "PROMPT"; atomic --mode json "PROMPT" is atomic json "PROMPT".
A first start needs a model: atomic models pull
`;

/** What `atomic --help` prints: every command with its description. */
export async function overview(version: string, descriptions: ReadonlyMap<string, string>, terminal: boolean): Promise<string> {
  const subCommands = Object.fromEntries([...descriptions].map(([name, description]) => [name, defineCommand({ meta: { name, description } })]));
  const usage = await renderUsage(defineCommand({ meta: { name: "atomic", version, description: "An agent that works in a folder with a local model" }, subCommands }));
  return `${terminal ? usage : stripAnsi(usage)}\n${ending}`;
}

export function promptHelp(): string {
  return `atomic run|json [FLAGS] PROMPT…   each PROMPT is one turn of the same session

  @FILE                        the file's content, in front of the first prompt
  -                            read stdin to its end as a part of the first prompt
  --                           everything after it is a prompt

  --model ID                   provider/id, a name of \`atomic models list\`, the path of a GGUF file, scripted:FILE
  --provider NAME              llama, llama-server, or an id of llm.providers
  --thinking LEVEL             off, minimal, low, medium, high, xhigh, max
  --session ID | --continue    go on with a session (id or unique prefix) | with the newest of this folder
  --no-session                 store nothing
  --tools A,B                  only these tools (* in names; "" = none)
  --exclude-tools A,B          all tools but these
  --system-prompt TEXT         replaces the system prompt (@FILE reads a file)
  --append-system-prompt TEXT  adds to it; may be repeated
  --max-steps N                steps of a prompt at most
  --approval-level 1..5        what is done without asking (2: changes inside this folder)
  --timeout SECONDS            for the whole process
  --seed N, --temperature X    sampling, 0 ≤ X ≤ 2
  --updates snapshot|delta     json: whether updates repeat the message so far
  --stdin-commands             json: steer, follow_up, abort and compact as lines of JSON on stdin
  --output-schema FILE         the final reply is JSON of this schema
  --mode text|json

Exit status: 0 done, 1 failed, 2 wrong use, 3 wrong configuration or no model, 130/143/129 stopped by a signal
`;
}
