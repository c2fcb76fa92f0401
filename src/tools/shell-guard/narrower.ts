// The categories of commands that are narrower than `shell` (sidecar.md 7.1), by what a program is there for.
import type { ApprovalCategory } from "../../core/approval.ts";
import type { Invocation } from "./invocations.ts";
import { filesStarted } from "./interpreters.ts";
import { hasOption, operandsOf, textsOf } from "./targets.ts";

export interface NarrowerFacts {
  /** True for the product's own settings, by real path. */
  isConfiguration: (path: string) => boolean;
  /** True for a file under an installed skill's `scripts/`, by real path. */
  isSkillScript: (path: string) => boolean;
}

export type ShellCategory = Extract<ApprovalCategory, "shell" | "script" | "proc_kill" | "git_remote" | "publish" | "browser_nonweb" | "trust_config" | "email">;

export interface Finding {
  category: Exclude<ShellCategory, "shell">;
  /** What it does, in words that follow "the command". */
  what: string;
}

export function findingsOf(invocation: Invocation, facts: NarrowerFacts): Finding[] {
  const findings: Finding[] = [];
  if (changedFiles(invocation).some(facts.isConfiguration)) findings.push({ category: "trust_config", what: "changes the settings of this product" });
  if (sendsMail(invocation)) findings.push({ category: "email", what: "sends mail" });
  if (opensNonWeb(invocation)) findings.push({ category: "browser_nonweb", what: "opens something that is no web page" });
  if (publishes(invocation)) findings.push({ category: "publish", what: "publishes" });
  if (changesRemote(invocation)) findings.push({ category: "git_remote", what: "changes a remote repository" });
  if (endsProcesses(invocation)) findings.push({ category: "proc_kill", what: "ends processes" });
  if (filesStarted(invocation).some(facts.isSkillScript)) findings.push({ category: "script", what: "runs a script of a skill" });
  return findings;
}

const writers = /^(tee|sponge|cp|mv|ln|install|dd|sed|perl|rm|unlink|shred|truncate|touch|rsync|patch|ed|ex|vim?|nano|chmod|chown|sqlite3|jq|yq|git|curl|wget)$/;

function changedFiles(invocation: Invocation): string[] {
  const outputs = invocation.redirections.filter(({ operator }) => operator.includes(">")).flatMap(({ target }) => target.values);
  const texts = writers.test(invocation.name) ? textsOf(invocation).map((text) => text.replace(/^(of|--?[a-z-]+)=/, "")) : [];
  const paths = [...outputs, ...texts].map((text) => invocation.scope.resolve(text)).filter((path) => path !== undefined);
  // A file that goes into a folder keeps its name there.
  const names = /^(cp|mv|install|ln|rsync)$/.test(invocation.name) ? operandsOf(invocation).map((text) => text.split("/").at(-1) ?? "") : [];
  return [...paths, ...paths.flatMap((folder) => names.map((name) => `${folder}/${name}`))];
}

