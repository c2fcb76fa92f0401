// Programs that run another program or code that their arguments hold, and how to find it there.
import type { Argument } from "./scope.ts";

/** What such a program starts: the words of a command, or code for a shell. */
export interface Started {
  command?: Argument[];
  code?: Argument[];
  /** A shell that takes its code from standard input. */
  fromInput?: boolean;
  /** A file with code. */
  file?: Argument;
  /** `$0`, `$1` and so on of the code. */
  parameters?: Argument[];
}

export const shells = new Set(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "yash", "pwsh"]);

/** Letters of one-dash options and names of two-dash options that take the next word; words before the command itself. */
interface Wrapper {
  takes?: string;
  long?: string[];
  before?: number;
  assignments?: boolean;
}

const wrappers: Record<string, Wrapper> = {
  sudo: { takes: "ugpCDrtTRUh", long: ["user", "group", "prompt", "chdir", "host", "role", "type", "chroot"], assignments: true },
  doas: { takes: "uC" },
  env: { takes: "uC", long: ["unset", "chdir"], assignments: true },
  nohup: {},
  setsid: {},
  exec: { takes: "a" },
  command: {},
  builtin: {},
  coproc: {},
  nice: { takes: "n", long: ["adjustment"] },
  ionice: { takes: "cn", long: ["class", "classdata"] },
  time: { takes: "fo", long: ["format", "output"] },
  timeout: { takes: "ks", long: ["signal", "kill-after"], before: 1 },
  gtimeout: { takes: "ks", before: 1 },
  stdbuf: { takes: "ioe", long: ["input", "output", "error"] },
  unbuffer: {},
  xargs: { takes: "InPLdsaE", long: ["replace", "max-args", "max-procs", "max-lines", "delimiter", "arg-file"] },
  strace: { takes: "eopsP" },
  ltrace: { takes: "eop" },
  caffeinate: { takes: "tw" },
  chroot: { takes: "", long: ["userspec", "groups"], before: 1 },
  unshare: { takes: "SGR" },
  nsenter: { takes: "tSG" },
  flock: { takes: "wE", before: 1 },
  taskset: { before: 1 },
  chrt: { takes: "TPD", before: 1 },
  setpriv: {},
  prlimit: {},
  firejail: {},
  busybox: {},
  toybox: {},
  "systemd-run": { takes: "pEu", long: ["property", "setenv", "unit"] },
  "dbus-run-session": {},
  npx: { takes: "pc", long: ["package"] },
  bunx: {},
  uvx: { long: ["from", "with"] },
  parallel: { takes: "j" },
  rlwrap: {},
};

/** @returns undefined when the program starts nothing that its arguments hold. */
export function startedBy(name: string, args: readonly Argument[]): Started[] | undefined {
  const first = args[0]?.values[0];
  if (shells.has(name)) return [shellCode(args)];
  if (name === "eval") return [{ code: [...args] }];
  if (name === "trap" || name === "alias") return args.slice(0, name === "trap" ? 1 : undefined).map((each) => ({ code: [name === "alias" ? withoutName(each) : each] }));
  if (name === "." || name === "source") return args[0] ? [{ file: args[0] }] : undefined;
  if (name === "su" || name === "script" || name === "runuser") return codeOption(args, "c", "command");
  if (name === "watch") return [{ code: afterOptions(args, { takes: "n", long: ["interval"] }) }];
  if (name === "ssh") return [{ code: afterOptions(args, { takes: "BbcDEeFIiJLlmOopQRSWw", before: 1 }) }];
  if (name === "find" || name === "fd") return found(args);
  if (name === "command" && /^-[vV]/.test(first ?? "")) return undefined;
  const wrapper = wrappers[name];
  if (!wrapper) return undefined;
  const split = name === "env" ? codeOption(args, "S", "split-string") : undefined;
  const command = afterOptions(args, wrapper);
  return [...(split ?? []), ...(command.length > 0 ? [{ command }] : [])];
}

function withoutName(argument: Argument): Argument {
  return { ...argument, values: argument.values.map((value) => value.replace(/^[^=]*=/, "")) };
}

function afterOptions(args: readonly Argument[], { takes = "", long = [], before = 0, assignments = false }: Wrapper): Argument[] {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at]?.values[0] ?? args[at]?.shape ?? "";
    if (word === "--") {
      at++;
      break;
    }
    if (assignments && /^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) continue;
    if (!word.startsWith("-") || word === "-") break;
    if (word.startsWith("--") ? long.includes(word.slice(2)) : takes.includes(word.at(-1) ?? " ") && !/^-[a-zA-Z]\d/.test(word)) at++;
  }
  return args.slice(at + before);
}

function shellCode(args: readonly Argument[]): Started {
  for (let at = 0; at < args.length; at++) {
    const word = args[at]?.values[0] ?? args[at]?.shape ?? "";
    if (/^[-+][a-zA-Z]*c/.test(word) && !word.startsWith("--")) {
      const rest = args.slice(at + 1).filter((each, index, all) => !(/^[-+]/.test(each.values[0] ?? "") && all.slice(0, index).every((earlier) => /^[-+]/.test(earlier.values[0] ?? ""))));
      const [code, ...parameters] = rest;
      return code ? { code: [code], parameters } : { fromInput: true };
    }
    if (/^[-+]o$|^--(rcfile|init-file)$/.test(word)) at++;
    else if (word === "-" || /^-[a-z]*s[a-z]*$/.test(word)) return { fromInput: true };
    else if (!/^[-+]/.test(word)) return ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].includes(word) ? { fromInput: true } : { file: args[at] ?? unknownArgument };
  }
  return { fromInput: true };
}

const unknownArgument: Argument = { values: [], shape: "", literal: false, pattern: false };

function codeOption(args: readonly Argument[], letter: string, name: string): Started[] {
  return args.flatMap((argument, at) => {
    const word = argument.values[0] ?? "";
    const next = args[at + 1];
    if (word.startsWith(`--${name}=`)) return [{ code: [{ ...argument, values: [word.slice(name.length + 3)] }] }];
    if (new RegExp(`^-[a-zA-Z]*${letter}$`).test(word) || word === `--${name}`) return next ? [{ code: [next] }] : [];
    return word.startsWith(`-${letter}`) ? [{ code: [{ ...argument, values: [word.slice(2)] }] }] : [];
  });
}

/** The commands of `find … -exec COMMAND ;`. */
function found(args: readonly Argument[]): Started[] {
  return args.flatMap((argument, at) => {
    if (!/^(-(exec|execdir|ok|okdir)|-x|-X|--exec|--exec-batch)$/.test(argument.values[0] ?? "")) return [];
    const end = args.findIndex((each, index) => index > at && /^[;+]$/.test(each.values[0] ?? ""));
    return [{ command: args.slice(at + 1, end < 0 ? undefined : end) }];
  });
}
