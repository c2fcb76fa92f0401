// The commands that nobody is asked about at any level (sidecar.md 7.2.4): they tell something and can do nothing else.
import type { Invocation, Line } from "./invocations.ts";

/** Only when every part of the line is one of them, and the line is nothing but a list or pipe of programs. */
export function isSafe(line: Line): boolean {
  return line.plain && line.problems.length === 0 && line.hidden.length === 0 && line.invocations.length > 0 && line.invocations.every(isSafeInvocation);
}

/** What each may be given; anything else could set the clock, the host's name, or read a file. */
const programs: Record<string, RegExp> = {
  date: /^(\+.*|-u|-R|-I\w*|--utc|--universal|--iso-8601(=\w+)?|--rfc-3339=\w+|--rfc-email)$/s,
  hostname: /^(-[sfdiIA]|--short|--fqdn|--long|--domain|--ip-address|--all-ip-addresses)$/,
  id: /^(-[ugGnrz]+|--(user|group|groups|name|real|zero)|[a-z_][a-z0-9_-]*)$/,
  pwd: /^-[LP]$/,
  tty: /^(-s|--silent|--quiet)$/,
  uptime: /^(-[ps]|--pretty|--since)$/,
  whoami: /^(?!)/,
  which: /^(-a|[A-Za-z0-9_.+-]+)$/,
  where: /^[A-Za-z0-9_.+-]+$/,
  echo: /^[\s\S]*$/,
};

const versioned = new Set([
  "awk", "bash", "bun", "bzip2", "cargo", "clang", "cmake", "curl", "deno", "docker", "dotnet", "gawk", "gcc", "g++", "git", "go", "gzip", "java", "javac", "jq", "kubectl", "ld", "make", "ninja", "node", "npm",
  "openssl", "perl", "php", "pip", "pip3", "pnpm", "podman", "psql", "python", "python3", "rg", "ruby", "rustc", "rustup", "sed", "sqlite3", "tar", "terraform", "tmux", "tsc", "uv", "vim", "wget", "yarn", "zsh",
]);
const shortVersions: Record<string, RegExp> = { node: /^-v$/, npm: /^-v$/, ruby: /^-v$/, php: /^-v$/, perl: /^-v$/, python: /^-V$/, python3: /^-V$/, rustc: /^-V$/, cargo: /^-V$/, curl: /^-V$/, java: /^-version$/, javac: /^-version$/, go: /^version$/, openssl: /^version$/ };

function isSafeInvocation({ program, name, args }: Invocation): boolean {
  // A path could lead anywhere.
  if (program !== name || !args.every(({ literal }) => literal)) return false;
  const words = args.flatMap(({ values }) => values);
  const [first = ""] = words;
  if (name === "command") return /^-[vV]$/.test(first) && words.slice(1).every((word) => /^[A-Za-z0-9_.+-]+$/.test(word));
  const allowed = programs[name];
  if (allowed && words.every((word) => allowed.test(word))) return true;
  return words.length === 1 && ((versioned.has(name) && first === "--version") || shortVersions[name]?.test(first) === true);
}
