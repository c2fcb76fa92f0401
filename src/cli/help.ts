// The texts of --help.

export function overview(): string {
  return `atomic: an agent that works in a folder with a local model

  atomic "PROMPT"             does what the prompt asks and prints the reply (same as atomic run)
  atomic run  [FLAGS] PROMPT… text for people; what is done shows on stderr
  atomic json [FLAGS] PROMPT… every event as a line of JSON (same as atomic --mode json)
  atomic sidecar              requests and events as lines of JSON on stdin and stdout, for desktop hosts
  atomic models               list | pull | path | verify | rm | add: the weights on this machine
  atomic sessions             list | show | name | export | import | rm: past conversations
  atomic skills               list | install | uninstall | trust: instructions for kinds of jobs
  atomic config               list | get | set | unset: the configuration
  atomic schema [PART]        JSON Schema of the wires and the configuration (json, sidecar, config)
  atomic doctor               what this machine offers and whether everything works
  atomic licenses             licences of everything inside this executable
  atomic --version

A first start needs a model:  atomic models pull
Flags of run and json:        atomic run --help
`;
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
