// What is asked for with a reason that names the danger, and can't be granted for a session (sidecar.md 7.2.2).
import { removesRecursively } from "./hardline.ts";
import { downloaders, type Invocation, type Line } from "./invocations.ts";
import { isInterpreter } from "./interpreters.ts";
import { hasOption, operandsOf, textsOf } from "./targets.ts";

/** Each danger in words, such as "removes folders with everything in them". */
export function dangersOf(line: Line): string[] {
  const dangers = rules.filter(([, fits]) => line.invocations.some(fits)).map(([what]) => what);
  const downloads = line.invocations.some(({ name }) => downloaders.has(name));
  if (downloads && line.invocations.some(runsInput)) dangers.push("pipes a download into a program that runs it");
  return [...new Set([...dangers, ...line.hidden])];
}

const rules: [what: string, fits: (invocation: Invocation) => boolean][] = [
  ["removes folders with everything in them", removesRecursively],
  ["changes permissions in bulk", changesPermissions],
  ["rewrites history", rewritesHistory],
  ["puts secrets in the open", showsSecrets],
];

function changesPermissions(invocation: Invocation): boolean {
  const { name } = invocation;
  if (!/^(chmod|chown|chgrp|setfacl|chattr|icacls)$/.test(name)) return false;
  return hasOption(invocation, "R", ["recursive"]) || (name === "chmod" && operandsOf(invocation).some((text) => /^0?[0-7]?[0-7][0-7][2367]$|^([ugoa]*[oa][ugoa]*)?\+[rxXst]*w/.test(text)));
}

function rewritesHistory(invocation: Invocation): boolean {
  if (invocation.name !== "git") return false;
  const texts = textsOf(invocation);
  const has = (...words: string[]): boolean => words.every((word) => texts.includes(word));
  if (texts.some((text) => /^(rebase|filter-branch|filter-repo|fast-import|replace)$/.test(text))) return true;
  if (has("push")) return hasOption(invocation, "f", ["force", "force-with-lease", "mirror", "delete", "prune"]) || operandsOf(invocation).some((text) => /^[+:]./.test(text));
  if (has("commit")) return texts.includes("--amend");
  if (has("reset")) return texts.some((text) => /^--(hard|merge|keep)$/.test(text));
  return has("reflog", "expire") || has("reflog", "delete") || has("update-ref", "-d") || (has("gc") && texts.some((text) => text.startsWith("--prune"))) || has("branch", "-D") || has("tag", "-d");
}

/** Keys of well-known services, private keys, passwords beside their option or in an address. */
const secret = /\b(AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9_-]{20,}|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bAIza[0-9A-Za-z_-]{30,}|\bnpm_[A-Za-z0-9]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY|\bBearer\s+[A-Za-z0-9._~+/-]{16,}|:\/\/[^/\s:@]+:[^/\s:@]{3,}@|(^|[-_\s])(password|passwd|secret|api[-_]?key|access[-_]?token|auth[-_]?token)[=:]\s*[^\s$]{4,}/i;
const secretFile = /(^|\/)(\.env(\.[\w-]+)?|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|\.aws\/credentials|\.docker\/config\.json|\.kube\/config|\.gnupg\/.*|shadow|gshadow)$/;
const readers = /^(cat|tac|head|tail|less|more|bat|nl|od|xxd|hexdump|strings|base64|grep|egrep|rg|awk|sed|cut|sort|cp|scp|rsync|curl|tar|zip|mail|source|\.)$/;

function showsSecrets(invocation: Invocation): boolean {
  const texts = textsOf(invocation);
  if ([...texts, texts.join(" ")].some((text) => secret.test(text))) return true;
  const inputs = invocation.redirections.filter(({ operator }) => operator === "<").flatMap(({ target }) => target.values);
  return [...(readers.test(invocation.name) ? texts : []), ...inputs].some((text) => secretFile.test(text.replace(/^@/, "")) && !/\.(example|sample|template)$/.test(text));
}

/** An interpreter that takes its program from a pipe. */
function runsInput(invocation: Invocation): boolean {
  return invocation.piped && isInterpreter(invocation.name) && operandsOf(invocation).filter((text) => text !== "-").length === 0;
}
