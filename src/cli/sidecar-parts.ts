// What the sessions of a sidecar are made of, from the configuration.
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import type { LoadedConfig } from "../config/load.ts";
import type { ApprovalLevel } from "../core/approval.ts";
import { type Log, steadyClock } from "../core/runtime.ts";
import { EngineDesk } from "../modes/sidecar/engine-desk.ts";
import type { SidecarParts } from "../modes/sidecar/routes.ts";
import { SkillDesk } from "../modes/sidecar/skill-desk.ts";
import { Session } from "../session/session.ts";
import { TrustedSkills } from "../skills/trusted-skills.ts";
import { openStore, type SessionStore } from "../session/store.ts";
import { attachmentResolver } from "../tools/attachments.ts";
import { describeWorkspace } from "../tools/describe-workspace.ts";
import { workspaceView } from "../tools/workspace-view.ts";
import { hostedSettings } from "./hosted-settings.ts";
import type { ProcessIo } from "./process-io.ts";
import { applyRetention, traced } from "./session-files.ts";
import { setUpTools } from "./tool-setup.ts";

/** Nobody but a host was asked: everything is asked for. */
const defaultLevel: ApprovalLevel = 1;

/** Touches no disk by itself. */
export function sidecarParts(loaded: LoadedConfig, io: ProcessIo, llamaUrl: string, log: Log): SidecarParts {
  const { config, paths, variable } = loaded;
  const home = homedir();
  let store: SessionStore | undefined;
  const desk = new EngineDesk(config, { modelsDir: paths.models, engineDir: paths.engine, promptStatesDir: paths.promptStates, home, variable, log }, llamaUrl);
  return {
    store: () => (store ??= openStore(paths.sessions)),
    desk,
    skills: new SkillDesk({ globalDir: paths.skills, disabled: config.skills.disabled, platform: process.platform, home, trusted: new TrustedSkills(paths.trustedSkills) }),
    approvalLevel: config.agent.approvalLevel ?? defaultLevel,
    runtime: { now: steadyClock(), id: () => Bun.randomUUIDv7() },
    openSession: ({ approvalLevel, record, workingDir }, { emit, engine, runtime, turnCount }) => {
      const workspace = existsSync(workingDir) ? realpathSync(workingDir) : workingDir;
      const { additions, close, readable, tools } = setUpTools(loaded, io.env, { workspace, home }, {});
      const trace = traced(loaded, record.identity.id, emit, runtime);
      applyRetention(loaded, runtime.log);
      const session = new Session({
        id: record.identity.id,
        workspace,
        engine,
        tools,
        settings: hostedSettings(config),
        approvalLevel,
        asker: "reader",
        approvalTimeoutMs: config.approvals.timeoutMs,
        readable,
        systemAdditions: additions(runtime.log),
        describeWorkspace: (request) => describeWorkspace(workspace, home, request),
        view: workspaceView(workspace, homedir()),
        resolveAttachments: attachmentResolver(workspace, home),
        messages: record.messages,
        turnCount,
        store: (message) => record.store(message),
        entryIdOf: (message) => record.entryIdOf(message),
        storeCompaction: (result) => record.storeCompaction(result),
        emit: trace.emit,
        runtime,
      });
      const closeAll = (): void => {
        trace.close();
        close();
      };
      return { session, close: closeAll, mention: (text) => readable.mention(text) };
    },
    close: async () => {
      store?.close();
      store = undefined;
      await desk.close();
    },
  };
}