function sendsMail(invocation: Invocation): boolean {
  const { name } = invocation;
  const texts = textsOf(invocation);
  if (/^(mail|mailx|Mail|nail|s-nail|sendmail|sendEmail|mutt|neomutt|msmtp|ssmtp|nullmailer-inject|exim4?|swaks|mpack|xdg-email|himalaya|aerc)$/.test(name)) return true;
  if (name === "git") return texts.includes("send-email") || texts.includes("imap-send");
  if (name === "thunderbird") return texts.some((text) => /^-?-compose$/.test(text));
  return name === "curl" && texts.some((text) => /^smtps?:\/\//i.test(text) || /^--mail-(from|rcpt|auth)/.test(text));
}

function opensNonWeb(invocation: Invocation): boolean {
  const { name, args } = invocation;
  const isGio = name === "gio" && textsOf(invocation)[0] === "open";
  if (!isGio && !/^(xdg-open|open|gnome-open|kde-open5?|exo-open|gvfs-open|sensible-browser|x-www-browser|www-browser|wslview|cygstart|start|explorer|termux-open)$/.test(name)) return false;
  const targets = args.slice(isGio ? 1 : 0).filter(({ values }) => !values.some((text) => text.startsWith("-")));
  return targets.length === 0 || hasOption(invocation, "abeR") || targets.some(({ values }) => values.length === 0 || values.some((text) => !/^https?:\/\/[^\s]+$/i.test(text)));
}

const publishers: [program: RegExp, words: RegExp][] = [
  [/^(npm|pnpm|yarn|bun|lerna|jsr|deno)$/, /^(publish|unpublish|deprecate|dist-tag|owner|access|stage)$/],
  [/^(cargo)$/, /^(publish|yank|owner)$/],
  [/^(twine)$/, /^(upload|register)$/],
  [/^(poetry|uv|flit|hatch|pdm|rye|maturin|vsce|ovsx|dart|flutter|changeset|mix|gradle|gradlew|sbt)$/, /^(publish|upload|publish\w+|hex\.publish)$/],
  [/^(gem|docker|podman|helm|buildah|skopeo|nuget|conan|oras|crane)$/, /^(push|yank|copy|upload)$/],
  [/^(python[0-9.]*|pypy[0-9.]*)$/, /^(twine|upload)$/],
  [/^(mvn)$/, /^(deploy|release:perform)$/],
  [/^(dotnet)$/, /^push$/],
  [/^(goreleaser)$/, /^(release|publish)$/],
];
const forges = /^(gh|glab|hub|tea)$/;
const forgeChanges = /^(create|new|edit|update|delete|close|reopen|merge|comment|note|review|ready|upload|lock|unlock|pin|transfer|approve|publish|for)$/;

function publishes(invocation: Invocation): boolean {
  const { name } = invocation;
  const words = operandsOf(invocation);
  if (name === "semantic-release" || name === "np" || name === "release-it") return true;
  if (forges.test(name)) {
    const [object = "", action = ""] = words.filter((word) => /^[a-z-]+$/.test(word));
    if (/^(pull-request|fork)$/.test(object)) return true;
    if (object === "api") return textsOf(invocation).some((text, at, all) => /^(-X|--method)$/.test(all[at - 1] ?? "") ? !/^GET$/i.test(text) : /^(-f|-F|--field|--raw-field|--input)$/.test(text));
    return /^(pr|mr|issue|issues|release|gist|snippet|discussion)$/.test(object) && forgeChanges.test(action);
  }
  return publishers.some(([program, action]) => program.test(name) && words.some((word) => action.test(word)));
}

function changesRemote(invocation: Invocation): boolean {
  const { name } = invocation;
  const words = operandsOf(invocation);
  if (name === "git") {
    const [command = "", action = ""] = gitWords(invocation);
    if (/^(push|send-pack|http-push)$/.test(command) || /^git-(push|send-pack|http-push)$/.test(command)) return true;
    if (command === "remote") return /^(add|set-url|remove|rm|rename|set-head|set-branches|prune|update)$/.test(action);
    if (command === "config") return words.some((word) => /^(remote\.|url\.|branch\.[^.]+\.(remote|pushremote))/i.test(word)) && !/^(get|list)$/.test(action) && !hasOption(invocation, "l", ["get", "get-all", "list"]) && words.length > 2;
    return (/^(subtree|lfs)$/.test(command) && action === "push") || (command === "svn" && action === "dcommit");
  }
  if (/^git-(push|send-pack)$/.test(name)) return true;
  if (/^(hg|jj|fossil|darcs|pijul|bzr)$/.test(name)) return words.includes("push");
  if (name === "svn") return /^(commit|ci|import|copy|delete|mkdir)$/.test(words[0] ?? "");
  return forges.test(name) && words[0] === "repo" && forgeChanges.test(words[1] ?? "");
}

/** The words after git's own options. */
function gitWords(invocation: Invocation): string[] {
  const texts = textsOf(invocation);
  let at = 0;
  for (; at < texts.length && texts[at]?.startsWith("-"); at++) if (/^(-c|-C|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix|--config-env)$/.test(texts[at] ?? "")) at++;
  return texts.slice(at).filter((text) => !text.startsWith("-"));
}

function endsProcesses(invocation: Invocation): boolean {
  const { name } = invocation;
  if (/^(kill|pkill|killall|killall5|taskkill|tskill|xkill|skill|slay|Stop-Process)$/.test(name)) return true;
  return name === "fuser" && hasOption(invocation, "k", ["kill"]);
}
